import { expect, test } from "vitest";
import { manualClock } from "./clock.ts";
import { createMemoryCare } from "./memory-care.ts";

function createCare() {
  const clock = manualClock();
  const state = { busy: false, held: 100, inUse: 20, released: 0 };
  const release = (): void => {
    state.released += 1;
    state.held = state.inUse;
  };
  const care = createMemoryCare({ clock, isBusy: () => state.busy, heldBytes: () => state.held, release, leastBytes: 50, muchBytes: 80 });
  return { clock, state, care };
}

test("memory is released when the process is idle, and not while it is busy", () => {
  const { clock, state, care } = createCare();
  clock.advance(10_000);
  state.busy = true;
  care.touched();
  clock.advance(2_000);
  expect(state.released).toBe(0);
  state.busy = false;
  clock.advance(200);
  expect(state.released).toBe(1);
});

test("nothing is released while activity continues", () => {
  const { clock, state, care } = createCare();
  clock.advance(10_000);
  for (let n = 0; n < 20; n += 1) {
    care.touched();
    clock.advance(300);
  }
  expect(state.released).toBe(0);
  clock.advance(500);
  expect(state.released).toBe(1);
});

test("it runs rarely, and only when there is something to release", () => {
  const { clock, state, care } = createCare();
  clock.advance(10_000);
  care.touched();
  clock.advance(500);
  state.held = 100;
  care.touched();
  clock.advance(1_000);
  expect(state.released).toBe(1);
  clock.advance(1_500);
  expect(state.released).toBe(2);
  state.held = 10;
  care.touched();
  clock.advance(20_000);
  expect(state.released).toBe(2);
});

test("a moderate amount is released after half a minute of idleness, not in the pauses of a conversation", () => {
  const { clock, state, care } = createCare();
  state.held = 60;
  clock.advance(10_000);
  for (let n = 0; n < 5; n += 1) {
    care.touched();
    clock.advance(20_000);
  }
  expect(state.released).toBe(0);
  clock.advance(10_000);
  expect(state.released).toBe(1);
  state.held = 60;
  care.touched();
  clock.advance(1_000);
  state.held = 110;
  care.touched();
  clock.advance(29_000);
  expect(state.released).toBe(2);
});

test("memory in use does not count: only growth since the last release does", () => {
  const { clock, state, care } = createCare();
  Object.assign(state, { held: 300, inUse: 200 });
  clock.advance(10_000);
  care.touched();
  clock.advance(1_000);
  expect(state.released).toBe(1);
  for (let n = 0; n < 5; n += 1) {
    state.held = 240;
    care.touched();
    clock.advance(20_000);
  }
  expect(state.released).toBe(1);
  state.held = 280;
  care.touched();
  clock.advance(1_000);
  expect(state.released).toBe(2);
  care.touched();
  clock.advance(60_000);
  expect(state.released).toBe(2);
});

test("the engine releases what it holds", () => {
  const clock = manualClock();
  const held = (): number => process.memoryUsage().heapTotal;
  let waste: unknown[] | undefined = Array.from({ length: 400_000 }, (_, n) => ({ n, text: `text ${n}` }));
  expect(waste).toHaveLength(400_000);
  const before = held();
  waste = undefined;
  using care = createMemoryCare({ clock, isBusy: () => false, leastBytes: 0, muchBytes: 0 });
  clock.advance(10_000);
  care.touched();
  clock.advance(1_000);
  expect(held()).toBeLessThan(before - 10 * 1024 * 1024);
});

test("garbage from loading is released once, at the first idle moment, however little it is", () => {
  const { clock, state, care } = createCare();
  state.held = 10;
  clock.advance(10_000);
  care.tidy();
  state.busy = true;
  clock.advance(1_000);
  expect(state.released).toBe(0);
  state.busy = false;
  clock.advance(500);
  expect(state.released).toBe(1);
  care.touched();
  clock.advance(60_000);
  expect(state.released).toBe(1);
});
