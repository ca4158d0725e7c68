import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { pack, type Header } from "tar-stream";

/** One entry of an archive, as hostile as a test wants it. */
export interface ArchiveEntry {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly type?: Header["type"];
  readonly target?: string;
  /** Permission bits. */
  readonly mode?: number;
}

/** A `.tar` with the entries as they are given: nothing is checked or corrected. */
export async function tarOf(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const archive = pack();
  const chunks: Buffer[] = [];
  const collecting = (async () => {
    for await (const chunk of archive) chunks.push(chunk as Buffer);
  })();
  for (const { name, content = "", type = "file", target, mode = 0o644 } of entries) {
    const header = { name, type, mode, ...(target === undefined ? {} : { linkname: target }) };
    await new Promise<void>((resolve, reject) => {
      const done = (error?: Error | null): void => (error ? reject(error) : resolve());
      if (type === "file") archive.entry(header, content, done);
      else archive.entry(header, done);
    });
  }
  archive.finalize();
  await collecting;
  return Buffer.concat(chunks);
}

export const tgzOf = async (entries: readonly ArchiveEntry[]): Promise<Buffer> => gzipSync(await tarOf(entries));

const KINDS: Readonly<Record<string, number>> = { file: 0o100000, directory: 0o040000, symlink: 0o120000, fifo: 0o010000, "block-device": 0o060000 };

/** A `.zip` with the entries as they are given. `claimedSize`: what the directory says of every entry's size. */
export function zipOf(entries: readonly ArchiveEntry[], { claimedSize }: { readonly claimedSize?: number } = {}): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content = "", type = "file", target, mode = 0o644 } of entries) {
    const data = Buffer.from(target ?? content);
    const packed = deflateRawSync(data);
    const bytes = Buffer.from(name);
    const sizes = { crc: crc32(data), packed: packed.length, plain: claimedSize ?? data.length };
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(0x0800, 6);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(sizes.crc, 14);
    local.writeUInt32LE(sizes.packed, 18);
    local.writeUInt32LE(sizes.plain, 22);
    local.writeUInt16LE(bytes.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE((3 << 8) | 20, 4);
    entry.writeUInt16LE(20, 6);
    entry.writeUInt16LE(0x0800, 8);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(sizes.crc, 16);
    entry.writeUInt32LE(sizes.packed, 20);
    entry.writeUInt32LE(sizes.plain, 24);
    entry.writeUInt16LE(bytes.length, 28);
    entry.writeUInt32LE((((KINDS[type ?? "file"] ?? KINDS["file"]!) | mode) << 16) >>> 0, 38);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, bytes, packed);
    central.push(entry, bytes);
    offset += local.length + bytes.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
