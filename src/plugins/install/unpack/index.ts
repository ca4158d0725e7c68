import { createReadStream, statSync } from "node:fs";
import { dirname } from "node:path";
import { PassThrough, type Readable, type Transform } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Header } from "tar-stream";
import type { Entry } from "yauzl";
import { AppError, fileError, messageOf } from "../../../base/errors.ts";
import { startChild } from "../../../base/spawn.ts";
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
    else if (/\.tar\.bz2$/i.test(archive)) {
      await using opened = await openBzip2(archive);
      await unpackTar(opened.tar, writer, signal);
    } else await unpackTar(openTar(archive), writer, signal);
    await writer.finish();
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (signal?.aborted) throw new AppError("CANCELLED", "the install was cancelled", { cause: error });
    throw new AppError("INVALID_INPUT", `${shown} cannot be unpacked: ${messageOf(error)}; it is damaged or not an archive`, { cause: error });
  }
}

/** The bytes of a `.tar`, with or without gzip. */
function openTar(file: string): readonly [Readable, ...Transform[]] {
  return /\.tar$/i.test(file) ? [createReadStream(file)] : [createReadStream(file), createGunzip()];
}

/** The bytes of a `.tar.bz2`, which another program unpacks. Disposing of it ends that program. */
async function openBzip2(file: string): Promise<AsyncDisposable & { readonly tar: readonly [Readable] }> {
  const tar = new PassThrough();
  const drained = (): Promise<void> => new Promise((resolve) => tar.once("drain", resolve).once("close", resolve));
  const child = await startChild("bzip2", {
    args: ["-dc", "--", file],
    cwd: dirname(file),
    env: { PATH: "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin" },
    onOutput: (stream, chunk) => (stream === "stderr" || tar.destroyed || tar.write(chunk) ? undefined : drained()),
  }).catch((error: unknown) => {
    throw new AppError("UNAVAILABLE", "a .tar.bz2 archive needs the program bzip2, which could not be started; install it and try again", { cause: error });
  });
  void child.exited.then(({ code }) => (code === 0 ? tar.end() : tar.destroy(new AppError("INVALID_INPUT", "it is damaged or not a .tar.bz2 archive"))));
  return {
    tar: [tar],
    async [Symbol.asyncDispose]() {
      tar.destroy();
      child.signal("SIGKILL");
      await child.exited;
    },
  };
}

/** Unpacks a `.tar`. The library is loaded with the first one. */
async function unpackTar(source: readonly [Readable, ...Transform[]], writer: Writer, signal?: AbortSignal): Promise<void> {
  const { extract } = await import("tar-stream");
  const unpacking = extract();
  const reading = pipeline([...source, unpacking], { signal });
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
      throw refused(name, `it is a ${type ?? "entry of unknown type"}, not a file, folder or link`);
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
    throw new AppError("INVALID_INPUT", `the archive cannot be read: ${messageOf(error)}; it is damaged or not a .zip archive`, { cause: error });
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
        if (entry.uncompressedSize > LONGEST_TARGET) throw refused(name, "it is a link with an invalid target");
        writer.symbolicLink(name, await text(await open(entry)));
      } else if (kind === FILE || kind === 0) await writer.file(name, await open(entry));
      else throw refused(name, "it is not a file, folder or link");
    }
  } catch (error) {
    throw refusedName(error) ?? error;
  } finally {
    zip.close();
  }
}

/** The library looks at names itself and stops with words of its own at one that leads elsewhere: such an archive is not damaged. */
function refusedName(error: unknown): AppError | undefined {
  const [, problem, name = ""] = /^(invalid relative path|absolute path|invalid characters in fileName): (.*)$/s.exec(messageOf(error)) ?? [];
  if (problem === undefined) return undefined;
  if (problem === "invalid relative path") return refused(name, 'its path has "..": it leaves the folder that it is unpacked into');
  return refused(name, problem === "absolute path" ? "it has an absolute path" : "its name has a backslash, which is a path on some systems");
}
