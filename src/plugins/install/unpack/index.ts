import { createReadStream, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Header } from "tar-stream";
import type { Entry } from "yauzl";
import { AppError, fileError, messageOf } from "../../../base/errors.ts";
import { formatBytes } from "../../../base/text.ts";
import { LIMITS, type InstallLimits } from "../limits.ts";
import { refused } from "../refusal.ts";
import { createWriter, type Writer } from "./writer.ts";

const ARCHIVE = /\.(?:zip|tgz|tar\.gz|tar)$/i;

export const isArchive = (path: string): boolean => ARCHIVE.test(path);

/** Unpacks an archive into an empty folder. Throws at the first entry that is not acceptable; what was written until then is the caller's to remove. `shown`: how messages call it. */
export async function unpack(
  archive: string,
  folder: string,
  { limits = LIMITS, signal, shown = archive }: { readonly limits?: InstallLimits; readonly signal?: AbortSignal | undefined; readonly shown?: string } = {},
): Promise<void> {
  let size: number;
  try {
    size = statSync(archive).size;
  } catch (error) {
    throw fileError(shown, "could not open the archive", error);
  }
  if (size > limits.archiveBytes)
    throw new AppError("INVALID_INPUT", `${shown} has ${formatBytes(size)}, at most ${formatBytes(limits.archiveBytes)} are unpacked`);
  const writer = createWriter(folder, size, limits);
  try {
    if (/\.zip$/i.test(archive)) await unpackZip(archive, writer, signal);
    else await unpackTar(archive, !/\.tar$/i.test(archive), writer, signal);
    await writer.finish();
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (signal?.aborted) throw new AppError("CANCELLED", "the install was cancelled", { cause: error });
    throw new AppError("INVALID_INPUT", `${shown} cannot be unpacked: ${messageOf(error)}; it is damaged or no archive`, { cause: error });
  }
}

/** Unpacks a `.tar`, with or without gzip. The library is loaded with the first one. */
async function unpackTar(file: string, gzip: boolean, writer: Writer, signal?: AbortSignal): Promise<void> {
  const { extract } = await import("tar-stream");
  const unpacking = extract();
  const reading = gzip ? pipeline(createReadStream(file), createGunzip(), unpacking, { signal }) : pipeline(createReadStream(file), unpacking, { signal });
  // What stops the writing stops the reading; its error is the one to show.
  reading.catch(() => {});
  unpacking.on("error", () => {});
  try {
    for await (const entry of unpacking) {
      // An entry that is given up may still report that its archive was closed.
      entry.on("error", () => {});
      await unpackEntry(entry.header, entry as unknown as AsyncIterable<Buffer>, writer);
      entry.resume();
    }
    await reading;
  } finally {
    unpacking.destroy();
  }
}

async function unpackEntry({ name, type, linkname }: Header, content: AsyncIterable<Buffer>, writer: Writer): Promise<void> {
  switch (type) {
    case "file":
    case "contiguous-file":
      return writer.file(name, content);
    case "directory":
      return writer.folder(name);
    case "symlink":
      return writer.symbolicLink(name, linkname ?? "");
    case "link":
      return writer.hardLink(name, linkname ?? "");
    default:
      throw refused(name, `it is a ${type ?? "thing of unknown kind"}, not a file, folder or link`);
  }
}

const KIND = 0o170000;
const LINK = 0o120000;
const FOLDER = 0o040000;
const FILE = 0o100000;
/** A longer target of a link is no path. */
const LONGEST_TARGET = 4096;

/** Unpacks a `.zip`. The library is loaded with the first one. Sizes that its directory gives are checked against what is really there. */
async function unpackZip(file: string, writer: Writer, signal?: AbortSignal): Promise<void> {
  const { openPromise } = await import("yauzl");
  const zip = await openPromise(file, { decodeStrings: true, validateEntrySizes: true, strictFileNames: true }).catch((error: unknown) => {
    throw new AppError("INVALID_INPUT", `the archive cannot be read: ${messageOf(error)}; it is damaged or no .zip`, { cause: error });
  });
  // A read that was under way when the archive is given up may still report that it was closed.
  zip.on("error", () => {});
  const open = async (entry: Entry): Promise<Readable> => (await zip.openReadStreamPromise(entry)).on("error", () => {});
  try {
    for await (const entry of zip.eachEntry()) {
      signal?.throwIfAborted();
      const { fileName: name } = entry;
      const kind = (entry.externalFileAttributes >>> 16) & KIND;
      if (entry.isEncrypted()) throw refused(name, "it is encrypted");
      if (name.endsWith("/") || kind === FOLDER) await writer.folder(name);
      else if (kind === LINK) {
        if (entry.uncompressedSize > LONGEST_TARGET) throw refused(name, "it is a link with a strange target");
        writer.symbolicLink(name, await text(await open(entry)));
      } else if (kind === FILE || kind === 0) await writer.file(name, await open(entry));
      else throw refused(name, "it is no file, folder or link");
    }
  } finally {
    zip.close();
  }
}
