import { expect, it } from "vitest";
import { adviceFor } from "./advice.ts";

it.each([
  ["401 Unauthorized: invalid x-api-key", /key/],
  ["429 Too Many Requests", /Wait a moment/],
  ["prompt is too long: 210000 tokens", /Compact/],
  ["the model did not answer: timed out", /too long/],
  ["fetch failed: ECONNREFUSED 127.0.0.1:11434", /reached/],
  ["something else", /trace/],
])("says what to do about %s", (error, advice) => {
  expect(adviceFor(error).text).toMatch(advice);
});
