import { expect, test } from "vitest";
import { mergedText } from "./merge-text.ts";

const BASE = "{\n  // ours\n  a: 1,\n  b: 2,\n  c: 3,\n}\n";

test("comments of both sides stay, and so does what each of them changed", () => {
  const mine = BASE.replace("  a: 1,", "  // why a is 7\n  a: 7,");
  const theirs = BASE.replace("  c: 3,", "  // theirs\n  c: 4,");
  expect(mergedText(BASE, mine, theirs)).toBe("{\n  // ours\n  // why a is 7\n  a: 7,\n  b: 2,\n  // theirs\n  c: 4,\n}\n");
});

test("a comment alone is a change, too", () => {
  expect(mergedText(BASE, BASE.replace("  b: 2,", "  b: 2, // mine"), BASE.replace("a: 1", "a: 5"))).toBe(
    "{\n  // ours\n  a: 5,\n  b: 2, // mine\n  c: 3,\n}\n",
  );
});

test("where both changed the same lines mine are taken; lines that both put in are both there", () => {
  expect(mergedText(BASE, BASE.replace("a: 1", "a: 7"), BASE.replace("a: 1", "a: 5"))).toContain("a: 7");
  const twice = mergedText(BASE, BASE.replace("}", "  // mine\n  x: 1,\n}"), BASE.replace("}", "  x: 2,\n}"));
  expect(twice.match(/ x: \d/g)).toEqual([" x: 1"]);
  const above = mergedText(BASE, BASE.replace("  a: 1,", "  // why\n  a: 1,"), BASE.replace("a: 1", "a: 5"));
  expect(above).toContain("  // why\n  a: 5,");
  const both = mergedText(BASE, BASE.replace("}", "  m: 1,\n}"), BASE.replace("}", "  t: 1,\n}"));
  expect(both).toBe("{\n  // ours\n  a: 1,\n  b: 2,\n  c: 3,\n  t: 1,\n  m: 1,\n}\n");
});

test("what nobody changed, what one side changed, and an empty file", () => {
  const changed = BASE.replace("  b: 2,\n", "");
  expect([mergedText(BASE, BASE, BASE), mergedText(BASE, changed, BASE), mergedText(BASE, BASE, changed)]).toEqual([BASE, changed, changed]);
  expect(mergedText("", "{}\n", "")).toContain("{}");
});
