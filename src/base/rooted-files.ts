import { constants } from "node:fs";
import { mkdir, open, readlink, realpath, rename, unlink, type FileHandle } from "node:fs/promises";
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
}

export interface RootedFilesOptions {
  readonly root?: string | undefined;
  /** Makes names of temporary files. */
  readonly unique: () => string;
}

const DIRECTORY = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);
/** A pipe or device without a reader would otherwise hold us up. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

export function createRootedFiles({ root, unique }: RootedFilesOptions): RootedFiles {
  async function check(handle: FileHandle, path: string): Promise<void> {
    if (root === undefined) return;
    const [real, allowed] = await Promise.all([realPath(handle, path), realpath(root)]);
    if (!isInside(allowed, real)) throw escapes(root, path);
  }

  /** An open folder that is inside; names below it cannot be led elsewhere. */
  async function openFolder(path: string): Promise<FileHandle> {
    const handle = await attempt(path, "could not open the folder", () => open(path, DIRECTORY));
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
      const handle = await attempt(path, "could not open", () => open(path, READ));
      try {
        await check(handle, path);
        const stat = await handle.stat();
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
      await makeFolders(dirname(target), root, openFolder);
      await using folder = await openFolder(dirname(target));
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
      await attempt(path, "could not delete", () => unlink(join(inFolder(folder, dirname(path)), basename(path))));
    },
  };
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
