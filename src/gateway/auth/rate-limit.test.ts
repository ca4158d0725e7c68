import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createFailureBudget } from "./rate-limit.ts";
import { DEFAULT_RATE_LIMIT } from "./settings.ts";

function budgetWith(over: Partial<typeof DEFAULT_RATE_LIMIT> = {}) {
  const clock = manualClock();
  return { clock, budget: createFailureBudget(() => ({ ...DEFAULT_RATE_LIMIT, ...over }), clock) };
}

test("the tenth failure within a minute locks an address out for five minutes", () => {
  const { clock, budget } = budgetWith();
  for (let n = 0; n < 9; n += 1) budget.fail("a");
  expect(budget.lockedFor("a")).toBeUndefined();
  budget.fail("a");
  expect(budget.lockedFor("a")).toBe(300_000);
  clock.advance(299_999);
  expect(budget.lockedFor("a")).toBe(1);
  clock.advance(1);
  expect(budget.lockedFor("a")).toBeUndefined();
});

test("failures leave the window one by one", () => {
  const { clock, budget } = budgetWith({ maxAttempts: 3 });
  budget.fail("a");
  clock.advance(30_000);
  budget.fail("a");
  clock.advance(30_000);
  budget.fail("a");
  expect(budget.lockedFor("a")).toBeUndefined();
  budget.fail("a");
  expect(budget.lockedFor("a")).toBe(300_000);
});

test("after a lockout the count restarts, and guesses during it do not make it longer", () => {
  const { clock, budget } = budgetWith({ maxAttempts: 2 });
  for (let n = 0; n < 50; n += 1) budget.fail("a");
  clock.advance(300_000);
  budget.fail("a");
  expect(budget.lockedFor("a")).toBeUndefined();
});

test("addresses do not share their failures", () => {
  const { budget } = budgetWith({ maxAttempts: 1 });
  budget.fail("a");
  expect(budget.lockedFor("b")).toBeUndefined();
});

test("a million addresses take no more memory than ten thousand", () => {
  const { budget } = budgetWith({ maxAttempts: 1 });
  for (let n = 0; n < 1_000_000; n += 1) budget.fail(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
  expect(budget.size).toBeLessThanOrEqual(10_000);
  expect(budget.lockedFor("10.15.66.63")).toBe(300_000);
  expect(budget.lockedFor("10.0.0.0")).toBeUndefined();
});

test("an address that keeps failing is not forgotten while others come and go", () => {
  const { clock, budget } = budgetWith();
  for (let n = 0; n < 10; n += 1) {
    budget.fail("a");
    for (let other = 0; other < 4000; other += 1) budget.fail(`${n}:${other}`);
    clock.advance(1000);
  }
  expect(budget.lockedFor("a")).toBe(299_000);
});
