import { crc32 } from "node:zlib";

/** The image types that every provider accepts. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** The type of an image, or why it cannot be sent to a model. */
export type ImageCheck = { readonly type: ImageType; readonly problem?: undefined } | { readonly type?: ImageType; readonly problem: string };

/** The type of an image by its first bytes, regardless of its name or declared type. */
export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  const text = (from: number, to: number): string => bytes.toString("latin1", from, to);
  if (text(0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  if (text(0, 6) === "GIF87a" || text(0, 6) === "GIF89a") return "image/gif";
  return text(0, 4) === "RIFF" && text(8, 12) === "WEBP" ? "image/webp" : undefined;
}

/**
 * Walks the structure of an image without decoding it: one damaged image makes a provider refuse the whole request, and every later request of its
 * session. Finds truncated images, files that are no images, and PNGs with altered bytes.
 */
export function checkImage(bytes: Buffer): ImageCheck {
  const type = imageTypeOf(bytes);
  if (type === undefined) return { problem: bytes.length === 0 ? "it is empty" : "it is no PNG, JPEG, GIF or WebP" };
  try {
    return WALKS[type](bytes) ? { type } : { type, problem: DAMAGED };
  } catch (error) {
    // A read past the end of the bytes.
    if (error instanceof RangeError) return { type, problem: DAMAGED };
    throw error;
  }
}

/** Why an image that is not whole is not sent. */
export const DAMAGED = "the file is damaged or incomplete";

const WALKS: Readonly<Record<ImageType, (bytes: Buffer) => boolean>> = {
  "image/png": isWholePng,
  "image/jpeg": isWholeJpeg,
  "image/gif": isWholeGif,
  "image/webp": isWholeWebp,
};

/** IHDR first, at least one IDAT, IEND last; the checksums of the critical chunks are right. */
function isWholePng(bytes: Buffer): boolean {
  let hasData = false;
  for (let at = 8; ;) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    const end = at + 8 + length;
    const checksum = bytes.readUInt32BE(end);
    const isCritical = /^[A-Z]/.test(name);
    if (isCritical && crc32(bytes.subarray(at + 4, end)) !== checksum) return false;
    if (at === 8 && (name !== "IHDR" || length !== 13 || bytes.readUInt32BE(16) === 0 || bytes.readUInt32BE(20) === 0)) return false;
    hasData ||= name === "IDAT" && length > 0;
    if (name === "IEND") return hasData;
    at = end + 4;
  }
}

/** A frame with a size, then a scan, then the end marker; bytes that cameras append after it are ignored. */
function isWholeJpeg(bytes: Buffer): boolean {
  let hasFrame = false;
  for (let at = 2; ;) {
    if (bytes.readUInt8(at) !== 0xff) return false;
    const kind = bytes.readUInt8(at + 1);
    if (kind === 0xff) {
      at += 1;
      continue;
    }
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return false;
    if (kind >= 0xc0 && kind <= 0xcf && kind !== 0xc4 && kind !== 0xc8 && kind !== 0xcc) {
      hasFrame = true;
      if (bytes.readUInt16BE(at + 7) === 0) return false;
    }
    at += 2 + length;
    if (kind === 0xda) return hasFrame && bytes.indexOf("ffd9", at, "hex") > at;
  }
}

/** Blocks up to the trailer, with at least one picture among them. */
function isWholeGif(bytes: Buffer): boolean {
  const tableAfter = (at: number, flags: number): number => at + ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  const afterBlocks = (from: number): number => {
    let at = from;
    for (let size = bytes.readUInt8(at); size > 0; size = bytes.readUInt8(at)) at += size + 1;
    return at + 1;
  };
  let hasPicture = false;
  for (let at = tableAfter(13, bytes.readUInt8(10)); ;) {
    const kind = bytes.readUInt8(at);
    if (kind === 0x3b) return hasPicture;
    if (kind === 0x21) at = afterBlocks(at + 2);
    else if (kind === 0x2c) {
      at = afterBlocks(tableAfter(at + 10, bytes.readUInt8(at + 9)) + 1);
      hasPicture = true;
    } else return false;
  }
}

/** As long as its header states, all chunks inside, with a picture among them. */
function isWholeWebp(bytes: Buffer): boolean {
  const end = bytes.readUInt32LE(4) + 8;
  if (end > bytes.length) return false;
  let hasPicture = false;
  for (let at = 12; at + 8 <= end;) {
    const length = bytes.readUInt32LE(at + 4);
    if (at + 8 + length > end) return false;
    hasPicture ||= length > 4 && /^(?:VP8 |VP8L|ANMF)$/.test(bytes.toString("latin1", at, at + 4));
    at += 8 + length + (length % 2);
  }
  return hasPicture;
}
