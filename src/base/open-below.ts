import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { AppError, systemCode } from "./errors.ts";
import { createRootedFiles } from "./rooted-files.ts";

/** What opening a file that is not there, no file, or elsewhere ends with. */
const ABSENT: ReadonlySet<string> = new Set(["NOT_FOUND", "INVALID_INPUT", "PERMISSION_DENIED"]);
const ABSENT_CAUSES: ReadonlySet<string> = new Set(["ENOTDIR", "ENAMETOOLONG", "ELOOP", "ENXIO"]);

/** Opens a file below the folder; undefined when there is none, links that lead out included. The caller closes it. */
export async function openBelow(folder: string, name: string): Promise<FileHandle | undefined> {
  try {
    return await createRootedFiles({ root: folder, unique: () => "" }).open(join(folder, name));
  } catch (error) {
    if (error instanceof AppError && (ABSENT.has(error.code) || ABSENT_CAUSES.has(systemCode(error.cause) ?? ""))) return undefined;
    throw error;
  }
}

/** Reads a file whose path others gave. A pipe or device is refused; reading one would wait for its other end without end. */
export async function readRegular(path: string): Promise<Buffer> {
  await using file = await createRootedFiles({ unique: () => "" }).open(path);
  return await file.readFile();
}
