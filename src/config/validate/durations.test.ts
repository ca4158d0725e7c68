import { expect, test } from "vitest";
import { parseDuration, parseSize } from "./index.ts";

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["1.5h", 5_400_000],
  [" 7D ", 604_800_000],
  ["0m", 0],
  ["10", 600_000],
  [2, 120_000],
])("the duration %j is %d ms, with minutes where no unit is given", (text, ms) => {
  expect(parseDuration(text, "m")).toBe(ms);
});

test.each(["", "soon", "-5m", "5 weeks", "1h30m", "m", "1e3s", "Infinity", Number.NaN, -1, "0x10"])("%j is no duration", (text) => {
  expect(parseDuration(text, "m")).toBeUndefined();
});

test.each([
  ["512", 512],
  [1024, 1024],
  ["1b", 1],
  ["2k", 2048],
  ["10mb", 10_485_760],
  ["1.5 GB", 1_610_612_736],
  ["1t", 1_099_511_627_776],
])("the size %j is %d bytes", (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(["", "big", "-1kb", "1pb", "10 megabytes"])("%j is no size", (text) => {
  expect(parseSize(text)).toBeUndefined();
});
