import { homedir } from "node:os";
import { join } from "node:path";
import type { AuditDeps, AuditFinding, AuditReport, FixReport, RiskyEntry, Severity } from "../../audit/index.ts";
import { systemClock } from "../../base/clock.ts";
import { escapeJoined } from "../../base/printable.ts";
import { defineCommand, JSON_OPTION } from "../command.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle, type Style } from "../output/style.ts";
import { openDoctor } from "./doctor/deps.ts";

export const AUDIT_OPTIONS = {
  deep: { type: "boolean", help: "also ask the running gateway, and read the code of plugins and skills" },
  fix: { type: "boolean", help: "close open groups, turn the redaction of logs on, take files away from other users; nothing else" },
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
  const end = summary.critical > 0 ? "\nLook at the critical findings first. openclaw security audit --deep reads more.\n" : "";
  return `${head}${sections.join("")}${probed}${end}`;
}

function shownFix({ changes, actions, errors }: FixReport, io: Pick<Io, "color">): string {
  const style = createStyle(io.color);
  const done = [...changes, ...actions.filter(({ ok }) => ok).map(({ path, mode }) => `chmod ${mode} ${path}`)];
  const lines = [...done.map((text) => `${style.green("✓")} ${escapeJoined(text)}`), ...errors.map((text) => `${style.red("✗")} ${escapeJoined(text)}`)];
  return lines.length === 0 ? "Nothing to fix.\n\n" : `${lines.join("\n")}\n\n`;
}

/** What users wrote into `exec-approvals.json` and `tools.exec.safeBins` that lets any command run unasked. */
async function riskyEntries(io: Io, config: AuditDeps["config"]): Promise<readonly RiskyEntry[]> {
  const [{ createExecRules, riskyAllowlistEntries }, { createIds }, { systemRandom }] = await Promise.all([
    import("../../tools/index.ts"),
    import("../../base/ids.ts"),
    import("../../base/random.ts"),
  ]);
  const path = join(config.paths.state, "exec-approvals.json");
  const { file } = createExecRules({ path, clock: systemClock, ids: createIds(systemRandom), random: systemRandom }).snapshot();
  const { tools, agents } = config.current;
  const safeBins = [...(tools?.exec?.safeBins ?? []), ...(agents?.list ?? []).flatMap((agent) => agent.tools?.exec?.safeBins ?? [])];
  return riskyAllowlistEntries({ file, safeBins, path: io.env["PATH"] ?? "", home: homedir() });
}

export const securityAudit = defineCommand({
  options: AUDIT_OPTIONS,
  examples: [
    { line: "openclaw security audit", does: "what is risky, and what to do about it" },
    { line: "openclaw security audit --deep --json", does: "all of it, for machines" },
    { line: "openclaw security audit --fix", does: "and the repairs that are safe to make" },
  ],
  async run({ io, values }) {
    const { applyFixes, audit } = await import("../../audit/index.ts");
    using doctor = await openDoctor(io, { deep: values.deep ?? false, generateToken: false, suggestions: false });
    const deps: AuditDeps = { ...doctor, osHome: homedir(), riskyEntries: () => riskyEntries(io, doctor.config) };
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
