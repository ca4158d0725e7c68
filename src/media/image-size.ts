/** Width and height of an image, by its first bytes. */

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

const ascii = (bytes: Buffer, from: number, to: number): string => bytes.toString("latin1", from, to);

function png(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 24 || bytes.readUInt32BE(0) !== 0x89504e47 || ascii(bytes, 12, 16) !== "IHDR") return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gif(bytes: Buffer): ImageSize | undefined {
  return bytes.length >= 10 && /^GIF8[79]a$/.test(ascii(bytes, 0, 6)) ? { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) } : undefined;
}

function webp(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30 || ascii(bytes, 0, 4) !== "RIFF" || ascii(bytes, 8, 12) !== "WEBP") return undefined;
  switch (ascii(bytes, 12, 16)) {
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const packed = bytes.readUInt32LE(21);
      return { width: (packed & 0x3f_ff) + 1, height: ((packed >>> 14) & 0x3f_ff) + 1 };
    }
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3f_ff, height: bytes.readUInt16LE(28) & 0x3f_ff };
    default:
      return undefined;
  }
}

/** Frame headers: all of `C0`–`CF` but tables (`C4`), the reserved one (`C8`) and arithmetic coding (`CC`). */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
const standsAlone = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);

function jpeg(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) at += 1;
    else if (standsAlone(marker)) at += 2;
    else if (isFrame(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Of PNG, JPEG, GIF and WebP. Undefined where the bytes are none of these, or are cut off. */
export function imageSize(bytes: Buffer): ImageSize | undefined {
  for (const read of [png, jpeg, gif, webp]) {
    const size = read(bytes);
    if (size && size.width > 0 && size.height > 0) return size;
  }
  return undefined;
}
