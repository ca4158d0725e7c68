import { crc32 } from "node:zlib";
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

test("parts that all fit are returned unchanged, without the library", async () => {
  const never = createImageFitter({ maxSide: () => undefined, log: silentLogger, load: () => Promise.reject(new Error("not to be loaded")) });
  const parts = [await image(10, 10)];
  expect(await never(parts)).toBe(parts);
});

test("an image that cannot be reduced is replaced by a note, and one that only has many pixels is sent unchanged", async () => {
  const missing = createImageFitter({ maxSide: () => 100, log: silentLogger, load: () => Promise.reject(new Error("no binary for this machine")) });
  const wide = await image(300, 10);
  expect(await missing([wide])).toEqual([wide]);
  const heavyBytes = Buffer.concat([Buffer.from(wide.data, "base64"), Buffer.alloc(6 * 1024 * 1024, 1)]);
  const heavy: ImageContent = { ...wide, data: heavyBytes.toString("base64") };
  expect(await missing([heavy])).toMatchObject([{ type: "text", text: expect.stringMatching(/^\[image\] omitted: it has 6/) as string }]);
  const noise: ImageContent = { ...wide, data: Buffer.alloc(6 * 1024 * 1024, 1).toString("base64") };
  expect(await fit()([noise])).toMatchObject([{ type: "text", text: expect.stringContaining("[image] omitted") as string }]);
  expect(await fit()([{ ...heavy, data: "" }])).toMatchObject([{ type: "text", text: "[image] omitted: it is empty." }]);
});

test("an image that claims too many pixels is not decoded", async () => {
  const small = await image(10, 10);
  const bytes = Buffer.from(small.data, "base64");
  bytes.writeUInt32BE(100_000, 16);
  bytes.writeUInt32BE(100_000, 20);
  const never = createImageFitter({ maxSide: () => undefined, log: silentLogger, load: () => Promise.reject(new Error("not to be loaded")) });
  expect(await never([{ ...small, data: bytes.toString("base64") }])).toMatchObject([
    { type: "text", text: expect.stringContaining("100000 × 100000") as string },
  ]);
});

test.each<[string, (whole: ImageContent) => ImageContent, string]>([
  ["is cut off", (whole) => ({ ...whole, data: Buffer.from(whole.data, "base64").subarray(0, 60).toString("base64") }), "damaged or incomplete"],
  ["is a text", () => ({ type: "image", mimeType: "image/png", data: "Z2FyYmFnZQ==" }), "no PNG, JPEG, GIF or WebP"],
  ["is no base64", () => ({ type: "image", mimeType: "image/png", data: "%%%" }), "it is empty"],
])("a small image that %s is a text that says so", async (_name, damage, why) => {
  expect(await fit()([damage(await image(50, 40))])).toEqual([{ type: "text", text: expect.stringContaining(why) as string }]);
});

test("an image is sent with the type and base64 text of its bytes", async () => {
  const whole = await image(50, 40);
  for (const written of [
    { ...whole, mimeType: "image/jpeg" },
    { ...whole, data: `data:image/png;base64,${whole.data}` },
    { ...whole, data: whole.data.replace(/=+$/, "") },
  ]) {
    expect(await fit()([written])).toEqual([whole]);
  }
});

const DAMAGED = [{ type: "text", text: expect.stringContaining("damaged or incomplete") as string }];

test.each<Format>(["png", "jpeg", "gif", "webp"])("a %s that is cut off is left out, whatever its size", async (format) => {
  for (const [width, height] of [
    [300, 200],
    [1500, 1400],
  ] as const) {
    const whole = await image(width, height, format);
    const bytes = Buffer.from(whole.data, "base64");
    expect(await fit()([{ ...whole, data: bytes.subarray(0, Math.floor(bytes.length * 0.8)).toString("base64") }])).toEqual(DAMAGED);
  }
});

test.each([
  [300, 200],
  [1500, 1400],
])("a PNG of %i × %i with right checksums that lacks pixels is left out", async (width, height) => {
  const whole = await image(width, height);
  const bytes = Buffer.from(whole.data, "base64");
  const at = bytes.indexOf("IDAT") - 4;
  const length = Math.floor(bytes.readUInt32BE(at) / 2);
  const part = Buffer.from(bytes.subarray(at, at + 12 + length));
  part.writeUInt32BE(length);
  part.writeUInt32BE(crc32(part.subarray(4, 8 + length)), 8 + length);
  const end = bytes.subarray(bytes.indexOf("IEND") - 4);
  expect(await fit()([{ ...whole, data: Buffer.concat([bytes.subarray(0, at), part, end]).toString("base64") }])).toEqual(DAMAGED);
});

test("an image type that no provider accepts is converted", async () => {
  const { default: sharp } = await import("sharp");
  const data = await sharp({ create: { width: 30, height: 20, channels: 3, background: "#123456" } })
    .tiff()
    .toBuffer();
  const [shown] = await fit()([{ type: "image", mimeType: "image/tiff", data: data.toString("base64") }]);
  expect(shown).toMatchObject({ type: "image", mimeType: "image/jpeg" });
});
