import { lstat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { AppError, messageOf } from "../../base/errors.ts";
import { createRootedFiles } from "../../base/rooted-files.ts";
import type { BootstrapFile } from "../prompt/injected-files.ts";
import type { SessionFacts } from "../prompt/facts.ts";
import { BOOTSTRAP_NAMES, FEW_NAMES, MEMORY_NAMES } from "./bootstrap-names.ts";

export interface ReadBootstrapOptions {
  readonly folder: string;
  /** Which files: all, all but the private memory, or the few for sub-agents and jobs. */
  readonly which: SessionFacts["files"];
}

/** Larger files are read at both ends only. */
const WHOLE_BYTES = 1_048_576;
const END_BYTES = 262_144;

/**
 * The workspace's files for a prompt, in their order. `BOOTSTRAP.md` and memory are listed only where they exist. What is no regular file or
 * lies outside the workspace, whatever links say, is refused.
 */
export type ReadBootstrapFiles = (options: ReadBootstrapOptions) => Promise<readonly BootstrapFile[]>;

/** Reads them, and caches each for as long as it is the same file with the same times. */
export function createBootstrapReader(watching?: FolderWatching): ReadBootstrapFiles {
  const known = new Map<string, { readonly stamp: string; readonly read: Read }>();
  const quiet = watching && createQuiet(watching);

  async function readCached(folder: string, name: string): Promise<Read> {
    const path = join(folder, name);
    const stamp = await stampOf(path);
    const before = known.get(path);
    if (before && stamp !== undefined && before.stamp === stamp) return before.read;
    const read = await readFile(folder, name);
    if (stamp !== undefined && known.size < MOST_CACHED) known.set(path, { stamp, read });
    return read;
  }

  return async ({ folder, which }) => {
    const last = quiet?.unchanged(folder, which);
    if (last) return last;
    const names: readonly string[] = which === "few" ? BOOTSTRAP_NAMES.filter((name) => FEW_NAMES.has(name)) : BOOTSTRAP_NAMES;
    const memoryNames = which === "all" ? MEMORY_NAMES : [];
    const found = await Promise.all([...names, ...memoryNames].map((name) => readCached(folder, name)));
    const [files, memory] = [found.slice(0, names.length), found.slice(names.length)];
    const shown = [...files, ...distinct(memory)].filter((read) => !(read.file.missing && isOptional(read.file.name))).map((read) => read.file);
    const links = found.some(({ identity, file }) => identity !== undefined && !known.has(file.path));
    if (!links) quiet?.remember(folder, which, shown);
    return shown;
  };
}

export interface FolderWatching {
  /** Reports changes in a folder; undefined where that is not possible. */
  readonly watch: (folder: string, onChange: () => void) => Disposable | undefined;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
}

/** As long as nothing happens in a folder its files are not even looked at; for this long, because some changes are not reported. */
const QUIET_MS = 2_000;
const MOST_WATCHED = 100;

interface Quiet {
  unchanged(folder: string, which: SessionFacts["files"]): readonly BootstrapFile[] | undefined;
  remember(folder: string, which: SessionFacts["files"], files: readonly BootstrapFile[]): void;
}

function createQuiet({ watch, now }: FolderWatching): Quiet {
  const folders = new Map<string, { changes: number; readonly seen: Map<string, { at: number; changes: number; files: readonly BootstrapFile[] }> }>();

  function watched(folder: string) {
    const known = folders.get(folder);
    if (known || folders.size >= MOST_WATCHED) return known;
    const made = { changes: 0, seen: new Map<string, { at: number; changes: number; files: readonly BootstrapFile[] }>() };
    if (!watch(folder, () => (made.changes += 1))) return undefined;
    folders.set(folder, made);
    return made;
  }

  return {
    unchanged(folder, which) {
      const watching = folders.get(folder);
      const seen = watching?.seen.get(which);
      return seen && seen.changes === watching?.changes && now() - seen.at < QUIET_MS ? seen.files : undefined;
    },
    remember(folder, which, files) {
      // The watch begins with the second look, so that nothing can happen between the look and its beginning.
      const fresh = !folders.has(folder);
      const watching = watched(folder);
      if (watching && !fresh) watching.seen.set(which, { at: now(), changes: watching.changes, files });
    },
  };
}

/** The same, without a cache. */
export const readBootstrapFiles: ReadBootstrapFiles = (options) => createBootstrapReader()(options);

/** Files of this many workspaces, roughly; those beyond are read each time. */
const MOST_CACHED = 1_000;

/** What shows that a file is as it was. Undefined for links: what they point to can change by itself. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs, mode } = await lstat(path);
    return (mode & S_IFMT) === S_IFREG ? `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}:${mode}` : undefined;
  } catch {
    return "none";
  }
}

const S_IFMT = 0o170000;
const S_IFREG = 0o100000;

/** True when a session of this kind may see the file: what hooks add is held to the same rule. */
export function belongsTo(which: SessionFacts["files"], name: string): boolean {
  if (which === "few") return FEW_NAMES.has(name);
  return which === "all" || !MEMORY_NAMES.some((memory) => memory === name);
}

const isOptional = (name: string): boolean => name === "BOOTSTRAP.md" || MEMORY_NAMES.some((memory) => memory === name);

interface Read {
  readonly file: BootstrapFile;
  /** Device and inode: where case does not count, two names are one file. */
  readonly identity?: string;
}

/** Each file once, where two names mean the same one. */
function distinct(found: readonly Read[]): readonly Read[] {
  return found.filter((read, index) => read.identity === undefined || found.findIndex((other) => other.identity === read.identity) === index);
}

async function readFile(folder: string, name: string): Promise<Read> {
  const path = join(folder, name);
  // Nothing is written here, so no names for temporary files are needed.
  const files = createRootedFiles({ root: folder, unique: () => "" });
  try {
    await using handle = await files.open(path);
    const stat = await handle.stat();
    const content = await contentOf(handle, stat.size);
    const partial = stat.size > WHOLE_BYTES ? { rawChars: stat.size } : {};
    return { file: { name, path, content, missing: false, ...partial }, identity: `${stat.dev}:${stat.ino}` };
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return { file: { name, path, missing: true } };
    return { file: { name, path, missing: false, refused: reasonOf(error) } };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof AppError)) return messageOf(error);
  if (error.code === "PERMISSION_DENIED") return "it may not be read, or lies outside the workspace";
  return error.code === "INVALID_INPUT" ? "it is not a regular file" : error.message;
}

async function contentOf(handle: FileHandle, size: number): Promise<string> {
  if (size <= WHOLE_BYTES) return handle.readFile("utf8");
  const ends = await Promise.all([0, size - END_BYTES].map((position) => handle.read(Buffer.alloc(END_BYTES), 0, END_BYTES, position)));
  return ends.map(({ buffer, bytesRead }) => buffer.toString("utf8", 0, bytesRead)).join("\n");
}
