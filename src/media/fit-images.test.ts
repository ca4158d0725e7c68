import { expect, test } from "vitest";
import { silentLogger } from "../base/log/logger.ts";
import type { ImageContent } from "../protocol/index.ts";
import { createImageFitter } from "./fit-images.ts";
import { imageSize } from "./image-size.ts";

type Format = "png" | "jpeg" | "webp" | "gif";

async function image(width: number, height: number, format: Format = "png", options: object = {}): Promise<ImageContent> {
  const { default: sharp } = await import("sharp");
  const data = await sharp({ create: { width, height, channels: 4, background: { r: 200, g: 20, b: 20, alpha: 0.5 } } })
    .toFormat(format, options)
    .toBuffer();
  return { type: "image", data: data.toString("base64"), mimeType: `image/${format}` };
}

const sizeOf = ({ data }: ImageContent) => imageSize(Buffer.from(data, "base64"));
const fit = (maxSide?: number) => createImageFitter({ maxSide: () => maxSide, log: silentLogger });

test.each<[Format, object]>([
  ["png", {}],
  ["jpeg", {}],
  ["jpeg", { progressive: true }],
  ["gif", {}],
  ["webp", {}],
  ["webp", { lossless: true }],
])("a %s %j that is too large is scaled to the configured side, one that fits stays as it is", async (format, options) => {
  const [large, small] = [await image(1500, 600, format, options), await image(300, 200, format, options)];
  expect([sizeOf(large), sizeOf(small)]).toEqual([
    { width: 1500, height: 600 },
    { width: 300, height: 200 },
  ]);
  const parts = [{ type: "text" as const, text: "see" }, large, small];
  const [said, scaled, same] = await fit()(parts);
  expect([said, same]).toEqual([parts[0], small]);
  expect(scaled).toMatchObject({ type: "image", mimeType: "image/jpeg" });
  expect(sizeOf(scaled as ImageContent)).toEqual({ width: 1200, height: 480 });
  const [smaller] = await fit(100)([large]);
  expect(sizeOf(smaller as ImageContent)).toEqual({ width: 100, height: 40 });
});

test("parts that all fit are given back as they are, without the library", async () => {
  const never = createImageFitter({ maxSide: () => undefined, log: silentLogger, load: () => Promise.reject(new Error("not to be loaded")) });
  const parts = [await image(10, 10)];
  expect(await never(parts)).toBe(parts);
});

test("an image that nobody can make smaller is a text that says so, and one that only has many pixels goes as it is", async () => {
  const missing = createImageFitter({ maxSide: () => 100, log: silentLogger, load: () => Promise.reject(new Error("no binary for this machine")) });
  const wide = await image(300, 10);
  expect(await missing([wide])).toEqual([wide]);
  const heavy: ImageContent = { type: "image", mimeType: "image/png", data: Buffer.alloc(6 * 1024 * 1024, 1).toString("base64") };
  expect(await missing([heavy])).toMatchObject([{ type: "text", text: expect.stringMatching(/^\[image\] omitted: it has 6/) as string }]);
  expect(await fit()([heavy])).toMatchObject([{ type: "text", text: expect.stringContaining("[image] omitted") as string }]);
  expect(await fit()([{ ...heavy, data: "" }])).toMatchObject([{ type: "text", text: "[image] omitted: it is empty." }]);
});

test("an image that claims more pixels than can be decoded is not decoded", async () => {
  const small = await image(10, 10);
  const bytes = Buffer.from(small.data, "base64");
  bytes.writeUInt32BE(100_000, 16);
  bytes.writeUInt32BE(100_000, 20);
  const never = createImageFitter({ maxSide: () => undefined, log: silentLogger, load: () => Promise.reject(new Error("not to be loaded")) });
  expect(await never([{ ...small, data: bytes.toString("base64") }])).toMatchObject([
    { type: "text", text: expect.stringContaining("100000 × 100000") as string },
  ]);
});
