import { expect, test } from "vitest";
import { chunksOf, dayOfPath } from "./chunks.ts";

const SIZES = { tokens: 20, overlap: 5 };

test("every line is in a passage, with its number and the headings above it", () => {
  const content = "# Trip\n\nfirst\n\n## Packing\n\n- tent\n- stove\n\n```\n# not a heading\n```\n";
  const passages = chunksOf(content, { tokens: 400, overlap: 80 }, null);
  expect(passages.map(({ first, last, about }) => [first, last, about])).toEqual([
    [1, 3, "Trip"],
    [5, 12, "Trip › Packing"],
  ]);
  expect(passages.map(({ text }) => text).join("\n\n")).toBe(content.trimEnd());
});

test("passages stay below the size, and the next begins with the last lines of the one before", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line number ${index}`);
  const passages = chunksOf(lines.join("\n"), SIZES, null);
  for (const { text } of passages) expect(text.length).toBeLessThanOrEqual(SIZES.tokens * 4);
  for (const [index, passage] of passages.slice(1).entries()) expect(passage.first).toBeLessThanOrEqual(passages[index]!.last);
  expect(new Set(passages.flatMap(({ text }) => text.split("\n")))).toEqual(new Set(lines));
});

test("a line that is too long is cut, nothing of it is lost", () => {
  const line = "x".repeat(500);
  const passages = chunksOf(line, SIZES, null);
  expect(passages.map(({ text }) => text).join("")).toBe(line);
  expect(new Set(passages.map(({ first }) => first))).toEqual(new Set([1]));
});

test("blank text makes no passage", () => {
  expect(chunksOf("\n\n   \n", SIZES, null)).toEqual([]);
});

test("a note named after a day belongs to it", () => {
  expect(dayOfPath("memory/2026-03-01.md")).toBe(Date.UTC(2026, 2, 1, 12) / 1000);
  expect(dayOfPath("memory/2026-03-01-trip.md")).toBe(Date.UTC(2026, 2, 1, 12) / 1000);
  expect(dayOfPath("MEMORY.md")).toBeNull();
});
