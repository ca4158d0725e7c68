import { expect, test } from "vitest";
import { clip, formatBytes, formatDuration, nearest } from "./text.ts";

test("a misspelled word finds the intended one, an unrelated word finds none", () => {
  const keys = ["agents", "gateway", "channels", "logging"];
  expect(["agnets", "gatway", "Channels", "loging", "zebra", "x"].map((word) => nearest(word, keys))).toEqual([
    "agents",
    "gateway",
    "channels",
    "logging",
    undefined,
    undefined,
  ]);
});

test("sizes and durations read well", () => {
  expect([0, 1023, 1536, 5 * 1024 * 1024, 123 * 1024 ** 3].map(formatBytes)).toEqual(["0 B", "1023 B", "1.5 KB", "5 MB", "123 GB"]);
  // A clock that was set back causes negative durations.
  expect([-259_191_562, 5, 59_000, 61_000, 90_061_000].map(formatDuration)).toEqual(["0ms", "5ms", "59s", "1m 1s", "1d 1h"]);
});

test("a cut text says that it was cut and never ends in half a character", () => {
  expect(clip("abcdef", 3)).toBe("abc…");
  expect(clip("ab😀d", 3)).toBe("ab…");
});
