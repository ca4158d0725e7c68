import { expect, test } from "vitest";
import { fileSize, fitted, fittingFiles, keptFiles, MAX_FILES, messageWith, takeFiles, type AttachedFile } from "./composer-files.ts";

const text = (name: string, content: string | Uint8Array<ArrayBuffer>, type = "") => new File([content], name, { type });

test("a large picture keeps its proportions when it is made smaller, a small one its size", () => {
  expect(fitted(3136, 1568)).toEqual({ width: 1568, height: 784 });
  expect(fitted(300, 200)).toEqual({ width: 300, height: 200 });
  expect(fitted(100_000, 1)).toEqual({ width: 1568, height: 1 });
});

test("short text goes into the message whatever it is called; other files go beside it", async () => {
  const { taken, refused } = await takeFiles([text("a.toml", "x = 1"), text("b.pdf", new Uint8Array([0xff, 0, 1]), "application/pdf")], 0);
  expect(taken).toEqual([
    { kind: "text", name: "a.toml", bytes: 5, text: "x = 1" },
    { kind: "file", name: "b.pdf", bytes: 3, mimeType: "application/pdf", data: "/wAB" },
  ]);
  expect(refused).toEqual([]);
  expect(messageWith("", taken).attachments).toEqual([{ type: "file", mimeType: "application/pdf", fileName: "b.pdf", content: "/wAB" }]);
});

test("text that would fill the model's memory goes beside the message, and a file that is too large is refused with the limit", async () => {
  const { taken, refused } = await takeFiles([text("log.txt", "x".repeat(200_001), "text/plain"), text("all.bin", new Uint8Array(5_000_001))], 0);
  expect(taken).toMatchObject([{ kind: "file", name: "log.txt", bytes: 200_001 }]);
  expect(refused).toEqual([expect.stringContaining("all.bin is 5 MB; a file may have 5 MB")]);
});

test("a small picture goes as it is", async () => {
  const { taken } = await takeFiles([text("dot.png", new Uint8Array([1, 2, 3]), "image/png")], 0);
  expect(taken).toEqual([{ kind: "image", name: "dot.png", bytes: 3, mimeType: "image/png", data: "AQID" }]);
});

test("more files than a message takes are left out and said so", async () => {
  const files = Array.from({ length: 4 }, (_, at) => text(`${at}.txt`, "x"));
  const { taken, refused } = await takeFiles(files, MAX_FILES - 3);
  expect(taken).toHaveLength(3);
  expect(refused).toEqual(["A message takes 8 files; 1 were left out."]);
});

test("text files stand behind the message in fences that they cannot close", () => {
  const sent = messageWith(" look ", [
    { kind: "text", name: "a.md", bytes: 1, text: "```js\n1\n```\n" },
    { kind: "image", name: "p.png", bytes: 3, mimeType: "image/png", data: "AQID" },
  ]);
  expect(sent.text).toBe("look\n\na.md:\n````\n```js\n1\n```\n````");
  expect(sent.attachments).toEqual([{ type: "image", mimeType: "image/png", fileName: "p.png", content: "AQID" }]);
});

test("files come back as they were kept; what is none, or of another version, is left out", () => {
  const files = [
    { kind: "text", name: "a.md", bytes: 1, text: "four" },
    { kind: "image", name: "p.png", bytes: 3, mimeType: "image/png", data: "AQID" },
  ] as const;
  expect(keptFiles([...files, { kind: "image", name: "p.png", bytes: 3 }, { kind: "sound", name: "x", bytes: 1, text: "" }, null, "a"])).toEqual(files);
  expect([keptFiles(undefined), keptFiles({}), keptFiles("text")]).toEqual([[], [], []]);
  expect(keptFiles(Array.from({ length: MAX_FILES + 1 }, () => files[0]))).toHaveLength(MAX_FILES);
  expect(files.map(fileSize)).toEqual([4, 4]);
});

test("files that the gateway does not take together are left out, with the size that they would make and the limit", () => {
  const file = (name: string, letters: number): AttachedFile => ({ kind: "file", name, bytes: 1, mimeType: "a/b", data: "A".repeat(letters) });
  const have = { text: "look", files: [file("a", 40_000)], limit: 100_000 };
  const { taken, refused } = fittingFiles([file("b", 40_000), file("c", 40_000), file("d", 1000)], have);
  expect(taken.map(({ name }) => name)).toEqual(["b", "d"]);
  expect(refused).toEqual(["c was left out. With it the message would be 122.2 kB as it is sent; the gateway takes 100 kB, which is about 75 kB of files."]);
  expect(fittingFiles([file("b", 4_000_000)], { ...have, limit: undefined }).taken).toHaveLength(1);
});
