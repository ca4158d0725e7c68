import { closeSync, fsyncSync, openSync, writeFileSync, renameSync, unlinkSync, mkdirSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { fileError } from "./errors.ts";

/** Creates a folder that only its owner may enter. An existing one is left as it is. */
export function ensureFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw fileError(path, "could not make the folder", error);
  }
}

/** Makes the entries of a folder durable: without it a rename is lost in a power cut. A no-op where folders cannot be synced. */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Replaces `path` in one step: readers see the old content or the new, and after the return the new one survives a power cut. */
export function writeAtomic(path: string, content: string | Uint8Array, options: { readonly mode?: number; readonly temporary: string }): void {
  try {
    const fd = openSync(options.temporary, "wx", options.mode ?? 0o600);
    try {
      writeFileSync(fd, content);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(options.temporary, path);
    syncFolder(dirname(path));
  } catch (error) {
    try {
      unlinkSync(options.temporary);
    } catch {
      // It was never created, or the rename already moved it.
    }
    throw fileError(path, "could not write", error);
  }
}

/** True when `path` is `root` or lies below it, by text alone (symbolic links are the caller's to resolve). */
export function isInside(root: string, path: string): boolean {
  const rest = relative(resolve(root), resolve(path));
  return rest === "" || (!rest.startsWith(`..${sep}`) && rest !== ".." && !isAbsolute(rest));
}
