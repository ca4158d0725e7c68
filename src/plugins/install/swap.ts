import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { ensureFolder, syncFolder } from "../../base/files.ts";
import { beginChange } from "./journal.ts";

export interface SwapRequest {
  readonly folder: string;
  readonly ids: readonly string[];
  /** Name of the plugin in `folder`. */
  readonly target: string;
  /** The whole path of what takes its place; undefined: nothing does. */
  readonly staged?: string;
  readonly installedAt?: string;
  readonly token: string;
  readonly pid: number;
  readonly now: number;
}

/**
 * Puts a staged plugin in its place, or takes one away, and writes the configuration. When `commit` fails everything is as before; when the process dies
 * `recoverInstalls` makes it the old or the new.
 */
export async function swapIn({ folder, ids, target, staged, installedAt, token, pid, now }: SwapRequest, commit: () => Promise<void>): Promise<void> {
  ensureFolder(folder);
  const at = join(folder, target);
  const name = existsSync(at) ? `.old-${token}` : undefined;
  const backup = name === undefined ? undefined : join(folder, name);
  using _change = beginChange(folder, { kind: staged === undefined ? "remove" : "install", ids, target, backup: name, installedAt, pid, at: now });
  failpoint("plugins.change.begun");
  try {
    if (backup !== undefined) renameSync(at, backup);
    failpoint("plugins.change.aside");
    if (staged !== undefined) renameSync(staged, at);
    syncFolder(folder);
    failpoint("plugins.change.swapped");
    await commit();
  } catch (error) {
    if (staged !== undefined && (backup === undefined || existsSync(backup))) rmSync(at, { recursive: true, force: true });
    if (backup !== undefined && existsSync(backup)) renameSync(backup, at);
    syncFolder(folder);
    throw fileError(at, "could not move the plugin into place", error);
  }
  failpoint("plugins.change.recorded");
  if (backup !== undefined) rmSync(backup, { recursive: true, force: true });
}
