import { homedir } from "node:os";
import type { AuditDeps, AuditFinding, AuditReport, FixReport, Severity } from "../../audit/index.ts";
import { escapeJoined } from "../../base/printable.ts";
import { defineCommand, JSON_OPTION } from "../command.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle, type Style } from "../output/style.ts";
import { openDoctor } from "./doctor/deps.ts";

export const AUDIT_OPTIONS = {
  deep: { type: "boolean", help: "Also check the running gateway and the code of plugins and skills" },
  fix: { type: "boolean", help: "Close open groups, turn on log redaction and restrict file permissions; nothing else" },
  json: JSON_OPTION,
} as const;

const TITLES: Readonly<Record<Severity, string>> = { critical: "CRITICAL", warn: "WARN", info: "INFO" };

const painted = (severity: Severity, text: string, style: Style): string => ({ critical: style.red, warn: style.yellow, info: style.cyan })[severity](text);

function shownFinding({ checkId, severity, title, detail, remediation }: AuditFinding, style: Style): string {
  const lines = [
    `${painted(severity, checkId, style)}  ${escapeJoined(title)}`,
    `  ${escapeJoined(detail)}`,
    ...(remediation === undefined ? [] : [style.dim(`  Fix: ${escapeJoined(remediation)}`)]),
  ];
  return `${lines.join("\n")}\n`;
}

function shownReport({ summary, findings, deep }: AuditReport, io: Pick<Io, "color">): string {
  const style = createStyle(io.color);
  const head = `${style.bold("Security audit")}: ${summary.critical} critical, ${summary.warn} warn, ${summary.info} info\n`;
  const sections = (["critical", "warn", "info"] as const).flatMap((severity) => {
    const own = findings.filter((finding) => finding.severity === severity);
    return own.length === 0 ? [] : [`\n${painted(severity, TITLES[severity], style)}\n${own.map((finding) => shownFinding(finding, style)).join("")}`];
  });
  const probed = deep?.gateway.attempted ? `\nGateway: ${deep.gateway.ok ? `answers at ${deep.gateway.url}` : deep.gateway.error}\n` : "";
  const end = summary.critical > 0 ? "\nFix critical findings first. For more checks: openclaw security audit --deep\n" : "";
  return `${head}${sections.join("")}${probed}${end}`;
}

function shownFix({ changes, actions, errors }: FixReport, io: Pick<Io, "color">): string {
  const style = createStyle(io.color);
  const done = [...changes, ...actions.filter(({ ok }) => ok).map(({ path, mode }) => `chmod ${mode} ${path}`)];
  const lines = [...done.map((text) => `${style.green("✓")} ${escapeJoined(text)}`), ...errors.map((text) => `${style.red("✗")} ${escapeJoined(text)}`)];
  return lines.length === 0 ? "Nothing to fix.\n\n" : `${lines.join("\n")}\n\n`;
}

export const securityAudit = defineCommand({
  options: AUDIT_OPTIONS,
  examples: [
    { line: "openclaw security audit", does: "Show risks and how to fix them" },
    { line: "openclaw security audit --deep --json", does: "All checks, as JSON" },
    { line: "openclaw security audit --fix", does: "Show risks and apply the safe fixes" },
  ],
  async run({ io, values }) {
    const { applyFixes, audit, riskyEntries } = await import("../../audit/index.ts");
    using doctor = await openDoctor(io, { deep: values.deep ?? false, generateToken: false, suggestions: false });
    const deps: AuditDeps = { ...doctor, osHome: homedir(), riskyEntries: () => riskyEntries(doctor) };
    const fix = values.fix ? await applyFixes(deps) : undefined;
    const audited = await audit(deps);
    const findings = audited.findings.map((finding) =>
      finding.remediation === undefined ? finding : { ...finding, remediation: io.runnable(finding.remediation) },
    );
    const report = { ...audited, findings };
    if (values.json) return printJson(io, fix ? { fix, report } : report);
    if (fix) io.out(shownFix(fix, io));
    io.out(io.runnable(shownReport(report, io)));
  },
});
