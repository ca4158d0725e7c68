import { expect, it } from "vitest";
import { adviceFor } from "./advice.ts";

it.each([
  ["401 Unauthorized: invalid x-api-key", /key/],
  ["401 Unauthorized: invalid x-api-key", /rejected/],
  ['openai/m1: No API key found for provider "openai". Auth store: /s/auth-profiles.json', /no key for this provider yet/],
  ["429 Too Many Requests", /Wait a moment/],
  ["prompt is too long: 210000 tokens", /Compact/],
  ["the model did not answer: timed out", /timed out/],
  ["fetch failed: ECONNREFUSED 127.0.0.1:11434", /reached/],
  ["something else", /trace/],
])("says what to do about %s", (error, advice) => {
  expect(adviceFor(error).text).toMatch(advice);
});
