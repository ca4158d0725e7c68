import { expect, test } from "vitest";
import { sizeOfFiles, fitted, fittingFiles, keptFiles, MAX_FILES, messageWith, takeFiles, type AttachedFile } from "./composer-files.ts";

const text = (name: string, content: string | Uint8Array<ArrayBuffer>, type = "") => new File([content], name, { type });

test("a large picture keeps its proportions when it is made smaller, a small one its size", () => {
  expect(fitted(3136, 1568)).toEqual({ width: 1568, height: 784 });
  expect(fitted(300, 200)).toEqual({ width: 300, height: 200 });
  expect(fitted(100_000, 1)).toEqual({ width: 1568, height: 1 });
});

test("files go beside the message, texts among them: the gateway reads and marks them", async () => {
  const { taken, refused } = await takeFiles(
    [text("a.toml", "x = 1"), text("b.ts", "x", "video/mp2t"), text("c.pdf", "%PDF-1", "application/pdf"), text("none.txt", "")],
    0,
  );
  expect(taken).toEqual([
    { kind: "file", name: "a.toml", bytes: 5, mimeType: "application/octet-stream", data: "eCA9IDE=" },
    { kind: "file", name: "b.ts", bytes: 1, mimeType: "application/octet-stream", data: "eA==" },
    { kind: "file", name: "c.pdf", bytes: 6, mimeType: "application/pdf", data: "JVBERi0x" },
  ]);
  expect(refused).toEqual(["none.txt is empty."]);
  expect(messageWith(" look ", taken.slice(0, 1))).toEqual({
    text: "look",
    attachments: [{ type: "file", mimeType: "application/octet-stream", fileName: "a.toml", content: "eCA9IDE=" }],
  });
});

test("a file that is too large is refused with the limit", async () => {
  const { refused } = await takeFiles([text("all.bin", new Uint8Array(5_000_001))], 0);
  expect(refused).toEqual([expect.stringContaining("all.bin is 5 MB; the limit is 5 MB per file")]);
});

test("a small picture goes as it is", async () => {
  const { taken } = await takeFiles([text("dot.png", new Uint8Array([1, 2, 3]), "image/png")], 0);
  expect(taken).toEqual([{ kind: "image", name: "dot.png", bytes: 3, mimeType: "image/png", data: "AQID" }]);
});

test("more files than a message takes are left out and said so", async () => {
  const files = Array.from({ length: 4 }, (_, at) => text(`${at}.txt`, "x"));
  const { taken, refused } = await takeFiles(files, MAX_FILES - 3);
  expect(taken).toHaveLength(3);
  expect(refused).toEqual(["A message can have up to 8 files; 1 were not attached."]);
});

test("files come back as they were kept; what is none, or of another version, is left out", () => {
  const files = [
    { kind: "file", name: "a.md", bytes: 3, mimeType: "text/markdown", data: "AQID" },
    { kind: "image", name: "p.png", bytes: 3, mimeType: "image/png", data: "AQID" },
  ] as const;
  expect(keptFiles([...files, { kind: "image", name: "p.png", bytes: 3 }, { kind: "sound", name: "x", bytes: 1, text: "" }, null, "a"])).toEqual(files);
  expect([keptFiles(undefined), keptFiles({}), keptFiles("text")]).toEqual([[], [], []]);
  expect(keptFiles(Array.from({ length: MAX_FILES + 1 }, () => files[0]))).toHaveLength(MAX_FILES);
  expect(sizeOfFiles(files)).toBe(8);
});

test("files that the gateway does not take together are left out, with the size that they would make and the limit", () => {
  const file = (name: string, letters: number): AttachedFile => ({ kind: "file", name, bytes: 1, mimeType: "a/b", data: "A".repeat(letters) });
  const have = { text: "look", files: [file("a", 40_000)], limit: 100_000 };
  const { taken, refused } = fittingFiles([file("b", 40_000), file("c", 40_000), file("d", 1000)], have);
  expect(taken.map(({ name }) => name)).toEqual(["b", "d"]);
  expect(refused).toEqual([
    "c was not attached. With this file, the message would be 122.2 kB when sent; the gateway accepts up to 100 kB, about 75 kB of files.",
  ]);
  expect(fittingFiles([file("b", 4_000_000)], { ...have, limit: undefined }).taken).toHaveLength(1);
});
