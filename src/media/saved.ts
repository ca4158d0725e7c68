/** Stores received files below `<state>/media`. */
import { chmod, open, rename, rm } from "node:fs/promises";
import { join, parse } from "node:path";
import { AppError, fileError } from "../base/errors.ts";
import { ensureFolder, isInside } from "../base/files.ts";
import type { Ids } from "../base/ids.ts";
import { formatBytes } from "../base/text.ts";
import { extensionForMime, getFileExtension, mediaTypeOf } from "./mime.ts";

/** As in the entry point; not imported from there, since that imports this. */
const DEFAULT_MEDIA_BYTES = 5 * 1024 * 1024;

/** A stored file. */
export interface SavedMedia {
  id: string;
  path: string;
  size: number;
  contentType?: string | undefined;
}

export interface MediaFile {
  readonly buffer: Buffer;
  readonly contentType?: string | undefined;
  /** Folder below `<state>/media`. Default `inbound`. */
  readonly subdir?: string | undefined;
  readonly maxBytes?: number | undefined;
  /** Put before the file's name, for people. */
  readonly originalFilename?: string | undefined;
  /** `false`: of that name only the ending counts. */
  readonly keepsName?: boolean | undefined;
}

const MAX_NAME = 60;

/** The part of a foreign name that is safe in ours. */
function readable(name: string | undefined): string {
  return parse((name ?? "").replaceAll("\\", "/"))
    .name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_")
    .replaceAll(/^[._]+|[._]+$/g, "")
    .slice(0, MAX_NAME);
}

/** Writes the bytes as `[name---]<uuid>.<ext>`, readable by the owner only. The type is checked against the bytes. */
export async function saveMedia(file: MediaFile, { stateDir, ids }: { readonly stateDir: string; readonly ids: Pick<Ids, "uuid"> }): Promise<SavedMedia> {
  const { buffer, subdir = "inbound", maxBytes = DEFAULT_MEDIA_BYTES, originalFilename } = file;
  if (buffer.length > maxBytes)
    throw new AppError("INVALID_INPUT", `media of ${formatBytes(buffer.length)} is over the limit of ${formatBytes(maxBytes)}; send a smaller file`);
  const contentType = mediaTypeOf({ data: buffer, fileName: originalFilename, claim: file.contentType });
  const { id, path } = newName({ stateDir, ids }, subdir, file.keepsName === false ? "" : readable(originalFilename), contentType, originalFilename);
  await writeWhole(path, buffer);
  return { id, path, size: buffer.length, contentType };
}

/** Enough to know a type by. */
const HEAD_BYTES = 4096;

/** Moves a file that is complete to the stored media, without reading all of it. It has to be on the same disk. */
export async function adoptMedia(
  { from, subdir, originalFilename }: { readonly from: string; readonly subdir: string; readonly originalFilename: string },
  { stateDir, ids }: { readonly stateDir: string; readonly ids: Pick<Ids, "uuid"> },
): Promise<SavedMedia> {
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    await using file = await open(from, "r");
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
    const { size } = await file.stat();
    const contentType = mediaTypeOf({ data: head.subarray(0, bytesRead), fileName: originalFilename });
    const { id, path } = newName({ stateDir, ids }, subdir, readable(originalFilename), contentType, originalFilename);
    await chmod(from, 0o600);
    await rename(from, path);
    return { id, path, size, contentType };
  } catch (error) {
    throw error instanceof AppError ? error : fileError(from, "could not store a file", error);
  }
}

/** A name in a folder below the stored media, which is created. */
function newName(
  { stateDir, ids }: { readonly stateDir: string; readonly ids: Pick<Ids, "uuid"> },
  subdir: string,
  name: string,
  contentType: string,
  originalFilename: string | undefined,
): { readonly id: string; readonly path: string } {
  const root = join(stateDir, "media");
  const folder = join(root, subdir);
  if (!isInside(root, folder)) throw new AppError("INVALID_INPUT", `media folder "${subdir}" would lie outside of ${root}; name a folder below it`);
  const id = `${name ? `${name}---` : ""}${ids.uuid()}${extensionForMime(contentType) ?? safeExtension(originalFilename)}`;
  ensureFolder(folder);
  return { id, path: join(folder, id) };
}

/** Ends the names of files that are being written. One that is left over expires like any other. */
const PARTIAL = ".part";

/** All of it or nothing stands under its name, also after a crash. */
async function writeWhole(path: string, buffer: Buffer): Promise<void> {
  const temporary = `${path}${PARTIAL}`;
  try {
    await using file = await open(temporary, "wx", 0o600);
    await file.writeFile(buffer);
    await file.sync();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(path, "could not save media", error);
  }
}

function safeExtension(name: string | undefined): string {
  const extension = getFileExtension(name) ?? "";
  return /^\.[a-z0-9]{1,10}$/.test(extension) ? extension : "";
}
