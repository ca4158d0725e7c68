import { expect, test } from "vitest";
import { manualClock } from "./clock.ts";
import { createDeadlines } from "./deadlines.ts";

function wheel() {
  const clock = manualClock();
  const errors: unknown[] = [];
  return { clock, errors, deadlines: createDeadlines({ clock, onError: (error) => errors.push(error) }) };
}

test("a deadline fires once, not early and at most one tick late", () => {
  const { clock, deadlines } = wheel();
  const fired: number[] = [];
  deadlines.after(95, () => fired.push(clock.monotonic()));
  clock.advance(94);
  expect(fired).toEqual([]);
  clock.advance(11);
  clock.advance(1000);
  expect(fired).toEqual([100]);
});

test("deadlines fire in the order they fall due, whatever order they were set in", () => {
  const { clock, deadlines } = wheel();
  const order: number[] = [];
  for (const ms of [500, 20, 300, 20, 1000, 10]) deadlines.after(ms, () => order.push(ms));
  clock.advance(2000);
  expect(order).toEqual([10, 20, 20, 300, 500, 1000]);
  expect(deadlines.size).toBe(0);
});

test("a cancelled deadline never fires, and cancelling twice changes nothing", () => {
  const { clock, deadlines } = wheel();
  const fired: string[] = [];
  const a = deadlines.after(50, () => fired.push("a"));
  deadlines.after(50, () => fired.push("b"));
  a[Symbol.dispose]();
  a[Symbol.dispose]();
  expect(deadlines.size).toBe(1);
  clock.advance(100);
  expect(fired).toEqual(["b"]);
  expect(deadlines.size).toBe(0);
});

test("one deadline's failure is reported and does not keep the others from firing", () => {
  const { clock, deadlines, errors } = wheel();
  const fired: string[] = [];
  deadlines.after(10, () => {
    throw new Error("boom");
  });
  deadlines.after(10, () => fired.push("next"));
  clock.advance(10);
  expect([fired, errors.length]).toEqual([["next"], 1]);
});

test("a deadline set while another fires still fires", () => {
  const { clock, deadlines } = wheel();
  const fired: string[] = [];
  deadlines.after(10, () => void deadlines.after(10, () => fired.push("second")));
  clock.advance(10);
  clock.advance(10);
  expect(fired).toEqual(["second"]);
});

test("closing cancels everything", () => {
  const { clock, deadlines } = wheel();
  const fired: string[] = [];
  deadlines.after(10, () => fired.push("never"));
  deadlines[Symbol.dispose]();
  clock.advance(100);
  expect(fired).toEqual([]);
});

test("a deadline cancelled by another of the same tick does not fire", () => {
  const { clock, deadlines } = wheel();
  const fired: string[] = [];
  deadlines.after(10, () => second[Symbol.dispose]());
  const second = deadlines.after(10, () => fired.push("second"));
  clock.advance(10);
  expect([fired, deadlines.size]).toEqual([[], 0]);
});
