import { expect, test } from "vitest";
import { lazy } from "./lazy.ts";

test("it is created once, also for concurrent callers", async () => {
  let made = 0;
  const get = lazy(() => Promise.resolve(++made));
  expect(get.started()).toBeUndefined();
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
  expect(await get.started()).toBe(1);
});

test("a failure reaches the waiting callers; the next call tries again", async () => {
  let attempt = 0;
  const get = lazy(async () => {
    attempt += 1;
    if (attempt === 1) throw new Error("too many open files");
    return attempt;
  });
  const both = await Promise.allSettled([get(), get()]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(get.started()).toBeUndefined();
  expect(await get()).toBe(2);
});
