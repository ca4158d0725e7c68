import { AppError } from "../../base/errors.ts";
import { valueAt } from "../../config/index.ts";
import type { InstallDeps } from "./deps.ts";
import { askPolicy, type PolicyRequest } from "./policy.ts";
import { scanOf, type BuiltinScan, type Finding } from "./scan/finding.ts";

/**
 * Asks whoever may say no: first the operator's policy, then plugins that are loaded in this process. Throws when one does; a handler that throws or takes too
 * long has said no. Gives the findings with what handlers added.
 */
export async function passGates(request: PolicyRequest, deps: Pick<InstallDeps, "config" | "env" | "signal" | "hooks">): Promise<BuiltinScan> {
  await askPolicy(valueAt(deps.config(), ["security", "installPolicy"]), request, deps.env, deps.signal);
  const { builtinScan } = request;
  if (!deps.hooks?.has("before_install")) return builtinScan;
  const { targetType, requestKind } = request;
  const event = {
    targetType,
    targetName: request.targetName,
    sourcePath: request.sourcePath,
    source: request.source,
    origin: request.spec,
    builtinScan: { ...builtinScan, findings: builtinScan.findings.map((finding) => ({ ...finding })) },
    ...(request.version === undefined ? {} : { version: request.version }),
  };
  const outcome = await deps.hooks.run("before_install", event, { targetType, requestKind, origin: request.spec });
  if (outcome?.block === true) {
    const by = outcome.decidedBy === undefined ? "a plugin" : `the plugin ${outcome.decidedBy}`;
    throw new AppError("PERMISSION_DENIED", `${by} blocks the install of ${request.targetName}: ${outcome.blockReason ?? "no reason was given"}`);
  }
  const added = (outcome?.findings ?? []).map((finding): Finding => ({ ...finding, severity: finding.severity ?? "warn", ruleId: finding.ruleId ?? "hook" }));
  return scanOf([...builtinScan.findings, ...added], builtinScan.scannedFiles);
}
