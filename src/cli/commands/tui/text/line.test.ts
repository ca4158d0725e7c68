import { expect, test } from "vitest";
import { clipLine, lineWidth, plainText, span, wrap, wrapText } from "./line.ts";

const rows = (text: string, columns: number, options = {}): string[] => wrapText(text, columns, undefined, options).map(plainText);

test("text wraps between words", () => {
  expect(rows("the quick brown fox", 10)).toEqual(["the quick", "brown fox"]);
  expect(rows("one\n\ntwo", 10)).toEqual(["one", "", "two"]);
});

test("a word that is longer than a line is cut", () => expect(rows("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]));

test("wide characters never stand over the edge", () => {
  for (const line of wrapText("漢字かな漢字かな漢字", 5)) expect(lineWidth(line)).toBeLessThanOrEqual(5);
  expect(rows("漢字かな", 5)).toEqual(["漢字", "かな"]);
});

test("code breaks anywhere and loses nothing", () => {
  const code = "a  b   c    d";
  expect(rows(code, 4, { exact: true }).join("")).toBe(code);
});

test("lines after the first hang under it", () => expect(rows("• one two three four", 12, { indent: 2 })).toEqual(["• one two", "  three four"]));

test("styles go on over a break", () => {
  const bold = { bold: true };
  expect(wrap([span("plain "), span("bold words", bold)], 10)).toEqual([[span("plain "), span("bold", bold)], [span("words", bold)]]);
});

test("tabs take columns", () => expect(rows("\ta", 20)).toEqual(["    a"]));

test("a clipped line fits and says that it goes on", () => {
  const line = clipLine([span("漢字漢字漢字")], 6);
  expect([lineWidth(line) <= 6, plainText(line).endsWith("…")]).toEqual([true, true]);
});
