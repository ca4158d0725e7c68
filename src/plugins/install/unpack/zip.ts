import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Entry } from "yauzl";
import { AppError, messageOf } from "../../../base/errors.ts";
import { refused } from "../refusal.ts";
import type { Writer } from "./writer.ts";

const KIND = 0o170000;
const LINK = 0o120000;
const FOLDER = 0o040000;
const FILE = 0o100000;
/** A longer target of a link is no path. */
const LONGEST_TARGET = 4096;

/** Unpacks a `.zip`. Sizes that its directory gives are checked against what is really there. */
export async function unpackZip(file: string, writer: Writer, signal?: AbortSignal): Promise<void> {
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
