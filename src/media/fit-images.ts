import type sharpLibrary from "sharp";
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { messageOf, systemCode } from "../base/errors.ts";
import { checkImage, DAMAGED } from "../base/image-check.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import { formatBytes } from "../base/text.ts";
import type { ImageContent, TextContent } from "../protocol/index.ts";

/** Size of an image in pixels. */
interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The size in an image's header (png, jpeg, gif, webp); undefined when it cannot be read. */
export function imageSize(bytes: Buffer): ImageSize | undefined {
  try {
    if (bytes.toString("latin1", 1, 4) === "PNG") return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    if (bytes.toString("latin1", 0, 4) === "GIF8") return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    if (bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP") return webpSize(bytes);
    return bytes[0] === 0xff && bytes[1] === 0xd8 ? jpegSize(bytes) : undefined;
  } catch {
    // The header is truncated.
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

/** Frame headers are C0 to CF, without the tables C4, C8 and CC. */
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

const DEFAULT_IMAGE_SIDE = 1200;
/** Largest image that models accept. */
const MAX_BYTES = 5 * 1024 * 1024;
/** Larger ones are not decoded: an image of a few bytes can claim any size. */
const MAX_PIXELS = 100_000_000;
const DATA_URL = /^data:[^,]{0,100};base64,/;
/** Tried in this order until the image is small enough. */
const STEPS: readonly { readonly share: number; readonly quality: number }[] = [
  { share: 1, quality: 85 },
  { share: 1, quality: 65 },
  { share: 0.75, quality: 60 },
  { share: 0.5, quality: 50 },
  { share: 0.3, quality: 40 },
];

export interface ImageFitterDeps {
  /** `agents.defaults.imageMaxDimensionPx`. */
  readonly maxSide: () => number | undefined;
  readonly log: Pick<Logger, "warn">;
  /** The image library; loaded with the first image that is too large. */
  readonly load?: () => Promise<Sharp>;
}

/** Makes images ready to be sent to a model: complete, of a supported type, and small enough. Every inbound image passes through it. */
export interface ImageFitter {
  /** The parts with images that fit; a damaged one, or one that cannot be made to fit, becomes a note. The same list when all fit. */
  <P extends ImageContent | TextContent>(parts: readonly P[]): Promise<readonly (P | ImageContent | TextContent)[]>;
}

type Sharp = typeof sharpLibrary;

export function createImageFitter({ maxSide, log, load = async () => (await import("sharp")).default }: ImageFitterDeps): ImageFitter {
  const library = lazy(async () => {
    const found = await load();
    found.cache(false);
    return found;
  });
  const sharp = (): Promise<Sharp | undefined> =>
    library().catch((error: unknown) => {
      log.warn(`images are not scaled: the library that does it cannot be loaded here (${messageOf(error)})`);
      return undefined;
    });

  async function fitted(image: ImageContent): Promise<ImageContent | TextContent> {
    const bytes = Buffer.from(image.data.replace(DATA_URL, ""), "base64");
    const size = imageSize(bytes);
    const side = maxSide() ?? DEFAULT_IMAGE_SIDE;
    const longest = size === undefined ? 0 : Math.max(size.width, size.height);
    if (size && size.width * size.height > MAX_PIXELS) return omitted(`it has ${size.width} × ${size.height} pixels, which is too many to be scaled`);
    const { type, problem } = checkImage(bytes);
    // A model takes a part of a picture for the whole: a damaged one is left out, whatever its size.
    if (problem !== undefined && !isConvertible(bytes)) return omitted(problem);
    const isLight = bytes.length <= MAX_BYTES;
    if (type !== undefined && isLight && longest <= side) return (await hasAllPixels(bytes, type, size)) ? asSent(image, bytes, type) : omitted(DAMAGED);
    const found = await sharp();
    if (!found && type !== undefined && isLight) return asSent(image, bytes, type);
    if (!found) return omitted(problem ?? `it has ${formatBytes(bytes.length)}, at most ${formatBytes(MAX_BYTES)} can be sent`);
    try {
      return (await scaled(found, bytes, Math.min(side, longest || side))) ?? omitted("it could not be made small enough");
    } catch (error) {
      log.warn(`an image could not be scaled: ${messageOf(error)}`);
      return omitted(problem ?? DAMAGED);
    }
  }

  return async <P extends ImageContent | TextContent>(parts: readonly P[]) => {
    if (!parts.some(({ type }) => type === "image")) return parts;
    const out: (P | ImageContent | TextContent)[] = [];
    // One after the other: a decoded image takes many times its file size.
    for (const part of parts) out.push(part.type === "image" ? await fitted(part) : part);
    return out.every((part, index) => part === parts[index]) ? parts : out;
  };
}

async function scaled(sharp: Sharp, bytes: Buffer, side: number): Promise<ImageContent | undefined> {
  for (const { share, quality } of STEPS) {
    const most = Math.max(1, Math.round(side * share));
    const data = await sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "truncated" })
      .autoOrient()
      .resize({ width: most, height: most, fit: "inside", withoutEnlargement: true })
      .flatten({ background: "#ffffff" })
      .jpeg({ quality })
      .toBuffer();
    if (data.length <= MAX_BYTES) return { type: "image", data: data.toString("base64"), mimeType: "image/jpeg" };
  }
  return undefined;
}

/** Samples per pixel, by the colour type of a PNG. */
const PNG_SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const inflated = promisify(inflate);

/** A PNG can be cut off before its checksums are made: then its parts are right, and its pixels are not all there. Other kinds are not decoded. */
async function hasAllPixels(bytes: Buffer, type: string, size: ImageSize | undefined): Promise<boolean> {
  if (type !== "image/png" || !size) return true;
  const parts: Buffer[] = [];
  for (let at = 8; at + 8 <= bytes.length;) {
    const end = at + 8 + bytes.readUInt32BE(at);
    if (bytes.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(bytes.subarray(at + 8, end));
    at = end + 4;
  }
  const bits = bytes.readUInt8(24) * (PNG_SAMPLES[bytes.readUInt8(25)] ?? 0);
  const least = Math.ceil((size.width * size.height * bits) / 8);
  try {
    const pixels = await inflated(Buffer.concat(parts), { maxOutputLength: 2 * least + 1024 * 1024 });
    return bits > 0 && pixels.length >= least;
  } catch (error) {
    // More than there have to be.
    return systemCode(error) === "ERR_BUFFER_TOO_LARGE";
  }
}

/** With the type and the base64 text that its bytes have, whatever its sender wrote: providers compare them. */
function asSent(image: ImageContent, bytes: Buffer, mimeType: string): ImageContent {
  const data = bytes.toString("base64");
  return image.mimeType === mimeType && image.data === data ? image : { type: "image", data, mimeType };
}

/** Phone photos (HEIC, AVIF) and TIFF: no provider accepts them, the library converts them to JPEG where it can. */
function isConvertible(bytes: Buffer): boolean {
  const head = bytes.toString("latin1", 0, 12);
  return /^.{4}ftyp(?:avif|avis|heic|heix|mif1|msf1)/s.test(head) || head.startsWith("II*\0") || head.startsWith("MM\0*");
}

const omitted = (why: string): TextContent => ({ type: "text", text: `[image] omitted: ${why}.` });
