import { expect, test } from "vitest";
import { imagesOf, sniffedType } from "./attachments.ts";

const base64 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("base64");
const WEBP = base64("RIFF\x24\x00\x00\x00WEBPVP8 ");

test.each([
  ["image/png", "\x89PNG\r\n\x1a\n...."],
  ["image/jpeg", "\xff\xd8\xff\xe0...."],
  ["image/gif", "GIF89a...."],
  ["image/gif", "GIF87a...."],
  ["image/webp", "RIFF\x24\x00\x00\x00WEBPVP8 "],
  ["audio/wav", "RIFF\x24\x00\x00\x00WAVEfmt "],
  ["application/pdf", "%PDF-1.7"],
  [undefined, "hello world"],
  [undefined, ""],
])("%s is recognised by its first bytes", (type, bytes) => {
  expect(sniffedType(base64(bytes))).toBe(type);
});

test("the content says what it is, not its sender; what is no image is left out", () => {
  expect(imagesOf([{ mimeType: "image/png", content: WEBP }])).toEqual([{ type: "image", mimeType: "image/webp", data: WEBP }]);
  expect(imagesOf([{ mimeType: "text/plain", content: `data:text/plain;base64,${WEBP}` }])).toMatchObject([{ mimeType: "image/webp" }]);
  expect(
    imagesOf([
      { mimeType: "image/png", content: base64("RIFF\x24\x00\x00\x00WAVEfmt ") },
      { mimeType: "image/png", content: base64("%PDF-1.7") },
    ]),
  ).toEqual([]);
  expect(imagesOf([{ mimeType: "image/heic", content: base64("\x00\x01new\xff\x00") }])).toMatchObject([{ mimeType: "image/heic" }]);
  expect(imagesOf([{ mimeType: "image/png", fileName: "cat.png", content: base64("<!doctype html><script>steal()</script>") }])).toEqual([]);
  expect(() => imagesOf([{ mimeType: "image/png", content: "data:image/png;base64," }])).toThrow("is empty");
});
