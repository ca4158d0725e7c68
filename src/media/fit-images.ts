import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { messageOf, systemCode } from "../base/errors.ts";
import { checkImage, DAMAGED } from "../base/image-check.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import { formatBytes } from "../base/text.ts";
import type { ImageContent, TextContent } from "../protocol/index.ts";
import { createConverters } from "./converters.ts";
import { imageSize, type ImageSize } from "./image-size.ts";
import { loadSharp, MAX_PIXELS, resizeToJpeg, type Sharp } from "./images.ts";
import { mediaTypeOf } from "./mime.ts";

const DEFAULT_IMAGE_SIDE = 1200;
/** Largest image that models accept. */
const MAX_BYTES = 5 * 1024 * 1024;
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
  /** Where programs are looked for that convert what the library cannot read. Default: none are. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Makes images ready to be sent to a model: complete, of a supported type, and small enough. Every inbound image passes through it. */
export interface ImageFitter {
  /** The parts with images that fit; a damaged one, or one that cannot be made to fit, becomes a note. The same list when all fit. */
  <P extends ImageContent | TextContent>(parts: readonly P[]): Promise<readonly (P | ImageContent | TextContent)[]>;
}

export function createImageFitter({ maxSide, log, load = loadSharp, env = {} }: ImageFitterDeps): ImageFitter {
  const library = lazy(load);
  const sharp = (): Promise<Sharp | undefined> =>
    library().catch((error: unknown) => {
      log.warn(`images are not scaled: the library that does it cannot be loaded here (${messageOf(error)})`);
      return undefined;
    });

  /** Photos of phones may need a program to be read. */
  async function converted(sharp: Sharp, bytes: Buffer): Promise<Buffer> {
    const converters = createConverters({ env, warn: (text) => log.warn(text), load: () => Promise.resolve(sharp) });
    return (await converters.toJpeg(bytes, mediaTypeOf({ data: bytes })))?.data ?? bytes;
  }

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
      const readable = type === undefined ? await converted(found, bytes) : bytes;
      return (await scaled(found, readable, Math.min(side, longest || side))) ?? omitted("it could not be made small enough");
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
    const data = await resizeToJpeg(sharp, bytes, { maxSide: most, quality });
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

/** Photos of phones and scanners: no provider accepts them, the library or a program converts them to JPEG where it can. */
const CONVERTIBLE: ReadonlySet<string> = new Set(["image/heic", "image/heif", "image/avif", "image/tiff", "image/bmp"]);

const isConvertible = (bytes: Buffer): boolean => CONVERTIBLE.has(mediaTypeOf({ data: bytes }));

const omitted = (why: string): TextContent => ({ type: "text", text: `[image] omitted: ${why}.` });
