import { expect, test } from "vitest";
import { diffLines, hunksOf } from "./diff.ts";

const marks = { same: " ", added: "+", removed: "-" } as const;
const drawn = (before: string, after: string): string[] => diffLines(before, after).map(({ kind, text }) => marks[kind] + text);

test("lines that stay are found between lines that change", () => {
  expect(drawn("a\nb\nc\nd\n", "a\nx\nc\ny\nd\n")).toEqual([" a", "-b", "+x", " c", "+y", " d"]);
});

test("texts that are the same have no change, and the last line end does not count", () => {
  expect(drawn("a\nb\n", "a\nb")).toEqual([" a", " b"]);
  expect(hunksOf(diffLines("a\n", "a\n"))).toEqual([]);
});

test("an empty text has no lines", () => {
  expect(drawn("", "a\n")).toEqual(["+a"]);
  expect(drawn("a\n", "")).toEqual(["-a"]);
});

test("a moved line is taken away once and added once", () => {
  expect(drawn("a\nb\nc", "b\nc\na")).toEqual(["-a", " b", " c", "+a"]);
});

test("lines are numbered on the sides they stand on", () => {
  expect(diffLines("a\nb", "a\nc\nb").map(({ before, after }) => [before, after])).toEqual([
    [1, 1],
    [undefined, 2],
    [2, 3],
  ]);
});

test("far apart changes are shown apart, with what is left out counted", () => {
  const before = Array.from({ length: 30 }, (_, at) => `line ${at}`);
  const after = before.with(2, "second").with(25, "late");
  const hunks = hunksOf(diffLines(before.join("\n"), after.join("\n")), 1);
  expect(hunks.map(({ skipped, lines }) => [skipped, lines.length])).toEqual([
    [1, 4],
    [20, 4],
  ]);
});

test("long texts that have nothing in common are compared without filling the memory", () => {
  const before = Array.from({ length: 3000 }, (_, at) => `old ${at}`).join("\n");
  const after = Array.from({ length: 3000 }, (_, at) => `new ${at}`).join("\n");
  const lines = diffLines(before, after);
  expect(lines.filter(({ kind }) => kind === "removed")).toHaveLength(3000);
  expect(lines.filter(({ kind }) => kind === "added")).toHaveLength(3000);
});
