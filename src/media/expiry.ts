import type { Dirent } from "node:fs";
import { lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { fileError, systemCode } from "../base/errors.ts";

export interface ExpiryRequest {
  /** `<state>/media`. */
  readonly folder: string;
  /** Files last written before this time have expired. */
  readonly before: number;
  /** Which of these names are still referenced. Called right before they are removed. */
  readonly needed: (names: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Most files to remove; the rest is left for the next run. */
  readonly limit: number;
}

interface Old {
  readonly name: string;
  readonly path: string;
}

async function* filesIn(folder: string): AsyncGenerator<Old> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw fileError(folder, "could not list stored media", error);
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield { name: entry.name, path };
  }
}

/** Undefined: it no longer exists. */
async function writtenAt(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).mtimeMs;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw fileError(path, "could not look at stored media", error);
  }
}

/** Removes expired files, except those still needed. Links are left alone, and nothing outside of the folder is touched. */
export async function removeExpired({ folder, before, needed, limit }: ExpiryRequest): Promise<{ readonly removed: number; readonly kept: number }> {
  const old: Old[] = [];
  for await (const file of filesIn(folder)) {
    const at = await writtenAt(file.path);
    if (at !== undefined && at < before) old.push(file);
  }
  if (old.length === 0) return { removed: 0, kept: 0 };
  const wanted = await needed(old.map(({ name }) => name));
  const gone = old.filter(({ name }) => !wanted.has(name)).slice(0, limit);
  for (const { path } of gone) {
    await unlink(path).catch((error: unknown) => {
      if (systemCode(error) !== "ENOENT") throw fileError(path, "could not remove stored media", error);
    });
  }
  return { removed: gone.length, kept: old.length - gone.length };
}
