import { isObject, valueAt, type OpenClawConfig } from "../config/index.ts";
import type { DoctorDeps } from "../doctor/index.ts";

export const SEVERITIES = ["critical", "warn", "info"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One thing that an attacker could use, or that the operator should know. The shape is documented: scripts read it. */
export interface AuditFinding {
  /** Never changes; `docs/security.md` lists all of them. */
  readonly checkId: string;
  readonly severity: Severity;
  readonly title: string;
  readonly detail: string;
  readonly remediation?: string;
}

/** An allowlist entry that lets more run than it seems to. */
export interface RiskyEntry {
  /** Agent id, `*` for every agent, or `tools.exec.safeBins`. */
  readonly scope: string;
  readonly pattern: string;
  readonly reason: string;
}

/** Everything the audit looks at. It reads; only `applyFixes` writes. */
export interface AuditDeps extends Pick<DoctorDeps, "config" | "env" | "osHome" | "platform" | "uid" | "clock" | "inventory" | "probe"> {
  /** Also ask the running gateway, and read the code of plugins and skills. */
  readonly deep: boolean;
  /** Entries of the exec allowlists that cover programs which can start others. */
  riskyEntries(): readonly RiskyEntry[] | Promise<readonly RiskyEntry[]>;
  /** Called before each group of checks with how many are done. */
  readonly progress?: ((done: number, total: number, name: string) => void) | undefined;
}

/** The configuration as it is, also when it has errors: what is wrong with it may be what is dangerous. */
export interface AuditContext extends AuditDeps {
  readonly cfg: OpenClawConfig;
  /** Whether other machines can reach the gateway. */
  readonly exposed: boolean;
}

export type AuditCheck = (context: AuditContext) => readonly AuditFinding[] | Promise<readonly AuditFinding[]>;

export function contextOf(deps: AuditDeps): AuditContext {
  const { valid, config, resolved } = deps.config.snapshot();
  const cfg = (valid ? config : isObject(resolved) ? resolved : {}) as OpenClawConfig;
  const { bind, tailscale } = cfg.gateway ?? {};
  const exposed = (bind !== undefined && bind !== "loopback") || (tailscale?.mode !== undefined && tailscale.mode !== "off");
  return { ...deps, cfg, exposed };
}

/** A list of texts at a path of the configuration; empty when there is none. */
export function textsAt(value: unknown, ...path: string[]): string[] {
  const found = valueAt(value, path);
  return Array.isArray(found) ? found.filter((item) => typeof item === "string" || typeof item === "number").map((item) => String(item).trim()) : [];
}

export function sectionAt(value: unknown, ...path: string[]): Readonly<Record<string, unknown>> | undefined {
  const found = valueAt(value, path);
  return isObject(found) ? found : undefined;
}

/** The first few of a list, for a sentence. */
export function listed(items: readonly string[], most = 6): string {
  return items.length > most ? `${items.slice(0, most).join(", ")} and ${items.length - most} more` : items.join(", ");
}
