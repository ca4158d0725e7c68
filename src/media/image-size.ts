/** Pixels of an image. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The size that the head of an image states (png, jpeg, gif, webp); undefined when it cannot be read. */
export function imageSize(bytes: Buffer): ImageSize | undefined {
  try {
    if (bytes.toString("latin1", 1, 4) === "PNG") return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    if (bytes.toString("latin1", 0, 4) === "GIF8") return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    if (bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP") return webpSize(bytes);
    return bytes[0] === 0xff && bytes[1] === 0xd8 ? jpegSize(bytes) : undefined;
  } catch {
    // The head is shorter than it has to be.
    return undefined;
  }
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

/** Frame headers are those from C0 to CF, without the tables C4, C8 and CC. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  let at = 2;
  while (at < bytes.length) {
    const marker = bytes.readUInt16BE(at);
    if (marker >> 8 !== 0xff) return undefined;
    const kind = marker & 0xff;
    if (kind >= 0xc0 && kind <= 0xcf && kind !== 0xc4 && kind !== 0xc8 && kind !== 0xcc) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    at += kind === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
