import { expect, test } from "vitest";
import { cleanTitle } from "./name-session.ts";

test.each([
  ['"Plan a trip to Trieste."', "Plan a trip to Trieste"],
  ["**Backup of photos**\nMore text", "Backup of photos"],
  ["  # Invoice:  March  ", "Invoice: March"],
  ["„Rechnung für März“", "Rechnung für März"],
  ["", ""],
  ["word ".repeat(30), `${"word ".repeat(12).trim()}…`],
])("%j becomes %j", (said, title) => {
  expect(cleanTitle(said)).toBe(title);
});
