import { constants, type Dirent, type Stats } from "node:fs";
import { lstat, mkdir, open, opendir, readlink, realpath, rename, unlink, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError, fileError } from "./errors.ts";
import { isInside } from "./files.ts";

/**
 * Access to files below a root folder, and no others, even if links change in the meantime: the opened file is checked, not the requested path.
 * Without a root everything may be reached. Only regular files are opened.
 */
export interface RootedFiles {
  /** `PERMISSION_DENIED` when it lies outside, `INVALID_INPUT` when it is not a regular file. The caller closes it. */
  open(path: string): Promise<FileHandle>;
  /** Replaces a file in one step and creates its folders. An existing file's mode is preserved. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
  /** Opens a folder for listing. The caller disposes of it. */
  folder(path: string): Promise<RootedFolder>;
}

/** Type of a folder entry, without following links. */
export type EntryKind = "file" | "folder" | "link" | "other";

/** An open folder: it lists what was opened, even if its name points elsewhere by now. */
export interface RootedFolder extends AsyncDisposable {
  /** The next entries in no particular order, at most `limit`; empty at the end. */
  read(most: number): Promise<readonly { readonly name: string; readonly kind: EntryKind }[]>;
  /** Undefined when there is none of this name. */
  kindOf(name: string): Promise<EntryKind | undefined>;
}

export type FileAccess = "read" | "write";

/**
 * Throws to refuse. `path` is the real path of the open file (reads, listings), or of the one to be written or deleted inside an already open
 * folder: the check runs right before the access, on the very file that is used. `stat` is present for open files.
 */
export type CheckAccess = (path: string, access: FileAccess, stat?: Pick<Stats, "dev" | "ino" | "nlink">) => void | Promise<void>;

export interface RootedFilesOptions {
  readonly root?: string | undefined;
  /** Decides about every access, also without a root. */
  readonly check?: CheckAccess | undefined;
  /** Makes names for temporary files. */
  readonly unique: () => string;
}

const DIRECTORY = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);
/** Opening a pipe or device without a reader would otherwise block. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

export function createRootedFiles({ root, check: decide, unique }: RootedFilesOptions): RootedFiles {
  /** Checks the open folder, not the path that led to it. */
  async function checkWrite(folder: FileHandle, path: string): Promise<void> {
    if (decide) await decide(join(await realPath(folder, dirname(path)), basename(path)), "write");
  }

  async function check(handle: FileHandle, path: string): Promise<void> {
    if (root === undefined) return;
    const [real, allowed] = await Promise.all([realPath(handle, path), realpath(root)]);
    if (!isInside(allowed, real)) throw escapes(root, path);
  }

  async function checkRead(handle: FileHandle, path: string, stat?: Stats): Promise<void> {
    if (decide) await decide(await realPath(handle, path), "read", stat);
  }

  /** The reason why a path outside cannot be opened would reveal what is there. */
  async function untold(path: string, error: unknown): Promise<never> {
    if (root !== undefined && !isInside(root, path) && !isInside(await realpath(root).catch(() => root), path)) throw escapes(root, path);
    throw error;
  }

  /** Opens a folder inside the root; names below it cannot be redirected. */
  async function openFolder(path: string): Promise<FileHandle> {
    const handle = await attempt(path, "could not open the folder", () => open(path, DIRECTORY)).catch((error: unknown) => untold(path, error));
    try {
      await check(handle, path);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  return {
    async open(path) {
      const handle = await attempt(path, "could not open", () => open(path, READ)).catch((error: unknown) => untold(path, error));
      try {
        await check(handle, path);
        const stat = await handle.stat();
        await checkRead(handle, path, stat);
        if (!stat.isFile()) throw new AppError("INVALID_INPUT", `${path} is ${stat.isDirectory() ? "a folder" : "no regular file"}`);
        return handle;
      } catch (error) {
        await handle.close();
        throw error;
      }
    },

    async write(path, content) {
      // A link to a file is followed once, here; its target is checked like any other path.
      const target = await realpath(path).catch(() => path);
      if (decide) await decide(await realTarget(target), "write");
      await makeFolders(dirname(target), root, openFolder);
      await using folder = await openFolder(dirname(target));
      await checkWrite(folder, target);
      const at = inFolder(folder, dirname(target));
      const mode = await modeOf(join(at, basename(target)));
      const temporary = join(at, `.${basename(target)}.${unique()}`);
      await attempt(path, "could not write", async () => {
        try {
          await using file = await open(temporary, CREATE, mode);
          await file.writeFile(content);
          await file.chmod(mode);
          await file.sync();
          await rename(temporary, join(at, basename(target)));
        } catch (error) {
          await unlink(temporary).catch(() => undefined);
          throw error;
        }
      });
    },

    async remove(path) {
      await using folder = await openFolder(dirname(path));
      await checkWrite(folder, path);
      await attempt(path, "could not delete", () => unlink(join(inFolder(folder, dirname(path)), basename(path))));
    },

    async folder(path) {
      const handle = await openFolder(path);
      try {
        await checkRead(handle, path);
      } catch (error) {
        await handle.close();
        throw error;
      }
      return await lookInto(handle, path);
    },
  };
}

/** Entries per read: each read is a round trip to another thread. */
const ENTRIES_AT_ONCE = 512;

async function lookInto(handle: FileHandle, path: string): Promise<RootedFolder> {
  const at = inFolder(handle, path);
  try {
    const entries = await attempt(path, "could not read the folder", () => opendir(at, { bufferSize: ENTRIES_AT_ONCE }));
    return {
      read: (most) =>
        attempt(path, "could not read the folder", async () => {
          const found: { readonly name: string; readonly kind: EntryKind }[] = [];
          while (found.length < most) {
            const entry = await entries.read();
            if (!entry) break;
            found.push({ name: entry.name, kind: kindOf(entry) });
          }
          return found;
        }),
      kindOf: (name) =>
        lstat(join(at, name)).then(kindOf, (error: NodeJS.ErrnoException) => {
          if (error.code === "ENOENT") return undefined;
          throw fileError(join(path, name), "could not look at", error);
        }),
      async [Symbol.asyncDispose]() {
        await entries.close();
        await handle.close();
      },
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function kindOf(entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): EntryKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

/** Where a file would end up: the real path of the existing part, and the rest as written. */
export async function realTarget(path: string): Promise<string> {
  const folder = dirname(path);
  if (folder === path) return path;
  const found = await realpath(folder).catch(() => undefined);
  return join(found ?? (await realTarget(folder)), basename(path));
}

/** Creates folders from the outside in, checking each one before anything is created in it. */
async function makeFolders(path: string, root: string | undefined, openFolder: (path: string) => Promise<FileHandle>): Promise<void> {
  if (root === undefined) {
    await attempt(path, "could not make the folder", () => mkdir(path, { recursive: true }));
    return;
  }
  const missing: string[] = [];
  let at = path;
  while (!(await exists(at))) {
    if (!isInside(root, at)) throw escapes(root, path);
    missing.unshift(basename(at));
    at = dirname(at);
  }
  for (const name of missing) {
    await using folder = await openFolder(at);
    await attempt(path, "could not make the folder", () => mkdir(join(inFolder(folder, at), name), { recursive: true }));
    at = join(at, name);
  }
}

/** Where Linux exposes open files: a path through it cannot be redirected by a link. */
const OPEN_FILES = "/proc/self/fd";

function inFolder(folder: FileHandle, path: string): string {
  return process.platform === "linux" ? join(OPEN_FILES, String(folder.fd)) : path;
}

/** Where an open file lies, whatever its name points to by now. */
export async function realPath(handle: FileHandle, path: string): Promise<string> {
  return process.platform === "linux" ? readlink(join(OPEN_FILES, String(handle.fd))) : realpath(path);
}

async function exists(path: string): Promise<boolean> {
  return realpath(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
}

const NEW_FILE_MODE = 0o644;

async function modeOf(path: string): Promise<number> {
  try {
    await using file = await open(path, READ);
    return (await file.stat()).mode & 0o7777;
  } catch {
    return NEW_FILE_MODE;
  }
}

async function attempt<T>(path: string, what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof AppError ? error : fileError(path, what, error);
  }
}

function escapes(root: string, path: string): AppError {
  return new AppError("PERMISSION_DENIED", `Path escapes sandbox root (${root}): ${path}`);
}
