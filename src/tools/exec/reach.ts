import { existsSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { ExecPlan, PlannedSegment } from "./plan.ts";
import { readingShape } from "./remember/readers.ts";

/** What is known about files that tools do not read. Paths are absolute. */
export interface SealedFiles {
  readonly isSealed: (path: string) => boolean;
  /** True when something in a folder is. */
  readonly holdsSealed: (folder: string) => boolean;
}

/** A listed program must not become a way to files that tools do not read. Its folder counts too: names without a slash begin there. */
export function reachesSealed({ cwd, segments }: ExecPlan, sealed: SealedFiles): boolean {
  return sealed.isSealed(cwd) || segments.some((segment) => segmentReaches(segment, cwd, sealed));
}

function segmentReaches(segment: PlannedSegment, cwd: string, { isSealed, holdsSealed }: SealedFiles): boolean {
  const paths = segment.argv.slice(1).flatMap((word) => filesNamed(word).map((name) => resolve(cwd, name)));
  if (paths.some(isSealed)) return true;
  const depth = folderReading(segment);
  if (depth === "none") return false;
  if (depth === "links") return true;
  const folders = paths.filter(isFolder);
  return [...folders, ...(searchesWorkingFolder(segment, cwd) ? [cwd] : [])].some(holdsSealed);
}

/** Of a search that names no folder or file. The first word that is no option is its pattern, unless an option brings that. */
function searchesWorkingFolder({ argv }: PlannedSegment, cwd: string): boolean {
  if (!SEARCHERS.has(basename(argv[0]))) return false;
  const words = argv.slice(1).filter((word) => !word.startsWith("-"));
  return argv.some((word) => /^(?:-[A-Za-z]*[ef]|--regexp|--file)/.test(word)) || !words.slice(1).some((word) => existsSync(resolve(cwd, word)));
}

/** Programs that look through the working folder when they are given no other. */
const SEARCHERS = new Set(["grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep"]);
const GREP = new Set(["grep", "egrep", "fgrep"]);

/**
 * Whether a program reads what is in a folder that it is given: `contents` of the files in it, `links` also what links in it lead to, which nobody can
 * tell beforehand. Programs that are known to show names only, or to take no folders, read none.
 */
function folderReading({ executable, argv }: PlannedSegment): "none" | "contents" | "links" {
  const name = basename(argv[0]);
  const args = argv.slice(1);
  const has = (short: RegExp, ...long: readonly string[]): boolean => args.some((arg) => short.test(arg) || long.includes(arg));
  if (name === "diff") return has(/^-[A-Za-z]*r/, "--recursive") ? "links" : "none";
  if (["rg", "ag", "ack", "ugrep"].includes(name)) return has(/^-[A-Za-z]*[Lf]/, "--follow", "--dereference") ? "links" : "contents";
  if (!GREP.has(name)) return executable !== null && readingShape(executable, args) ? "none" : "contents";
  if (has(/^-[A-Za-z]*R/, "--dereference-recursive")) return "links";
  return has(/^-[A-Za-z]*r|^-d/, "--recursive") || args.some((arg) => arg.startsWith("--directories")) ? "contents" : "none";
}

/** What a program could take for a file in one of its words: the word, what follows `=`, `@` or a short option. */
function filesNamed(word: string): readonly string[] {
  const names = [word, word.slice(word.indexOf("=") + 1), word.replace(/^-[A-Za-z]/, ""), word.replace(/^@/, ""), word.slice(word.indexOf("@") + 1)];
  return [...new Set(names)].filter((name) => name !== "" && name.length < 4096 && !name.includes("\0"));
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}
