import { createHash } from "node:crypto";
import { accessSync, constants, readdirSync, readFileSync, statSync, type BigIntStats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { realPath } from "../../executables.ts";
import type { ExecPlan, PinnedFile, PlannedSegment } from "../plan.ts";
import { readingShape } from "./readers.ts";
import { runnerOf } from "./runners.ts";

/** Larger files are distinguished by size and times: reading them for each command would take too long. */
const MOST_READ_BYTES = 8 * 1024 * 1024;
const MOST_HOOKS = 100;
const SNIFFED_BYTES = 8192;

/**
 * The files that decide what a plan does and that the gateway's user could write, as they are now: programs, scripts that a program is
 * given, and configuration that names programs. A plan made with them runs only as long as they stay the same.
 */
export function pinnedFiles({ segments, cwd }: Pick<ExecPlan, "segments" | "cwd">, home: string): readonly PinnedFile[] {
  const pins = new Map<string, PinnedFile>();
  const add = (pin: PinnedFile | undefined): void => void (pin && pins.set(pin.path, pin));
  for (const segment of segments) {
    const { executable } = segment;
    if (executable === null) continue;
    if (isWritable(executable)) add(pin(executable));
    for (const file of operandFiles(segment, cwd)) add(pin(file));
    for (const file of runnerOf(executable)?.reads ?? []) add(pin(file.startsWith("~/") ? join(home, file.slice(2)) : found(file, cwd)));
  }
  return [...pins.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The first of them that is no longer as it was; undefined when all are. */
export function changedFile(pins: readonly PinnedFile[]): string | undefined {
  return pins.find(({ path, digest }) => pin(path).digest !== digest)?.path;
}

/** The text of a pinned file or of all in a pinned folder, as far as it can be read. */
export function pinnedText(path: string): string {
  try {
    if (!statSync(path).isDirectory()) return readFileSync(path, "utf8");
    return "";
  } catch {
    return "";
  }
}

/** Arguments that name a file which could be instructions: text or a program. Data is left out, or every use of it would be asked about. */
function operandFiles({ executable, argv }: PlannedSegment, cwd: string): readonly string[] {
  const args = argv.slice(1);
  if (executable === null || readingShape(executable, args)) return [];
  const any = runnerOf(executable) !== undefined;
  const spellings = args.flatMap((arg) => [arg, arg.slice(arg.indexOf("=") + 1), arg.replace(/^-{1,2}[A-Za-z]/, ""), arg.replace(/^@/, "")]);
  const paths = new Set(spellings.filter((word) => word !== "" && word !== ".").map((word) => resolve(cwd, word)));
  return [...paths].filter((path) => {
    const facts = statOf(path);
    return facts?.isFile() === true && isWritable(path) && (isExecutable(path) || (any && isText(path)));
  });
}

/** From the working folder upwards; in the working folder when it is nowhere. */
function found(file: string, cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (statOf(join(folder, file))) return join(folder, file);
    if (dirname(folder) === folder) return join(cwd, file);
  }
}

function pin(path: string): PinnedFile {
  try {
    const facts = statSync(path, { bigint: true });
    if (facts.isDirectory()) return { path, digest: folderDigest(path) };
    return { path, digest: fileDigest(path, facts) };
  } catch {
    return { path, digest: "none" };
  }
}

function fileDigest(path: string, facts: BigIntStats): string {
  if (!facts.isFile() || facts.size > BigInt(MOST_READ_BYTES)) return `stat:${facts.dev}:${facts.ino}:${facts.size}:${facts.mtimeNs}:${facts.ctimeNs}`;
  return `sha256:${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
}

/** What would run from a folder of hooks. Samples do not. */
function folderDigest(path: string): string {
  const names = readdirSync(path)
    .filter((name) => !name.endsWith(".sample"))
    .sort()
    .slice(0, MOST_HOOKS);
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name}\0${pin(join(path, name)).digest}\0`);
  return `sha256:${hash.digest("hex")}`;
}

/** The file, or a folder on the way to it, by its name or behind links: who may write one can put another file there. */
export function isWritable(path: string): boolean {
  return [path, realPath(path)].some((file) => {
    for (let at = file; ; at = dirname(at)) {
      if (may(at, constants.W_OK)) return true;
      if (dirname(at) === at) return false;
    }
  });
}

const isExecutable = (path: string): boolean => may(path, constants.X_OK);

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function statOf(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isText(path: string): boolean {
  try {
    if (statSync(path).size > MOST_READ_BYTES) return false;
    return !readFileSync(path).subarray(0, SNIFFED_BYTES).includes(0);
  } catch {
    return false;
  }
}
