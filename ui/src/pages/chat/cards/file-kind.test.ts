import { expect, test } from "vitest";
import { firstLines, kindOf, textOfBytes, typeName } from "./file-kind.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

test("a file is text by its content, also when its beginning ends within a character", () => {
  expect(textOfBytes(utf8("grün"))).toBe("grün");
  expect(textOfBytes(utf8("grü").subarray(0, 3))).toBe("gr");
  expect(textOfBytes(new Uint8Array([0xff, 0xd8, 0xff]))).toBeUndefined();
  expect(textOfBytes(utf8("a\0b"))).toBeUndefined();
});

test.each([
  ["image/png", utf8(""), "picture"],
  ["image/svg+xml", utf8("<svg>"), "text"],
  ["audio/ogg", utf8(""), "audio"],
  ["text/html", utf8("<p>"), "text"],
  ["application/json", utf8("{}"), "text"],
  ["application/pdf", utf8("%PDF-1.4"), "save"],
  ["application/zip", new Uint8Array([0x50, 0x4b, 0x03, 0x04, 0xff, 0x00]), "save"],
])("%s is shown as it can be", (mimeType, beginning, kind) => expect(kindOf(mimeType, beginning)).toBe(kind));

test("a type is called by the ending of the name, else by its last word", () => {
  expect([typeName("a.pdf", "application/pdf"), typeName("README", "text/plain"), typeName("x.backup-2026", "image/svg+xml")]).toEqual(["PDF", "PLAIN", "SVG"]);
});

test("a preview is the first lines that say something", () => expect(firstLines("\n\none\r\n\ntwo\nthree\nfour")).toBe("one\ntwo\nthree"));
