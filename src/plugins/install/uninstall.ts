import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { AppError } from "../../base/errors.ts";
import { valueAt } from "../../config/index.ts";
import type { Inventory } from "../inventory/index.ts";
import type { PluginEntry } from "../record.ts";
import type { InstallDeps } from "./deps.ts";
import { recoverInstalls } from "./journal.ts";
import { installRecord, uninstallEdit } from "./record.ts";
import { extensionsFolder } from "./stage.ts";
import { swapIn } from "./swap.ts";

export interface UninstallRequest {
  readonly id: string;
  /** The plugin as the inventory knows it. */
  readonly entry?: PluginEntry | undefined;
  readonly keepFiles?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  /** Do not ask. */
  readonly force?: boolean | undefined;
  /** The configuration before the plugin was installed: settings that were there under its id stay. */
  readonly before?: unknown;
}

export interface UninstallResult {
  readonly id: string;
  /** What was taken out of the configuration. */
  readonly removed: readonly string[];
  /** The folder that was deleted. */
  readonly deleted?: string | undefined;
  /** The folder that stays. */
  readonly kept?: string | undefined;
  readonly dryRun: boolean;
}

/** Takes a plugin out: its settings, its record, its folder. A linked folder is the user's and stays. */
export async function uninstallPlugin({ id, entry, keepFiles, dryRun, force, before }: UninstallRequest, deps: InstallDeps): Promise<UninstallResult> {
  recoverInstalls({ stateDir: deps.stateDir, config: deps.config, now: deps.clock.now() });
  const config = deps.config();
  const record = installRecord(config, id);
  const known = record !== undefined || valueAt(config, ["plugins", "entries", id]) !== undefined;
  if (!known && entry?.origin === "bundled")
    throw new AppError("INVALID_INPUT", `${id} comes with OpenClaw; to turn it off, run: openclaw plugins disable ${id}`);
  if (!known && entry?.origin !== "global") throw new AppError("NOT_FOUND", `plugin not found: ${id}; openclaw plugins list shows all`);
  const folder = extensionsFolder(deps.stateDir);
  const place = findInstalledPath(folder, record?.installPath, entry);
  const linked = record?.source === "path" && record.sourcePath !== undefined && record.sourcePath === record.installPath ? record.sourcePath : undefined;
  const { edit, what } = uninstallEdit(config, [id], linked, before);
  const deletes = keepFiles || place === undefined ? undefined : place;
  const kept = deletes === undefined ? (linked ?? place) : undefined;
  const result: UninstallResult = { id, removed: what, deleted: deletes, kept, dryRun: dryRun === true };
  if (dryRun) return result;
  const question = `Uninstall ${id}? This removes ${[...what, ...(deletes === undefined ? [] : [deletes])].join(", ") || "nothing"}.`;
  if (!force && !(await deps.confirm(question))) throw new AppError("CANCELLED", `${id} was not uninstalled; use --force to skip the question`);
  const commit = async (): Promise<void> => {
    if (edit) await deps.edit(edit);
  };
  if (deletes === undefined) await commit();
  else await swapIn({ folder, ids: [id], target: basename(deletes), token: deps.ids.hex(6), pid: deps.pid, now: deps.clock.now() }, commit);
  return result;
}

/** The plugin's own folder or file directly below the folder of installed plugins; undefined when it lies elsewhere: then it is not ours to delete. */
function findInstalledPath(folder: string, installPath: string | undefined, entry: PluginEntry | undefined): string | undefined {
  const path = installPath ?? (entry?.origin === "global" ? (entry.rootDir === folder ? entry.source : entry.rootDir) : undefined);
  if (path === undefined) return undefined;
  const whole = resolve(path);
  const direct = join(folder, basename(whole));
  return existsSync(direct) && (resolve(dirname(whole)) === resolve(folder) || entry?.rootDir === whole) ? direct : undefined;
}

export interface WithdrawRequest {
  /** Plugins that were just installed and cannot be loaded, with why. */
  readonly unloadable: readonly { readonly id: string; readonly source: string; readonly error?: string | undefined }[];
  readonly inventory: Inventory;
  /** The configuration before they were installed. */
  readonly before: unknown;
}

/**
 * A plugin that cannot be loaded does not take the place of one that comes with the program: it is removed again, the settings are as before, and this
 * rejects with `PLUGIN_FAILED`. Others stay installed.
 */
export async function withdrawShadowing({ unloadable, inventory, before }: WithdrawRequest, deps: InstallDeps): Promise<void> {
  const isBundled = (id: string): boolean => inventory.entries.some((entry) => entry.id === id && entry.origin === "bundled");
  const withdrawn = unloadable.filter(({ id }) => isBundled(id));
  for (const { id, source } of withdrawn) {
    const entry = inventory.entries.find((one) => one.id === id && one.source === source);
    if (entry?.origin !== "bundled") await uninstallPlugin({ id, entry, force: true, before }, deps);
  }
  const [first] = withdrawn;
  if (!first) return;
  throw new AppError(
    "PLUGIN_FAILED",
    `${first.id} was not installed: it cannot be loaded (${first.error ?? "no reason was given"}); the ${first.id} that comes with OpenClaw stays in use`,
    { details: { pluginId: first.id } },
  );
}
