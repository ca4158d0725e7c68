import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Header } from "tar-stream";
import { refused } from "../refusal.ts";
import type { Writer } from "./writer.ts";

/** Unpacks a `.tar`, with or without gzip. */
export async function unpackTar(file: string, gzip: boolean, writer: Writer, signal?: AbortSignal): Promise<void> {
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
