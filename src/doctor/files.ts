/** What repairs do to files: one step at a time, and nothing that is there is written over. */
import { existsSync, lstatSync, readdirSync, renameSync, rmdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileError, systemCode } from "../base/errors.ts";
import { failpoint } from "../base/failpoints.ts";
import { ensureFolder, syncFolder } from "../base/files.ts";

export interface Move {
  readonly from: string;
  readonly to: string;
}

export const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
export const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Names in a folder, sorted; none when it cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** Moves what is in a folder to another one; what the other one has already stays where it is. Gives both lists. */
export function movesInto(from: string, to: string, fits: (name: string) => boolean): { readonly moves: readonly Move[]; readonly taken: readonly string[] } {
  const names = namesIn(from).filter(fits);
  const isTaken = (name: string): boolean => existsSync(join(to, name));
  return {
    moves: names.filter((name) => !isTaken(name)).map((name) => ({ from: join(from, name), to: join(to, name) })),
    taken: names.filter(isTaken).map((name) => join(from, name)),
  };
}

/** Renames one after the other. One that was moved in the meantime is passed over; a target that appeared in the meantime is an error. */
export function makeMoves(moves: readonly Move[]): number {
  let made = 0;
  for (const { from, to } of moves) {
    if (!existsSync(from)) continue;
    ensureFolder(dirname(to));
    try {
      if (existsSync(to)) throw Object.assign(new Error(`${to} already exists`), { code: "EEXIST" });
      renameSync(from, to);
      syncFolder(dirname(to));
    } catch (error) {
      throw fileError(from, `could not move it to ${to}`, error);
    }
    made += 1;
    failpoint("doctor.moved");
  }
  return made;
}

/** Removes a folder that nothing is left in. */
export function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(systemCode(error) ?? "")) throw fileError(folder, "could not remove the folder", error);
  }
}
