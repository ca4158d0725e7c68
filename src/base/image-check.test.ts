import { expect, test } from "vitest";
import { checkImage, type ImageType } from "./image-check.ts";

async function picture(format: "png" | "jpeg" | "gif" | "webp", options: object = {}): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  const pixels = Buffer.from(Array.from({ length: 40 * 30 * 3 }, (_, at) => (at * 7919) % 251));
  return await sharp(pixels, { raw: { width: 40, height: 30, channels: 3 } })
    .toFormat(format, options)
    .toBuffer();
}

const KINDS: readonly ["png" | "jpeg" | "gif" | "webp", object][] = [
  ["png", {}],
  ["png", { palette: true, progressive: true }],
  ["jpeg", {}],
  ["jpeg", { progressive: true }],
  ["gif", {}],
  ["webp", {}],
  ["webp", { lossless: true }],
  ["webp", { alphaQuality: 50 }],
];

test.each(KINDS)("a complete %s %j passes, also with bytes after its end; a truncated one does not", async (format, options) => {
  const bytes = await picture(format, options);
  const type: ImageType = `image/${format}`;
  expect(checkImage(bytes)).toEqual({ type });
  expect(checkImage(Buffer.concat([bytes, Buffer.alloc(16, 1)]))).toEqual({ type });
  // The last byte of a WebP may be padding; in the others every byte counts.
  const passed = Array.from({ length: bytes.length - 1 }, (_, length) => length).filter(
    (length) => checkImage(bytes.subarray(0, length)).problem === undefined,
  );
  expect(passed).toEqual([]);
});

test("a JPEG with a complete preview and a truncated picture is damaged", async () => {
  const { default: sharp } = await import("sharp");
  const bytes = await picture("jpeg");
  const preview = await sharp(bytes).resize(8).jpeg().toBuffer();
  const length = Buffer.alloc(2);
  length.writeUInt16BE(preview.length + 2);
  const withPreview = Buffer.concat([bytes.subarray(0, 2), Buffer.from([0xff, 0xe1]), length, preview, bytes.subarray(2)]);
  expect(checkImage(withPreview)).toEqual({ type: "image/jpeg" });
  expect(checkImage(withPreview.subarray(0, -20)).problem).toContain("damaged or incomplete");
});

test("a PNG with altered bytes is damaged", async () => {
  const bytes = await picture("png");
  bytes[80] = bytes[80]! ^ 0xff;
  expect(checkImage(bytes)).toEqual({ type: "image/png", problem: "the file is damaged or incomplete" });
});

test.each([
  ["nothing", "", "it is empty"],
  ["a text", "garbage", "it is no PNG, JPEG, GIF or WebP"],
  ["a drawing", "<svg xmlns='http://www.w3.org/2000/svg'/>", "it is no PNG, JPEG, GIF or WebP"],
])("%s is no image", (_name, text, problem) => {
  expect(checkImage(Buffer.from(text))).toEqual({ problem });
});
