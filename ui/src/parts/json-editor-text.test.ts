import { expect, test } from "vitest";
import { findAll, lineAt, lineEnd, offsetAt } from "./json-editor-text.ts";

test("words are found whatever their case, and nothing is found for no words", () => {
  expect(findAll("Port: 1, port: 2", "port")).toEqual([
    { start: 0, end: 4 },
    { start: 9, end: 13 },
  ]);
  expect(findAll("aaa", "aa")).toHaveLength(1);
  expect(findAll("abc", "")).toEqual([]);
});

test("lines and offsets lead to each other", () => {
  const text = "one\ntwo\n\nfour";
  expect([lineAt(text, 0), lineAt(text, 3), lineAt(text, 4), lineAt(text, text.length)]).toEqual([1, 1, 2, 4]);
  expect([offsetAt(text, 2, 2), offsetAt(text, 3, 9), offsetAt(text, 99), offsetAt(text, 4, 99)]).toEqual([5, 8, 13, 13]);
});

test("a new line keeps the depth of the last and goes deeper behind a bracket", () => {
  expect(lineEnd("  a: 1,", 7)).toBe("\n  ");
  expect(lineEnd("{\n  a: {", 8)).toBe("\n    ");
  expect(lineEnd("{", 0)).toBe("\n");
});
