import { AppError } from "../../base/errors.ts";

/**
 * The small part of the tar format that a backup needs: regular files, with pax records for names and sizes that the old header
 * cannot hold. Hand-made because reading is the dangerous half: anything not understood is refused, never guessed.
 */
export const BLOCK = 512;
const MAX_OCTAL_SIZE = 0o77777777777;

export interface TarFile {
  readonly name: string;
  readonly size: number;
  readonly mode: number;
  /** Seconds since the epoch. */
  readonly mtime: number;
}

function header(name: string, size: number, mode: number, mtime: number, type: string): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => void block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  block.write(name, 0, 100, "utf8");
  octal(mode & 0o7777, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(Math.min(size, MAX_OCTAL_SIZE), 124, 12);
  octal(Math.max(0, Math.min(Math.trunc(mtime), MAX_OCTAL_SIZE)), 136, 12);
  block.write("        ", 148, "latin1");
  block.write(type, 156, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

/** `"<length> <key>=<value>\n"`, where the length counts itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + 1;
  while (rest + String(length).length !== length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}

/** Padding after the last block of `size` bytes. */
export function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** The blocks before a file's bytes. */
export function tarHeader(file: TarFile): Buffer {
  const records: Buffer[] = [];
  if (Buffer.byteLength(file.name) > 100) records.push(paxRecord("path", file.name));
  if (file.size > MAX_OCTAL_SIZE) records.push(paxRecord("size", String(file.size)));
  const own = header(
    Buffer.from(file.name)
      .subarray(0, 100)
      .toString("latin1")
      .replace(/[^\x20-\x7e]/g, "_"),
    file.size,
    file.mode,
    file.mtime,
    "0",
  );
  if (records.length === 0) return header(file.name, file.size, file.mode, file.mtime, "0");
  const body = Buffer.concat(records);
  return Buffer.concat([header("pax", body.length, 0o600, file.mtime, "x"), body, padding(body.length), own]);
}

/** Two empty blocks end an archive. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK);

export type TarHeader =
  | { readonly kind: "end" }
  | { readonly kind: "file" | "pax" | "long-name" | "comment" | "folder"; readonly name: string; readonly size: number; readonly mode: number };

function refuse(what: string): never {
  throw new AppError("INVALID_INPUT", `not a backup of this program: ${what}; nothing was used`);
}

function octalAt(block: Buffer, at: number, length: number): number {
  const text = block
    .toString("latin1", at, at + length)
    .replace(/[\0 ]+$/, "")
    .trimStart();
  if (!/^[0-7]*$/.test(text)) refuse("a header has an invalid number");
  return text === "" ? 0 : Number.parseInt(text, 8);
}

/** Some programs write sizes above 8 GB as a binary number. */
function sizeAt(block: Buffer): number {
  if (block[124] !== 0x80) return octalAt(block, 124, 12);
  const size = Number(block.readBigUInt64BE(128));
  return Number.isSafeInteger(size) ? size : refuse("a file is larger than any disk");
}

const textAt = (block: Buffer, at: number, length: number): string => {
  const end = block.indexOf(0, at);
  return block.toString("utf8", at, end === -1 || end > at + length ? at + length : end);
};

/** Backups contain files and pax records; other programs that repack one write the rest as well. */
const KINDS: ReadonlyMap<string, "file" | "pax" | "long-name" | "comment" | "folder"> = new Map([
  ["0", "file"],
  ["\0", "file"],
  ["7", "file"],
  ["x", "pax"],
  ["L", "long-name"],
  ["g", "comment"],
  ["5", "folder"],
]);

/** Reads one header block. Links, devices and every other type are refused. */
export function parseHeader(block: Buffer): TarHeader {
  if (block.every((byte) => byte === 0)) return { kind: "end" };
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (sum !== octalAt(block, 148, 8)) refuse("a header does not match its checksum");
  const prefix = textAt(block, 345, 155);
  const name = prefix === "" ? textAt(block, 0, 100) : `${prefix}/${textAt(block, 0, 100)}`;
  const type = String.fromCharCode(block.readUInt8(156));
  const kind = KINDS.get(type) ?? refuse(`${JSON.stringify(name)} is a link or a special file (type ${JSON.stringify(type)})`);
  return { kind, name, size: sizeAt(block), mode: octalAt(block, 100, 8) };
}

/** The records of a pax header. */
export function parsePax(body: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length;) {
    const blank = body.indexOf(32, at);
    const length = Number(body.toString("latin1", at, blank));
    if (blank === -1 || !Number.isInteger(length) || length <= blank - at + 1 || at + length > body.length) refuse("a pax record has an invalid length");
    const [key = "", ...value] = body.toString("utf8", blank + 1, at + length - 1).split("=");
    records.set(key, value.join("="));
    at += length;
  }
  return records;
}

const SEGMENT = process.platform === "win32" ? /^(?!\.{1,2}$)[^\\:\p{Cc}]{1,255}$/u : /^(?!\.{1,2}$)[^\\\p{Cc}]{1,255}$/u;

/** True for a name that stays inside the folder it is unpacked into. */
export function isSafeName(name: string): boolean {
  const segments = name.split("/");
  return Buffer.byteLength(name) <= 1024 && segments.length <= 64 && segments.every((segment) => SEGMENT.test(segment));
}

export function safeName(name: string): string {
  return isSafeName(name) ? name : refuse(`the name ${JSON.stringify(name.slice(0, 200))} could lead elsewhere`);
}
