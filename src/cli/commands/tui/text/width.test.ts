import { expect, test } from "vitest";
import { fit, graphemes, textWidth } from "./width.ts";

test.each([
  ["hello", 5],
  ["", 0],
  ["naïve", 5],
  ["e\u0301", 1],
  ["漢字", 4],
  ["かな", 4],
  ["한글", 4],
  ["ｆｕｌｌ", 8],
  ["ﾊﾝｶｸ", 5 - 1],
  ["✅", 2],
  ["🦞", 2],
  ["👩‍👩‍👧", 2],
  ["👍🏽", 2],
  ["🇨🇭", 2],
  ["❤\ufe0f", 2],
  ["❤", 1],
  ["─│┌", 3],
  ["नमस्ते", 3],
  ["🇨🇭a漢", 5],
  ["\u{20000}", 2],
])("%s takes %i columns", (text, columns) => {
  expect(textWidth(text)).toBe(columns);
});

test("graphemes are what a reader takes for one character", () => {
  expect(graphemes("a👩‍👩‍👧e\u0301漢")).toEqual(["a", "👩‍👩‍👧", "e\u0301", "漢"]);
});

test("text is cut between characters, never in the middle of a wide one", () => {
  expect(fit("hello", 5)).toBe("hello");
  expect(fit("hello world", 6)).toBe("hello…");
  expect(fit("漢字漢字", 4)).toBe("漢…");
  expect(fit("👩‍👩‍👧👩‍👩‍👧", 3)).toBe("👩‍👩‍👧…");
  expect(fit("x", 0)).toBe("");
});
