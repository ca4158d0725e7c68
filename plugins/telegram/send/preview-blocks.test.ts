import { expect, test } from "vitest";
import { inBlocks, pieceLength, type DraftChunk } from "./preview.ts";

const CHUNK: DraftChunk = { minChars: 10, maxChars: 40, breakPreference: "paragraph" };

function setup(chunk = CHUNK) {
  const shown: string[] = [];
  const preview = inBlocks(
    {
      update: (text: string) => Promise.resolve(void shown.push(text)),
      id: () => "1",
      seal: () => Promise.resolve("1"),
      discard: () => Promise.resolve(),
    },
    chunk,
  );
  return { shown, preview };
}

test("nothing is shown before a piece is whole; then the text up to its end", async () => {
  const { shown, preview } = setup();
  for (const text of ["short", "short but growing", "short but growing\n\nand the next"]) await preview.update(text);
  expect(shown).toEqual(["short but growing"]);
  await preview.update("short but growing\n\nand the next one, too\n\nx");
  expect(shown.at(-1)).toBe("short but growing\n\nand the next one, too");
});

test("a text without a break is cut at its longest: at a line, a sentence, a word, and never inside of a character", () => {
  expect(pieceLength("one line here\nand more of it, without any end at all", CHUNK)).toBe("one line here".length);
  expect(pieceLength("A sentence ends. And more of it, without any end", CHUNK)).toBe("A sentence ends.".length);
  expect(pieceLength("words and words and words and words and words", CHUNK)).toBe("words and words and words and words and".length);
  expect(pieceLength("x".repeat(50), CHUNK)).toBe(40);
  expect(pieceLength(`${"x".repeat(39)}🦞🦞`, CHUNK)).toBe(39);
});

test("the preferred break counts before others, and one before the least length does not", () => {
  expect(pieceLength("a\n\nbcdefgh ijklm nopq", CHUNK)).toBe(0);
  expect(pieceLength("A first line\nA second one. A third", { ...CHUNK, breakPreference: "newline" })).toBe("A first line".length);
  expect(pieceLength("A first line\nA second one. A third", { ...CHUNK, breakPreference: "sentence" })).toBe("A first line\nA second one.".length);
});

test("a text that begins again is shown from its start, and an id is passed on", async () => {
  const { shown, preview } = setup();
  await preview.update("the first answer\n\nx");
  await preview.update("another answer\n\nx");
  expect(shown).toEqual(["the first answer", "another answer"]);
  expect(preview.id?.()).toBe("1");
});

test("a text that was taken back goes at once, also when what follows is short", async () => {
  const { shown, preview } = setup();
  await preview.update("the first answer\n\nx");
  await preview.update("…");
  await preview.update("another answer\n\nx");
  expect(shown).toEqual(["the first answer", "…", "another answer"]);
});
