import { closeSync, copyFileSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ensureFolder, syncFolder } from "../../base/files.ts";
import { systemCode } from "../../base/errors.ts";

/** The new database in the folder of the damaged one, until the swap is done. */
export const SALVAGED = "salvaged.db";
/** The same while it is being written. */
export const UNFINISHED = "salvaged.db.unfinished";

/** A new folder for a damaged file: `damaged/<time>/`. */
export function damagedFolder(stateDir: string, at: number): string {
  ensureFolder(join(stateDir, "damaged"));
  const name = join(stateDir, "damaged", new Date(at).toISOString().replaceAll(":", "-"));
  for (let n = 0; ; n += 1) {
    const folder = n === 0 ? name : `${name}-${n}`;
    try {
      mkdirSync(folder, { mode: 0o700 });
      return folder;
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}

export function syncFile(path: string): void {
  const fd = openSync(path, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw error;
    copyFileSync(from, to);
    syncFile(to);
    unlinkSync(from);
  }
}

/** Removes a temporary copy of the damaged file that a killed salvage left behind. */
function removeUnfinished(stateDir: string): void {
  for (const name of foldersIn(stateDir)) for (const end of ["", "-journal"]) rmSync(join(name, UNFINISHED + end), { force: true });
}

function foldersIn(stateDir: string): string[] {
  const damaged = join(stateDir, "damaged");
  if (!existsSync(damaged)) return [];
  return readdirSync(damaged)
    .sort()
    .map((name) => join(damaged, name));
}

/**
 * Completes a salvage that died while it swapped the files: the damaged ones go to their folder, then the new one takes their place. Does nothing
 * otherwise, so it runs before every open. Returns the folder of the damaged file when it put a database in place.
 */
export function finishSalvage(file: string, stateDir: string): string | undefined {
  const folder = foldersIn(stateDir).find((name) => existsSync(join(name, SALVAGED)));
  if (folder === undefined) return undefined;
  const set = join(folder, basename(file));
  if (existsSync(set) && existsSync(file)) {
    // A new database was created and used since: it is not replaced, and the saved one is renamed so that it is no longer found.
    renameSync(join(folder, SALVAGED), join(folder, "salvaged-late.db"));
    return undefined;
  }
  // The log moves with its database: beside another one it would be taken for that one's log.
  for (const end of ["", "-wal", "-shm", "-journal"]) {
    const target = join(folder, basename(file) + end);
    if (existsSync(file + end) && !existsSync(target)) move(file + end, target);
  }
  move(join(folder, SALVAGED), file);
  syncFolder(folder);
  syncFolder(dirname(file));
  removeUnfinished(stateDir);
  return folder;
}
