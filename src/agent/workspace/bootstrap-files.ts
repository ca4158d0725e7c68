import { lstat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { AppError, messageOf } from "../../base/errors.ts";
import { createRootedFiles } from "../../base/rooted-files.ts";
import { BOOTSTRAP_NAMES, FEW_NAMES, HEARTBEAT_NAME, MEMORY_NAMES, type BootstrapFile, type BootstrapSet } from "./bootstrap-names.ts";

export interface ReadBootstrapOptions {
  readonly folder: string;
  readonly which: BootstrapSet;
}

/** Larger files are read at both ends only. */
const WHOLE_BYTES = 1_048_576;
const END_BYTES = 262_144;

/**
 * The workspace's files for a prompt, in their order. `BOOTSTRAP.md` and memory are listed only where they exist. What is no regular file or
 * lies outside the workspace, whatever links say, is refused.
 */
export type ReadBootstrapFiles = (options: ReadBootstrapOptions) => Promise<readonly BootstrapFile[]>;

/** The files of each kind of session, in their order. */
const NAMES: Readonly<Record<BootstrapSet, readonly string[]>> = {
  all: [...BOOTSTRAP_NAMES, ...MEMORY_NAMES],
  shared: BOOTSTRAP_NAMES,
  few: BOOTSTRAP_NAMES.filter((name) => FEW_NAMES.has(name)),
  heartbeat: [HEARTBEAT_NAME],
};
const MEMORY: ReadonlySet<string> = new Set(MEMORY_NAMES);
const OPTIONAL: ReadonlySet<string> = new Set(["BOOTSTRAP.md", ...MEMORY_NAMES]);

export interface FolderWatching {
  /** Reports changes in a folder; undefined where that is not possible. */
  readonly watch: (folder: string, onChange: () => void) => Disposable | undefined;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
}

/** A folder that is watched: how often it changed, and what was shown of it then. */
interface WatchedFolder {
  changes: number;
  readonly shown: Map<BootstrapSet, { readonly at: number; readonly changes: number; readonly files: readonly BootstrapFile[] }>;
}

/** As long as nothing happens in a folder its files are not even looked at; for this long, because some changes are not reported. */
const QUIET_MS = 2_000;
const MOST_WATCHED = 100;

/** Reads them, and caches each for as long as it is the same file with the same times. */
export function createBootstrapReader(watching?: FolderWatching): ReadBootstrapFiles {
  const known = new Map<string, { readonly stamp: string; readonly read: Read }>();
  const folders = new Map<string, WatchedFolder>();

  async function readCached(folder: string, name: string): Promise<Read> {
    const path = join(folder, name);
    const stamp = await stampOf(path);
    const before = known.get(path);
    if (before && stamp !== undefined && before.stamp === stamp) return before.read;
    const read = await readFile(folder, name);
    if (stamp !== undefined && known.size < MOST_CACHED) known.set(path, { stamp, read });
    return read;
  }

  /** The watch begins with the first look and counts from the second, so that nothing can happen between a look and its beginning. */
  function startWatching(folder: string): void {
    if (folders.size >= MOST_WATCHED) return;
    const watched: WatchedFolder = { changes: 0, shown: new Map() };
    if (watching?.watch(folder, () => (watched.changes += 1))) folders.set(folder, watched);
  }

  return async ({ folder, which }) => {
    const watched = folders.get(folder);
    const { changes } = watched ?? {};
    const last = watched?.shown.get(which);
    if (watching && last && last.changes === changes && watching.now() - last.at < QUIET_MS) return last.files;
    const found = await Promise.all(NAMES[which].map((name) => readCached(folder, name)));
    const isCached = found.every(({ identity, file }) => identity === undefined || known.has(file.path));
    const files = shownOf(found);
    if (watching && isCached) {
      if (changes === undefined) startWatching(folder);
      else watched?.shown.set(which, { at: watching.now(), changes, files });
    }
    return files;
  };
}

/** Without what is missing and need not be there, and without a second name of the same memory. */
function shownOf(found: readonly Read[]): readonly BootstrapFile[] {
  const files: BootstrapFile[] = [];
  const memories = new Set<string>();
  for (const { file, identity } of found) {
    const isSecond = MEMORY.has(file.name) && identity !== undefined && memories.has(identity);
    if (isSecond || (file.missing && OPTIONAL.has(file.name))) continue;
    if (MEMORY.has(file.name) && identity !== undefined) memories.add(identity);
    files.push(file);
  }
  return files;
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
export function belongsTo(which: BootstrapSet, name: string): boolean {
  if (which === "few") return FEW_NAMES.has(name);
  if (which === "heartbeat") return name === HEARTBEAT_NAME;
  return which === "all" || !MEMORY.has(name);
}

interface Read {
  readonly file: BootstrapFile;
  /** Device and inode: where case does not count, two names are one file. */
  readonly identity?: string;
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
  if (error.code === "PERMISSION_DENIED") return "it may not be read, or is outside the workspace";
  return error.code === "INVALID_INPUT" ? "it is not a regular file" : error.message;
}

async function contentOf(handle: FileHandle, size: number): Promise<string> {
  if (size <= WHOLE_BYTES) return handle.readFile("utf8");
  const ends = await Promise.all([0, size - END_BYTES].map((position) => handle.read(Buffer.alloc(END_BYTES), 0, END_BYTES, position)));
  return ends.map(({ buffer, bytesRead }) => buffer.toString("utf8", 0, bytesRead)).join("\n");
}
