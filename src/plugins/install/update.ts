import { existsSync } from "node:fs";
import { AppError, messageOf } from "../../base/errors.ts";
import type { InstallDeps } from "./deps.ts";
import { placePlugin } from "./install.ts";
import { recoverInstalls } from "./journal.ts";
import { installedIds, installRecord, type InstallRecord } from "./record.ts";
import { parseSource } from "./source.ts";
import { fetchInto, openStage } from "./stage.ts";

export interface UpdateRequest {
  /** Undefined: all. */
  readonly id?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface UpdateOutcome {
  readonly id: string;
  readonly status: "updated" | "unchanged" | "skipped" | "failed" | "would update";
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Why it was skipped or failed, or put back though its version is the same. */
  readonly reason?: string | undefined;
}

/** Brings newer versions of plugins that came from the npm registry. One that fails stays as it is and does not keep the others from theirs. */
export async function updatePlugins({ id, dryRun }: UpdateRequest, deps: InstallDeps): Promise<readonly UpdateOutcome[]> {
  recoverInstalls({ stateDir: deps.stateDir, config: deps.config, now: deps.clock.now() });
  if (id !== undefined && !installRecord(deps.config(), id)) {
    throw new AppError("NOT_FOUND", `no install of ${JSON.stringify(id)} is recorded in plugins.installs; openclaw plugins list shows all`);
  }
  const outcomes: UpdateOutcome[] = [];
  for (const one of id === undefined ? installedIds(deps.config()) : [id]) {
    try {
      outcomes.push(await updateOne(one, dryRun === true, deps));
    } catch (error) {
      outcomes.push({ id: one, status: "failed", reason: messageOf(error) });
    }
  }
  return outcomes;
}

/** Why what did not come from the registry is left as it is. */
export function notFromRegistry({ source, sourcePath, installPath }: Partial<InstallRecord>, isMissing: boolean): Pick<UpdateOutcome, "status" | "reason"> {
  const isLinked = source === "path" && sourcePath !== undefined && sourcePath === installPath;
  const again = `install it again from ${source === "archive" ? "its archive" : isLinked ? "where it is now" : (sourcePath ?? "its folder")}`;
  if (isMissing) return { status: "failed", reason: `${installPath} is missing: ${again}` };
  if (isLinked) return { status: "skipped", reason: `it is linked: ${sourcePath} is used as it is` };
  return { status: "skipped", reason: `it was installed from ${source === "archive" ? "an archive" : "a path"}: ${again}` };
}

async function updateOne(id: string, dryRun: boolean, deps: InstallDeps): Promise<UpdateOutcome> {
  const record = installRecord(deps.config(), id);
  const from = record?.resolvedVersion ?? record?.version;
  const isMissing = record?.installPath !== undefined && !existsSync(record.installPath);
  if (record?.source !== "npm") return { id, from, ...notFromRegistry(record ?? {}, isMissing) };
  const spec = record.spec ?? record.resolvedName;
  if (spec === undefined) return { id, status: "skipped", from, reason: "its record has no package name" };
  const source = parseSource(`npm:${spec}`, deps);
  using stage = openStage(deps);
  const fetched = await fetchInto(stage, source, deps);
  const { packed } = fetched;
  if (!packed) throw new AppError("INTERNAL", `${spec} was fetched without its registry metadata`);
  const to = packed.version;
  if (to === from && packed.integrity === record.integrity && !isMissing) return { id, status: "unchanged", from, to };
  if (to === from && record.integrity !== undefined && packed.integrity !== record.integrity) {
    const question = `${packed.name}@${to} is not the same as when it was installed (${record.integrity}, now ${packed.integrity}). Different files were published under the same version. Use them?`;
    if (dryRun || !(await deps.confirm(question)))
      return { id, status: "skipped", from, to, reason: `the integrity of ${packed.name}@${to} has changed; nothing was replaced` };
  }
  await placePlugin({ request: { spec, dryRun }, source, stage, fetched, kind: "update", expected: id }, deps);
  return { id, status: dryRun ? "would update" : "updated", from, to, ...(isMissing ? { reason: `${record.installPath} was missing` } : {}) };
}
