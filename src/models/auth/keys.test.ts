import { expect, test } from "vitest";
import { keysInRotation, wantsNextKey } from "./keys.ts";

test("the first choice, the list, the variable and its numbered ones, each once", () => {
  const env = { OPENAI_API_KEYS: "a, b;c\nd", OPENAI_API_KEY: "b", OPENAI_API_KEY_2: "f", OPENAI_API_KEY_1: "e", OTHER_API_KEY: "x" };
  expect(keysInRotation("openai", env, "first")).toEqual(["first", "a", "b", "c", "d", "e", "f"]);
});

test("a key for live tests is used alone", () => {
  expect(keysInRotation("openai", { OPENCLAW_LIVE_OPENAI_KEY: " live ", OPENAI_API_KEY: "b" }, "first")).toEqual(["live"]);
});

test("Google has two variables, Anthropic's list another name", () => {
  expect(keysInRotation("google", { GEMINI_API_KEY: "g", GOOGLE_API_KEY: "h" })).toEqual(["g", "h"]);
  expect(keysInRotation("anthropic", { OPENCLAW_LIVE_ANTHROPIC_KEYS: "a b", ANTHROPIC_API_KEYS: "ignored", ANTHROPIC_API_KEY: "c" })).toEqual(["a", "b", "c"]);
});

test.each([
  ["429 Too Many Requests", true],
  ["rate_limit_error", true],
  ["Quota exceeded for this day", true],
  ["RESOURCE_EXHAUSTED", true],
  ["401 invalid key", false],
  ["order 4290 not found", false],
])("%s: the next key? %s", (words, next) => expect(wantsNextKey(words)).toBe(next));
