/** Something noticed about what is being installed. */
export interface Finding {
  readonly severity: "info" | "warn" | "critical";
  readonly ruleId: string;
  readonly message: string;
  /** Relative to the plugin's folder. */
  readonly file?: string;
  readonly line?: number;
}

/** What the built-in checks found; `before_install` handlers get it as `builtinScan`. */
export interface BuiltinScan {
  readonly status: "ok" | "warn" | "critical";
  readonly scannedFiles: number;
  readonly findings: readonly Finding[];
}

export function scanOf(findings: readonly Finding[], scannedFiles: number): BuiltinScan {
  const has = (severity: Finding["severity"]): boolean => findings.some((finding) => finding.severity === severity);
  return { status: has("critical") ? "critical" : has("warn") ? "warn" : "ok", scannedFiles, findings };
}
