import { AppError } from "../../base/errors.ts";
import { formatBytes } from "../../base/text.ts";
import { BLOCK, parseHeader, parsePax, safeName } from "./tar.ts";

/** A file in an archive. `body` must be read to its end before the next one is requested. */
export interface ArchivedFile {
  readonly name: string;
  readonly size: number;
  readonly mode: number;
  readonly body: AsyncIterable<Buffer>;
}

export interface ReadLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

const MAX_PAX = 64 * 1024;

/** Bytes on demand from a stream of chunks. */
function createSource(pieces: AsyncIterable<Buffer>) {
  const iterator = pieces[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  async function more(): Promise<void> {
    const next = await iterator.next();
    if (next.done) throw new AppError("INVALID_INPUT", "the backup is cut off: it was not finished or not copied completely");
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value]);
  }
  return {
    async take(size: number): Promise<Buffer> {
      while (held.length < size) await more();
      const taken = held.subarray(0, size);
      held = held.subarray(size);
      return taken;
    },
    /** Reads to the end of the stream, where its checksum is: only empty blocks may follow. */
    async finish(): Promise<void> {
      for (let rest = held; ;) {
        if (rest.some((byte) => byte !== 0)) throw new AppError("INVALID_INPUT", "not a backup of this program: there is data after its end");
        const next = await iterator.next();
        if (next.done) return;
        rest = next.value;
      }
    },
    /** Any number of bytes up to `size`, at least one. */
    async some(size: number): Promise<Buffer> {
      if (held.length === 0) await more();
      return this.take(Math.min(size, held.length));
    },
  };
}

/** The files of a tar stream in order. Refuses links, names that lead elsewhere, duplicate names, and more than the limits. */
export async function* readTar(pieces: AsyncIterable<Buffer>, limits: ReadLimits): AsyncGenerator<ArchivedFile> {
  const source = createSource(pieces);
  const seen = new Set<string>();
  let bytes = 0;
  let pax = new Map<string, string>();
  for (;;) {
    const header = parseHeader(await source.take(BLOCK));
    if (header.kind === "end") return source.finish();
    if (header.kind !== "file" && header.kind !== "folder") {
      if (header.size > MAX_PAX) throw new AppError("INVALID_INPUT", "not a backup of this program: a pax header is too long");
      const body = await source.take(header.size);
      if (header.kind === "pax") pax = parsePax(body);
      if (header.kind === "long-name") pax.set("path", body.toString("utf8").replace(/\0+$/, ""));
      await source.take((BLOCK - (header.size % BLOCK)) % BLOCK);
      continue;
    }
    const size = Number(pax.get("size") ?? header.size);
    const written = (pax.get("path") ?? header.name).replace(/^(?:\.\/)+/, "").replace(/\/$/, "");
    pax = new Map();
    // The packed folder itself, as in `tar c .`.
    if (header.kind === "folder" && (written === "" || written === ".")) continue;
    const name = safeName(written);
    if (header.kind === "folder") continue;
    bytes += size;
    if (!Number.isSafeInteger(size) || size < 0 || bytes > limits.maxBytes || seen.size >= limits.maxFiles) {
      throw new AppError("OVERLOADED", `the backup holds more than ${formatBytes(limits.maxBytes)} or ${limits.maxFiles} files; nothing was used`);
    }
    if (seen.has(name)) throw new AppError("INVALID_INPUT", `not a backup of this program: ${JSON.stringify(name)} occurs twice`);
    seen.add(name);
    let rest = size;
    const body = (async function* () {
      while (rest > 0) {
        const piece = await source.some(rest);
        rest -= piece.length;
        yield piece;
      }
    })();
    yield { name, size, mode: header.mode, body };
    if (rest > 0) throw new AppError("INTERNAL", `${name} was not read completely`);
    await source.take((BLOCK - (size % BLOCK)) % BLOCK);
  }
}
