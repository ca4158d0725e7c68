import { chmodSync, copyFileSync, lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync, statSync, symlinkSync, type Stats } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileError } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { formatBytes } from "../../base/text.ts";
import { LIMITS, type InstallLimits } from "./limits.ts";
import { refused } from "./refusal.ts";

/** Left out of a copy: what tools keep there is not the plugin, and the host's own package is the host's to give. */
function isLeftOut(path: string): boolean {
  const parts = path.split(sep);
  return parts.includes(".git") || (parts.at(-2) === "node_modules" && (parts.at(-1) === ".bin" || parts.at(-1) === ".cache" || parts.at(-1) === "openclaw"));
}

/** What a folder holds, for messages. */
export type TreeKind = "plugin" | "skill";

/** Copies a plugin's or skill's folder. Links are copied as links; whether they may stay is `checkTree`'s to say. */
export function copyTree(from: string, to: string, limits: InstallLimits = LIMITS, kind: TreeKind = "plugin"): void {
  const count = counter(limits.entriesWithDependencies, limits.bytes);
  const walk = (path: string): void => {
    const source = join(from, path);
    const target = join(to, path);
    const stat = lstatSync(source);
    count(path, stat);
    if (stat.isDirectory()) {
      mkdirSync(target, { mode: 0o755, recursive: path === "" });
      for (const name of readdirSync(source)) if (!isLeftOut(join(path, name))) walk(join(path, name));
    } else if (stat.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (stat.isFile()) copyFileSync(source, target, 1);
    else throw refused(path, "it is not a file, folder or link", "remove it from the folder");
  };
  try {
    walk("");
  } catch (error) {
    throw fileError(from, `could not copy the ${kind}`, error);
  }
}

export interface TreeFacts {
  readonly files: readonly string[];
  readonly bytes: number;
}

/**
 * Looks at every entry of a staged plugin or skill: no link leads out of it, nothing but files, folders and links is in it, it is not too large. Takes away
 * what lets other users write. Gives the files relative to the folder: all of a skill, of a plugin those outside of `node_modules`.
 */
export function checkTree(root: string, limits: InstallLimits = LIMITS, kind: TreeKind = "plugin"): TreeFacts {
  const real = realpathSync(root);
  const files: string[] = [];
  let bytes = 0;
  const count = counter(limits.entriesWithDependencies, limits.bytes);
  const walk = (folder: string, foreign: boolean): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const shown = relative(real, path);
      const stat = lstatSync(path);
      count(shown, stat);
      if (stat.isSymbolicLink()) checkLink(real, path, shown, kind);
      else if (stat.isDirectory()) {
        tame(path, stat, 0o755);
        walk(path, foreign || (kind === "plugin" && name === "node_modules"));
      } else if (stat.isFile()) {
        if (stat.nlink > 1) throw refused(shown, "it is a hard link: this file has another name elsewhere");
        tame(path, stat, 0o644 | (stat.mode & 0o111));
        bytes += stat.size;
        if (!foreign) files.push(shown);
      } else throw refused(shown, "it is not a file, folder or link");
    }
  };
  walk(real, false);
  return { files, bytes };
}

function tame(path: string, { mode }: Stats, wanted: number): void {
  if ((mode & 0o7777) !== wanted) chmodSync(path, wanted);
}

function checkLink(root: string, path: string, shown: string, kind: TreeKind): void {
  let target: string;
  try {
    target = realpathSync(path);
  } catch {
    throw refused(shown, "it is a broken link");
  }
  if (!isInside(root, target)) throw refused(shown, `it is a link that leaves the ${kind}'s folder, to ${target}`);
  const stat = statSync(target);
  if (!stat.isFile() && !stat.isDirectory()) throw refused(shown, "it is a link to something that is not a file or folder");
}

function counter(most: number, mostBytes: number): (path: string, stat: Stats) => void {
  let entries = 0;
  let bytes = 0;
  return (path, stat) => {
    entries += 1;
    if (stat.isFile()) bytes += stat.size;
    if (entries > most) throw refused(path, `there are more than ${most} files`);
    if (bytes > mostBytes) throw refused(path, `the files have more than ${formatBytes(mostBytes)} together`);
  };
}
