import { expect, test } from "vitest";
import { dueRuns } from "./due.ts";
import { timesOf, type Schedule } from "./schedule.ts";

const HOUR = 3_600_000;
const T0 = Date.UTC(2026, 0, 15);
const hourly: Schedule = { kind: "every", everyMs: HOUR, anchorMs: T0 };
const due = (now: number, policy: Pick<Parameters<typeof dueRuns>[0], "missed" | "missedMaxAgeMs"> = {}, planned = T0 + HOUR) => {
  const { run, missed, next } = dueRuns({ schedule: hourly, ...policy }, timesOf(hourly, "job"), planned, now);
  return { run: run.map((at) => (at - T0) / HOUR), missed: missed.map((at) => (at - T0) / HOUR), next: next === undefined ? next : (next - T0) / HOUR };
};

test("a time that has come is run, and the next one is planned", () => {
  expect(due(T0 + HOUR)).toEqual({ run: [1], missed: [], next: 2 });
  expect(due(T0 + HOUR + 60_000, { missed: "skip" })).toEqual({ run: [1], missed: [], next: 2 });
});

test("of missed times the last is made up for, unless the job says otherwise", () => {
  const now = T0 + 4.5 * HOUR;
  expect(due(now)).toEqual({ run: [4], missed: [1, 2, 3], next: 5 });
  expect(due(now, { missed: "skip" })).toEqual({ run: [], missed: [1, 2, 3, 4], next: 5 });
  expect(due(now, { missed: "all" })).toEqual({ run: [1, 2, 3, 4], missed: [], next: 5 });
});

test("what is too old is recorded and not made up for", () => {
  expect(due(T0 + 4.5 * HOUR, { missedMaxAgeMs: 0.4 * HOUR })).toEqual({ run: [], missed: [1, 2, 3, 4], next: 5 });
  expect(due(T0 + 4.5 * HOUR, { missed: "all", missedMaxAgeMs: 2 * HOUR })).toEqual({ run: [3, 4], missed: [1, 2], next: 5 });
});

test("the time that is due right now runs also when earlier ones were missed", () => {
  expect(due(T0 + 4 * HOUR + 1000, { missed: "skip" })).toEqual({ run: [4], missed: [1, 2, 3], next: 5 });
});

test("a fixed time runs however late it is", () => {
  const at: Schedule = { kind: "at", at: new Date(T0).toISOString() };
  expect(dueRuns({ schedule: at, missed: "skip" }, timesOf(at, "job"), T0, T0 + 1000 * HOUR)).toEqual({ run: [T0], missed: [], passed: [], next: undefined });
});

test("after days without a gateway every missed time is recorded, and none is invented", () => {
  expect(due(T0 + 96.5 * HOUR)).toMatchObject({ run: [96], next: 97 });
  expect(due(T0 + 96.5 * HOUR).missed).toHaveLength(95);
  const weekly: Schedule = { kind: "cron", expr: "0 3 * * 3", tz: "UTC", staggerMs: 0 };
  const planned = Date.UTC(2026, 0, 21, 3);
  expect(dueRuns({ schedule: weekly, missedMaxAgeMs: 96 * HOUR }, timesOf(weekly, "job"), planned, planned + 49 * HOUR)).toEqual({
    run: [planned],
    missed: [],
    passed: [],
    next: planned + 7 * 24 * HOUR,
  });
});

test("a clock that jumps ahead by years lists a bounded number of times", () => {
  const everySecond: Schedule = { kind: "every", everyMs: 1000, anchorMs: T0 };
  const found = dueRuns({ schedule: everySecond }, timesOf(everySecond, "job"), T0 + 1000, T0 + 20_000 * HOUR);
  expect(found.run).toHaveLength(1);
  expect(found.missed).toHaveLength(999);
  expect(found.next).toBe(T0 + 20_000 * HOUR + 1000);
});

test("an interval shorter than a second runs once a second, and what a busy machine passes over is not called missed", () => {
  const fast: Schedule = { kind: "every", everyMs: 1, anchorMs: T0 };
  expect(timesOf(fast, "job").next(T0)).toBe(T0 + 1000);
  expect(timesOf({ kind: "every", everyMs: 300, anchorMs: T0 }, "job").next(T0)).toBe(T0 + 1200);
  expect(dueRuns({ schedule: fast }, timesOf(fast, "job"), T0 + 1000, T0 + 3500)).toEqual({
    run: [T0 + 3000],
    missed: [],
    passed: [T0 + 1000, T0 + 2000],
    next: T0 + 4000,
  });
});
