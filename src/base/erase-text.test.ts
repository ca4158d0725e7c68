import { expect, test } from "vitest";
import { createSpanFinder, createTextMatcher, eraseInJson, eraseTexts } from "./erase-text.ts";

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

test("texts match where JSON escaped them, however often; a text of backslashes matches only itself", () => {
  const matches = createTextMatcher(['the "purple haddock" of C:\\new\\tin']);
  let text = 'It said: THE "purple\nhaddock" of C:\\new\\tin.';
  for (const _ of [1, 2, 3, 4]) {
    expect(matches(text), text).toBe(true);
    text = JSON.stringify({ text });
  }
  expect(createTextMatcher(["m\u00fcller x"])(String.raw`{\"a\":\"m\u00fcller\tx\"}`)).toBe(true);
  expect(matches(String.raw`the \"purple\" haddock of C:\\new\\tin`)).toBe(false);
  expect(createTextMatcher([String.raw`\\\a`])(String.raw`a \ b`)).toBe(false);
});

test("a text that goes on in the next lines is found with all of them; lines are named once", () => {
  const spans = createSpanFinder(["purple haddock lives"]);
  const lines = ["- a purple haddock LIVES", "- the purple", "  haddock", "", "\tlives here", "> purple", "> haddock lives", "- purple", "- haddock lives"];
  expect(spans(lines)).toEqual([
    [0, 0],
    [1, 4],
    [5, 6],
  ]);
  expect(createSpanFinder(["a a"])(["a a a", "a", "b"])).toEqual([[0, 1]]);
  expect(createSpanFinder(["zebra"])(["ze", "bra", ""])).toEqual([]);
});
