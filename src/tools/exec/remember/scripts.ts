import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { TRUSTED_FOLDERS } from "../safe-bins.ts";
import { isWritable } from "./pins.ts";
import { runnerNamed } from "./runners.ts";

const SHELLS = new Set(["sh", "bash", "dash", "ash", "ksh", "zsh"]);
/** Longer scripts do more than can be seen here. */
const MOST_BYTES = 64 * 1024;

/**
 * Why a script that agents could write is not remembered although its content is pinned: it loads or starts other files, and those can be changed without
 * touching it. Undefined for programs that are no scripts, and for shell scripts that use nothing but programs of the system.
 */
export function scriptRefusal(path: string, cwd: string): string | undefined {
  if (!isWritable(path)) return undefined;
  const text = beginning(path);
  if (text === undefined || text.includes("\0")) return undefined;
  if (text.length >= MOST_BYTES) return "it is too long to tell what it starts";
  const [first = "", ...lines] = text.split("\n");
  const refusal = first.startsWith("#!") ? interpreterRefusal(first) : undefined;
  if (refusal !== undefined) return refusal;
  for (const line of first.startsWith("#!") ? lines : [first, ...lines]) {
    if (/^\s*#/.test(line)) continue;
    if (/(?:^|[;&|({`\s])(?:\.|source|eval|exec)\s/.test(line)) return "it loads or runs text that is not its own";
    const other = line.split(/[\s;&|<>()'"`={}]+/).find((word) => word !== "" && usesOthers(word, [cwd, dirname(path)]));
    if (other !== undefined) return `it uses ${other}, which could be changed`;
  }
  return undefined;
}

function interpreterRefusal(line: string): string | undefined {
  const [program = "", ...args] = line.slice(2).trim().split(/\s+/);
  const isEnv = basename(program) === "env";
  const name = isEnv ? (args[0] ?? "") : basename(program);
  if (!TRUSTED_FOLDERS.has(dirname(program)) || (isEnv && args.length !== 1)) return "its first line names a program that could be changed";
  return SHELLS.has(name) ? undefined : `${name} loads other files, and agents write those`;
}

/** A word that names a file agents could write, now or later, or a program that runs others. */
function usesOthers(word: string, folders: readonly string[]): boolean {
  if (runnerNamed(word) !== undefined) return true;
  if (word.includes("$") || word.startsWith("~")) return word.includes("/");
  if (word.includes("/")) return folders.some((folder) => isWritable(resolve(folder, word)));
  return folders.some((folder) => existsSync(resolve(folder, word)));
}

function beginning(path: string): string | undefined {
  try {
    const fd = openSync(path, "r");
    try {
      const buffer = Buffer.alloc(MOST_BYTES);
      return buffer.subarray(0, readSync(fd, buffer, 0, MOST_BYTES, 0)).toString("latin1");
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}
