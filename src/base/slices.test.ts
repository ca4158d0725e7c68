import { expect, test } from "vitest";
import { createSlices } from "./slices.ts";
import { slowClock, turnsOfOthers } from "./slices.fixture.ts";

test("others get their turn after each slice of a long computation, and only then", async () => {
  const { turns } = await turnsOfOthers(async () => {
    const slices = createSlices(slowClock(), 4);
    for (let step = 0; step < 100; step += 1) if (slices.isOver()) await slices.next();
  });
  // Each look at the clock takes a millisecond: a slice has four of them.
  expect(turns).toBeGreaterThanOrEqual(100 / 5 - 1);
  expect(turns).toBeLessThanOrEqual(100 / 3);
});

test("a short computation is done in one slice", async () => {
  const slices = createSlices({ monotonic: () => 0 });
  expect(Array.from({ length: 1000 }, () => slices.isOver())).not.toContain(true);
});
