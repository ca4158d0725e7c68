import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createUpgradeLimiter } from "./upgrades.ts";

test("who comes alone goes straight through", async () => {
  const limiter = createUpgradeLimiter(2);
  for (let i = 0; i < 5; i += 1) {
    let entered = false;
    limiter.pass(() => (entered = true));
    expect(entered).toBe(true);
    await nextTurn();
  }
});

test("of a crowd a few go through per turn of the event loop, in the order they came", async () => {
  const limiter = createUpgradeLimiter(2);
  const entered: number[] = [];
  for (let i = 0; i < 5; i += 1) limiter.pass(() => entered.push(i));
  expect(entered).toEqual([0, 1]);
  await nextTurn();
  expect(entered).toEqual([0, 1, 2, 3]);
  // Who comes now is behind those who wait.
  limiter.pass(() => entered.push(5));
  await nextTurn();
  await nextTurn();
  expect(entered).toEqual([0, 1, 2, 3, 4, 5]);
});
