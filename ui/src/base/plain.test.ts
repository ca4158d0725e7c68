import { expect, test } from "vitest";
import { plain } from "./plain.ts";

test.each([
  ["Two are open: **2026-03** and `x`", "Two are open: 2026-03 and x"],
  ["| Where | What | |---|---| | a | b |", "Where What a b"],
  ["# Title\n\n- one\n- two", "Title one two"],
  ["see [the page](https://example.org/x) now", "see the page now"],
  ["2 * 3 = 6, a_b, 5 > 4", "2 3 = 6, a_b, 5 4"],
])("%j reads as %j in a list", (text, shown) => {
  expect(plain(text)).toBe(shown);
});
