/** Scaling and conversion of images. `sharp` is loaded with the first one. */
import type sharpLibrary from "sharp";

export { imageSize } from "./image-size.ts";

export type Sharp = typeof sharpLibrary;

/** Larger ones are not decoded: an image of a few bytes can claim any size. */
export const MAX_PIXELS = 100_000_000;

export async function loadSharp(): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  return sharp;
}

interface JpegOptions {
  readonly maxSide: number;
  readonly quality: number;
  /** Default true. */
  readonly withoutEnlargement?: boolean | undefined;
}

/** Upright, on white, without what cameras write about the place. */
export async function resizeToJpeg(sharp: Sharp, bytes: Uint8Array, { maxSide, quality, withoutEnlargement = true }: JpegOptions): Promise<Buffer> {
  return sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "truncated" })
    .autoOrient()
    .resize({ width: maxSide, height: maxSide, fit: "inside", withoutEnlargement })
    .flatten({ background: "#ffffff" })
    .jpeg({ quality })
    .toBuffer();
}

const SIDES = [2048, 1536, 1280, 1024, 800, 512, 320] as const;
const QUALITIES = [80, 60, 40] as const;

/** A smaller image within the limit: a PNG where it has transparent parts and that is small enough, else a JPEG. Undefined: none of the steps is small enough. */
export async function shrinkImage(
  sharp: Sharp,
  bytes: Uint8Array,
  maxBytes: number,
): Promise<{ readonly data: Buffer; readonly mimeType: string } | undefined> {
  const { hasAlpha } = await sharp(bytes, { limitInputPixels: MAX_PIXELS }).metadata();
  const isOpaque = !hasAlpha || (await sharp(bytes, { limitInputPixels: MAX_PIXELS }).stats()).isOpaque;
  for (const side of isOpaque ? [] : SIDES) {
    const data = await sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "truncated" })
      .autoOrient()
      .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
      .png({ compressionLevel: 9, palette: true })
      .toBuffer();
    if (data.length <= maxBytes) return { data, mimeType: "image/png" };
  }
  for (const maxSide of SIDES) {
    for (const quality of QUALITIES) {
      const data = await resizeToJpeg(sharp, bytes, { maxSide, quality });
      if (data.length <= maxBytes) return { data, mimeType: "image/jpeg" };
    }
  }
  return undefined;
}
