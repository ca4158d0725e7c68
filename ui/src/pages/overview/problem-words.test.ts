import { expect, test } from "vitest";
import { problemWords } from "./problem-words.ts";

test("a known sentence of the gateway is said with its values, and what is not known stays", () => {
  for (const text of [
    "Fix this, then run openclaw channels status --probe to check.",
    "The plugin weather is not running: line 1\nline 2",
    "Change it on line 12 of /home/me/openclaw.json.",
    "telegram (default): not connected",
    "Something that no version says",
  ])
    expect(problemWords(text)).toBe(text);
  expect(problemWords('The scheduled job "Frost" failed 3 times in a row: timeout')).toBe("The scheduled job “Frost” failed 3 times in a row: timeout");
});
