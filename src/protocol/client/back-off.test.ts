import { expect, test } from "vitest";
import { backOff } from "./client.ts";

test("waits double up to the maximum", () => {
  expect([0, 1, 2, 3, 4, 100].map((attempt) => backOff(attempt, { firstMs: 100, maxMs: 1000 }, () => 0))).toEqual([100, 200, 400, 800, 1000, 1000]);
});

test("jitter takes away up to half", () => {
  expect(backOff(0, { firstMs: 100 }, () => 0.5)).toBe(75);
  expect(backOff(0, { firstMs: 100 }, () => 0.999_999)).toBe(50);
});
