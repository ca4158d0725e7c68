/** A file that an answer names, for clients that show it. */
import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { AppError } from "../base/errors.ts";
import { isInside } from "../base/files.ts";
import { createRootedFiles } from "../base/rooted-files.ts";
import { formatBytes } from "../base/text.ts";
import { mediaTypeOf } from "../media/index.ts";
import { mediaLine } from "../protocol/index.ts";
import { readReply } from "./reply/payload.ts";

export interface SentFile {
  readonly name: string;
  readonly mimeType: string;
  /** Of the whole file. */
  readonly bytes: number;
  readonly data: Buffer;
}

export interface SentFileDeps {
  /** Folders that files may be sent from. */
  readonly roots: (agentId: string) => readonly string[];
  /** Throws where the agent may not read. */
  readonly readable: (agentId: string, path: string) => Promise<void>;
}

const MAX_BYTES = 25 * 1024 * 1024;

async function beginning(file: FileHandle, most: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, 0);
  return buffer.subarray(0, bytesRead);
}

/**
 * Reads a local file as a channel would get it: from the same folders, with the same rights. `target` is what follows `MEDIA:`, `maxBytes` how much of it is
 * wanted.
 */
export async function loadSentFile({ roots, readable }: SentFileDeps, agentId: string, target: string, maxBytes?: number): Promise<SentFile> {
  const allowed = roots(agentId);
  const [path] = readReply(mediaLine(target), allowed).directives.media;
  const root = allowed.find((folder) => path !== undefined && isInside(folder, path));
  if (path === undefined || root === undefined) throw new AppError("PERMISSION_DENIED", `${basename(target)} is not in a folder that files may be sent from`);
  const check = async (real: string): Promise<void> => readable(agentId, real);
  await using file = await createRootedFiles({ root, check, unique: () => "" }).open(path);
  const { size } = await file.stat();
  if (maxBytes === undefined && size > MAX_BYTES)
    throw new AppError("INVALID_INPUT", `${basename(path)} is ${formatBytes(size)}, the limit for clients is ${formatBytes(MAX_BYTES)}`);
  const data = maxBytes === undefined || maxBytes >= size ? await file.readFile() : await beginning(file, Math.min(maxBytes, MAX_BYTES));
  return { name: basename(path), mimeType: mediaTypeOf({ data, fileName: path }), bytes: size, data };
}
