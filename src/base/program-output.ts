/** Files that a program was to write into a folder made for it. What lies there is the program's choice: it may be a pipe, a device or a link. */
import { constants } from "node:fs";
import { open, realpath, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError, fileError, systemCode } from "./errors.ts";
import { realPath } from "./rooted-files.ts";

/** Neither waits for the other end of a pipe nor follows a link. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
const PIECE = 1024 * 1024;

export interface ProgramFile {
  /** Where `mkdtemp` made it. */
  readonly folder: string;
  readonly name: string;
  readonly maxBytes: number;
  /** Of the program, for errors. */
  readonly program: string;
}

/** Undefined when there is no such file. Throws when it is anything but a regular file of the folder, with one name, within the limit. */
export async function readProgramFile({ folder, name, maxBytes, program }: ProgramFile): Promise<Buffer | undefined> {
  const path = join(folder, name);
  const wrong = (what: string): AppError => new AppError("UNAVAILABLE", `${program} was to write ${name} as a regular file, but ${what}`);
  let file: FileHandle;
  try {
    file = await open(path, READ);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw wrong("it is a link; have the program copy the file");
    if (code === "ENXIO") throw wrong("it is a socket or device");
    throw fileError(path, `could not read what ${program} wrote`, error);
  }
  await using opened = file;
  const stat = await opened.stat();
  if (!stat.isFile()) throw wrong(`it is a ${stat.isDirectory() ? "folder" : stat.isFIFO() ? "pipe" : "device"}`);
  if (stat.nlink > 1) throw wrong("it is another name of a file elsewhere; have the program copy the file");
  // The folder itself may have been replaced; its parent is not the program's.
  const own = join(await realpath(dirname(folder)), basename(folder), name);
  if ((await realPath(opened, path)) !== own) throw wrong("it lies outside of its folder");
  if (stat.size > maxBytes) throw wrong(`it has ${stat.size} bytes; at most ${maxBytes} are read`);
  return await readAtMost(opened, maxBytes, () => wrong(`it grows beyond ${maxBytes} bytes`));
}

/** A program that goes on writing does not keep the reader busy without end. */
async function readAtMost(file: FileHandle, most: number, tooMuch: () => AppError): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(PIECE), 0, PIECE, size);
    if (bytesRead === 0) return Buffer.concat(pieces, size);
    size += bytesRead;
    if (size > most) throw tooMuch();
    pieces.push(buffer.subarray(0, bytesRead));
  }
}
