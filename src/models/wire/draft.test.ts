import { expect, test } from "vitest";
import { priced } from "./draft.ts";

test("the cost of a call is the sum of its parts; caching for an hour costs more", () => {
  const prices = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  const tokens = { input: 1_000_000, output: 2_000_000, cacheRead: 1_000_000, cacheWrite: 1_000_000 };
  expect(priced(tokens, prices).cost).toEqual({ input: 3, output: 30, cacheRead: 0.3, cacheWrite: 3.75, total: 37.05 });
  const { cost, ...counted } = priced({ ...tokens, longCacheWrite: 1_000_000 }, prices);
  expect(cost.cacheWrite).toBeCloseTo(6);
  expect(counted).toEqual({ ...tokens, totalTokens: 5_000_000 });
});
