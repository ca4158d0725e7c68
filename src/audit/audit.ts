import { channelScopes, isOpen } from "./channels.ts";
import { sectionAt, type AuditCheck, contextOf, SEVERITIES, type AuditContext, type AuditDeps, type AuditFinding, type Severity } from "./finding.ts";
import { setImmediate } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import { channels, owner } from "./checks/channels.ts";
import { extensions } from "./checks/extensions.ts";
import { files, secrets } from "./checks/files.ts";
import { browser, gateway } from "./checks/gateway.ts";
import { hooks } from "./checks/hooks.ts";
import { models } from "./checks/models.ts";
import { allowlists, tools } from "./checks/tools.ts";

/** What there is to attack, in one line. */
export const summary: AuditCheck = ({ cfg, exposed }) => {
  const scopes = channelScopes(cfg);
  const facts = [
    `channels: ${new Set(scopes.map(({ channel }) => channel)).size}, open: ${scopes.filter(isOpen).length}`,
    `tools.elevated: ${cfg.tools?.elevated?.enabled !== false && Object.keys(sectionAt(cfg, "tools", "elevated", "allowFrom") ?? {}).length > 0 ? "on" : "off"}`,
    `exec: ${cfg.tools?.exec?.security ?? "asks"}`,
    `sandbox: ${cfg.agents?.defaults?.sandbox?.mode ?? "off"}`,
    `hooks: ${cfg.hooks?.enabled === true ? "on" : "off"}`,
    `browser: ${sectionAt(cfg, "browser")?.["enabled"] === false ? "off" : "on"}`,
    `gateway: ${exposed ? "on the network" : "this machine only"}`,
  ];
  return [{ checkId: "summary.attack_surface", severity: "info", title: "attack surface", detail: facts.join("; ") }];
};

/** What the running gateway answered; only with `--deep`. */
interface DeepReport {
  readonly gateway: { readonly attempted: boolean; readonly url: string | null; readonly ok: boolean; readonly error: string | null };
}

/** The documented shape of `openclaw security audit --json`. */
export interface AuditReport {
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly summary: Readonly<Record<Severity, number>>;
  /** The most severe first. */
  readonly findings: readonly AuditFinding[];
  readonly deep?: DeepReport;
}

const PROBE_MS = 5000;

const CHECKS: Readonly<Record<string, AuditCheck>> = {
  summary,
  files,
  secrets,
  gateway,
  browser,
  hooks,
  channels,
  owner,
  tools,
  allowlists,
  extensions,
  models,
};

/** One check that fails does not hide what the others found. */
async function run(name: string, check: AuditCheck, context: AuditContext): Promise<readonly AuditFinding[]> {
  try {
    return await check(context);
  } catch (error) {
    return [
      {
        checkId: "security.audit_check_failed",
        severity: "warn",
        title: `the checks of ${name} could not be made`,
        detail: messageOf(error),
        remediation: "run openclaw doctor, then openclaw security audit again",
      },
    ];
  }
}

async function probe({ probe: ask, cfg }: AuditContext): Promise<{ readonly report: DeepReport; readonly findings: readonly AuditFinding[] }> {
  if (cfg.gateway?.mode === "remote")
    return { report: { gateway: { attempted: false, url: cfg.gateway.remote?.url ?? null, ok: false, error: null } }, findings: [] };
  const { holder, url = null, reachable, error } = await ask(PROBE_MS);
  const why = reachable ? null : holder ? (error ?? "it did not answer") : "it is not running";
  const report: DeepReport = { gateway: { attempted: true, url: url ?? null, ok: reachable, error: why } };
  // A gateway that is not running cannot be attacked.
  if (reachable || !holder) return { report, findings: [] };
  return {
    report,
    findings: [
      {
        checkId: "gateway.probe_failed",
        severity: "warn",
        title: "the running gateway does not answer",
        detail: error ?? "it did not answer",
        remediation: "openclaw gateway status, then openclaw logs",
      },
    ],
  };
}

/** Looks at the installation. Changes nothing. Others get a turn between two checks: a gateway audits itself while it works. */
export async function audit(deps: AuditDeps): Promise<AuditReport> {
  const context = contextOf(deps);
  const found: AuditFinding[] = [];
  const checks = Object.entries(CHECKS);
  for (const [index, [name, check]] of checks.entries()) {
    deps.progress?.(index, checks.length, name);
    await setImmediate();
    found.push(...(await run(name, check, context)));
  }
  const deep = deps.deep ? await probe(context) : undefined;
  const findings = [...found, ...(deep?.findings ?? [])].sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
  const count = (severity: Severity): number => findings.filter((one) => one.severity === severity).length;
  return {
    ts: deps.clock.now(),
    summary: { critical: count("critical"), warn: count("warn"), info: count("info") },
    findings,
    ...(deep ? { deep: deep.report } : {}),
  };
}
