import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync, statSync, type Stats } from "node:fs";
import { AppError, fileError } from "../base/errors.ts";
import { formatBytes } from "../base/text.ts";

/** What the configuration needs of a file system. Calls throw `AppError`. */
export interface ConfigFiles {
  /** The content; refuses what is not a regular file or is larger than `MAX_CONFIG_BYTES`, without reading it. */
  readonly read: (path: string) => Uint8Array;
  readonly exists: (path: string) => boolean;
  /** The path with symbolic links resolved. */
  readonly realPath: (path: string) => string;
  /** Permission bits, or undefined when the file is not there. */
  readonly mode: (path: string) => number | undefined;
  /** True when the folder is there and holds something. Absent: that is not known. */
  readonly hasEntries?: ((folder: string) => boolean) | undefined;
}

/** No configuration is larger than this; 10 MB. */
export const MAX_CONFIG_BYTES = 10 * 1024 * 1024;

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw fileError(path, "could not look for", error);
  }
}

export const diskFiles: ConfigFiles = {
  read(path) {
    try {
      // Non-blocking, so that a named pipe in the file's place cannot stop the process.
      const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      try {
        return readWhole(fd, path);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      throw fileError(path, "could not read", error);
    }
  },
  exists: (path) => look(path) !== undefined,
  realPath(path) {
    try {
      return realpathSync(path);
    } catch (error) {
      throw fileError(path, "could not watch", error);
    }
  },
  mode(path) {
    const stat = look(path);
    return stat && stat.mode & 0o777;
  },
  hasEntries(folder) {
    try {
      return readdirSync(folder).length > 0;
    } catch {
      return false; // Not there: nothing is installed.
    }
  },
};

function readWhole(fd: number, path: string): Uint8Array {
  const stat = fstatSync(fd);
  if (stat.isDirectory()) throw new AppError("INVALID_INPUT", `could not read: ${path} is a folder; use a file`);
  if (!stat.isFile()) throw new AppError("INVALID_INPUT", `could not read: ${path} is not a regular file; use one`);
  if (stat.size > MAX_CONFIG_BYTES) throw tooLarge(path, stat.size);
  const buffer = Buffer.alloc(stat.size + 1);
  let size = 0;
  for (let count = -1; count !== 0 && size < buffer.length; size += count) count = readSync(fd, buffer, size, buffer.length - size, null);
  // One byte more than its size: the file grew while it was read. The watcher, or the next load, sees the whole of it.
  return buffer.subarray(0, Math.min(size, stat.size));
}

function tooLarge(path: string, size: number): AppError {
  const message = `${path} is ${formatBytes(size)}; a configuration has at most ${formatBytes(MAX_CONFIG_BYTES)}; check that the path names the right file`;
  return new AppError("INVALID_INPUT", message, { details: { path, size } });
}

/** `files` with some contents replaced (`null`: not there), to try out what a write would give. */
export function overlayFiles(files: ConfigFiles, contents: ReadonlyMap<string, string | null>): ConfigFiles {
  const find = (path: string): string | null | undefined => contents.get(path);
  return {
    read(path) {
      const text = find(path);
      if (text === undefined) return files.read(path);
      if (text === null) throw new AppError("NOT_FOUND", `could not read: ${path} does not exist; check the path`);
      const bytes = Buffer.from(text);
      if (bytes.length > MAX_CONFIG_BYTES) throw tooLarge(path, bytes.length);
      return bytes;
    },
    exists: (path) => (find(path) === undefined ? files.exists(path) : find(path) !== null),
    realPath: (path) => (typeof find(path) === "string" && !files.exists(path) ? path : files.realPath(path)),
    mode: (path) => files.mode(path),
    hasEntries: files.hasEntries,
  };
}
