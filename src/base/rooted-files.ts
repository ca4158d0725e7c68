import { constants, type Dirent, type Stats } from "node:fs";
import { lstat, mkdir, open, opendir, readlink, realpath, rename, unlink, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError, fileError } from "./errors.ts";
import { isInside } from "./files.ts";

/**
 * Files below a folder, and no others, whatever links do in the meantime: what was opened is looked at, not what was asked for. Without a root
 * everything may be reached. Only regular files are opened.
 */
export interface RootedFiles {
  /** `PERMISSION_DENIED` when it lies outside, `INVALID_INPUT` when it is no regular file. The caller closes it. */
  open(path: string): Promise<FileHandle>;
  /** Replaces a file in one step; its folders are made. The mode of a file that was there stays. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
  /** Opens a folder to look into it. The caller disposes of it. */
  folder(path: string): Promise<RootedFolder>;
}

/** What an entry of a folder is, without following it. */
export type EntryKind = "file" | "folder" | "link" | "other";

/** An open folder: what it shows is what was opened, whatever takes its name in the meantime. */
export interface RootedFolder extends AsyncDisposable {
  /** The next entries in no order, at most so many; none at the end. */
  read(most: number): Promise<readonly { readonly name: string; readonly kind: EntryKind }[]>;
  /** Undefined when there is none of this name. */
  kindOf(name: string): Promise<EntryKind | undefined>;
}

export type FileAccess = "read" | "write";

/**
 * Throws to refuse. `path` is the real path of what is open (reads, listings), or of what will be written or deleted, through a folder that is open
 * already: it is asked right before the use, about the very file that is used. `stat` is given for files that are open.
 */
export type CheckAccess = (path: string, access: FileAccess, stat?: Pick<Stats, "dev" | "ino" | "nlink">) => void | Promise<void>;

export interface RootedFilesOptions {
  readonly root?: string | undefined;
  /** Decides about every access, wherever the root lies. */
  readonly check?: CheckAccess | undefined;
  /** Makes names of temporary files. */
  readonly unique: () => string;
}

const DIRECTORY = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);
/** A pipe or device without a reader would otherwise hold us up. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

export function createRootedFiles({ root, check: decide, unique }: RootedFilesOptions): RootedFiles {
  /** Looks at the folder that is open, not at the path that led to it. */
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

  /** Why a path outside could not be opened would tell what is there. */
  async function untold(path: string, error: unknown): Promise<never> {
    if (root !== undefined && !isInside(root, path) && !isInside(await realpath(root).catch(() => root), path)) throw escapes(root, path);
    throw error;
  }

  /** An open folder that is inside; names below it cannot be led elsewhere. */
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
      // A link to a file is followed once, here; what it names then is checked like any other path.
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

/** Read in so many at a time: each time is a trip to another thread. */
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

/** Where a file would come to lie: the real path of what is there, and the rest as it is written. */
export async function realTarget(path: string): Promise<string> {
  const folder = dirname(path);
  if (folder === path) return path;
  const found = await realpath(folder).catch(() => undefined);
  return join(found ?? (await realTarget(folder)), basename(path));
}

/** Folder by folder from the outside in, each one checked before something is made in it. */
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

/** Where Linux shows open files: a path through it cannot be led elsewhere by a link that is put in its way. */
const OPEN_FILES = "/proc/self/fd";

function inFolder(folder: FileHandle, path: string): string {
  return process.platform === "linux" ? join(OPEN_FILES, String(folder.fd)) : path;
}

async function realPath(handle: FileHandle, path: string): Promise<string> {
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
