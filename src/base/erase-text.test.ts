import { expect, test } from "vitest";
import { createTextMatcher, eraseInJson, eraseTexts } from "./erase-text.ts";

test("texts match in any case and spacing, and in JSON that is kept as text", () => {
  const matches = createTextMatcher(['The "SAFE"\ncode', " "]);
  expect(['so the "safe"   CODE is', JSON.stringify({ a: 'the "safe"\ncode' }), "the safe code", ""].map(matches)).toEqual([true, true, false, false]);
  expect(createTextMatcher([])("x")).toBe(false);
  expect(createTextMatcher(["\u00e9t\u00e9"])("E\u0301TE\u0301")).toBe(true);
});

test("values keep their form: only texts that match are replaced, keys too", () => {
  const matches = createTextMatcher(["secret"]);
  const value = { a: ["a secret", "b", 1, null, true], nested: { "my secret": { c: "SECRET" } } };
  expect(eraseTexts(value, matches)).toEqual({ a: ["[removed]", "b", 1, null, true], nested: { "[removed]": { c: "[removed]" } } });
  const other = { a: ["b"] };
  expect(eraseTexts(other, matches)).toBe(other);
  expect(eraseInJson('{"a":"b"}', matches)).toBeUndefined();
  expect(eraseInJson("not json, a secret", matches)).toBe('"[removed]"');
});
