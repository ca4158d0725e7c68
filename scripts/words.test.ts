import { expect, test } from "vitest";
import { findingsIn, judge } from "./words.ts";

const found = (text: string, path = "src/base/x.ts"): readonly (readonly [number, string])[] => findingsIn(path, text).map(({ line, word }) => [line, word]);

test.each([
  ["an identifier", "const toldLine = 1;", [[1, "told"]]],
  ["a type after capitals", "interface IRCDesk {}", [[1, "desk"]]],
  ["a constant", "const MAX_ROOMS = 3;", [[1, "rooms"]]],
  [
    "a comment and a text, each in its line",
    '// anew\nthrow new Error("somebody else");',
    [
      [1, "anew"],
      [2, "somebody"],
    ],
  ],
  [
    "two words, each once",
    "whoever is told what whoever was told",
    [
      [1, "whoever"],
      [1, "told"],
    ],
  ],
  ["two parts that are avoided together", "const placeOfChat = placeOf(chat);", [[1, "placeOf"]]],
])("a word is found in %s", (_, text, expected) => expect(found(text)).toEqual(expected));

test("a word is found in a file's name", () => expect(found("", "src/agent/told.ts")).toEqual([[0, "told"]]));

test.each(["mushroom, fatal, desktop, bedrooms", "place of work", "a chat room", 'channels: ["#my-room"]', "https://t.me/news_room"])("%s is allowed", (text) =>
  expect(found(text)).toEqual([]),
);

test("a finding says what to write instead", () => expect(findingsIn("src/a.ts", "desk")[0]?.instead).toContain("dispatcher"));

test("unfinished folders are passed over, and named once nothing is left in them", () => {
  const findings = [...findingsIn("src/app/a.ts", "told"), ...findingsIn("src/application/a.ts", "told")];
  const { rejected, finished } = judge(findings, ["src/app", "src/tools"]);
  expect(rejected.map(({ path }) => path)).toEqual(["src/application/a.ts"]);
  expect(finished).toEqual(["src/tools"]);
});
