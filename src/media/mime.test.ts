import { expect, test } from "vitest";
import { mediaTypeOf } from "./mime.ts";

const bytes = (hex: string): Uint8Array => Buffer.concat([Buffer.from(hex.replaceAll(" ", ""), "hex"), Buffer.alloc(64)]);
const iso = (brand: string): Uint8Array => Buffer.from(`\0\0\0\x18ftyp${brand}\0\0\0\0`, "latin1");

test.each([
  ["a PNG that is called a text", bytes("89504e470d0a1a0a"), "notes.txt", "text/plain", "image/png"],
  ["a program that is called a picture", bytes("7f454c46 00"), "cat.png", "image/png", "application/octet-stream"],
  ["a page that is called a picture", Buffer.from("<html>sign in</html>"), "cat.jpg", "image/jpeg", "text/plain"],
  ["an empty file that is called a film", Buffer.alloc(0), "clip.mp4", "video/mp4", "application/octet-stream"],
  ["a photo of a phone", iso("heic"), "IMG_1.jpg", undefined, "image/heic"],
  ["an AVIF picture", iso("avif"), undefined, undefined, "image/avif"],
  ["a recording of a phone", iso("M4A "), undefined, undefined, "audio/mp4"],
  ["a recording in the container of films", iso("isom"), "memo.m4a", undefined, "audio/mp4"],
  ["a film of an old phone", iso("3gp4"), undefined, undefined, "video/3gpp"],
  ["a Matroska film", Buffer.from("\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x42\x82\x88matroska", "latin1"), undefined, undefined, "video/x-matroska"],
  ["a WebM film", Buffer.from("\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x42\x82\x84webm", "latin1"), undefined, undefined, "video/webm"],
  ["an MP3 without tags", bytes("fff3 40c4"), undefined, undefined, "audio/mpeg"],
  ["a Word file", bytes("504b0304"), "letter.docx", undefined, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  [
    "a Word file without a name",
    Buffer.concat([bytes("504b0304"), Buffer.alloc(40), Buffer.from("word/document.xml")]),
    "report",
    undefined,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ],
  [
    "an OpenDocument text without a name",
    Buffer.concat([Buffer.from("504b0304", "hex"), Buffer.alloc(26), Buffer.from("mimetypeapplication/vnd.oasis.opendocument.textPK")]),
    undefined,
    "application/octet-stream",
    "application/vnd.oasis.opendocument.text",
  ],
  ["an archive that is called a picture", bytes("504b0304"), "cat.png", "image/png", "application/zip"],
  ["a table", Buffer.from("a,b\n1,2\n"), "table.csv", undefined, "text/csv"],
  ["a text with umlauts that nobody names", Buffer.from("grüße"), undefined, undefined, "text/plain"],
])("%s is what its content says", (_name, data, fileName, claim, type) => {
  expect(mediaTypeOf({ data, fileName, claim })).toBe(type);
});
