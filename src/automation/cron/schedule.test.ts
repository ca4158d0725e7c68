import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { checkSchedule, parseAt, previewTimes, timesOf, type Schedule } from "./schedule.ts";

const NOW = Date.UTC(2026, 0, 15, 12);
const next = (schedule: Schedule, after: string | number, id = "job"): string | undefined => {
  const at = timesOf(schedule, id).next(typeof after === "number" ? after : Date.parse(after));
  return at === undefined ? undefined : new Date(at).toISOString();
};
const nexts = (expr: string, tz: string, after: string, count: number): string[] => {
  const times = timesOf({ kind: "cron", expr, tz, staggerMs: 0 }, "job");
  const found: string[] = [];
  for (let at = times.next(Date.parse(after)); at !== undefined && found.length < count; at = times.next(at))
    found.push(new Date(at).toISOString().slice(0, 16));
  return found;
};

test("a fixed time is read as milliseconds or ISO, and as UTC without a zone", () => {
  expect(parseAt("1768478400000")).toBe(NOW);
  expect(parseAt("2026-01-15T12:00:00Z")).toBe(NOW);
  expect(parseAt("2026-01-15T12:00")).toBe(NOW);
  expect(parseAt("2026-01-15 12:00:00")).toBe(NOW);
  expect(parseAt("2026-01-15T13:00:00+01:00")).toBe(NOW);
  for (const text of ["tomorrow", "", "12:00", "2026-13-40T00:00:00Z"]) expect(parseAt(text)).toBeUndefined();
});

test("fixed times are stored as UTC; those in the past, too far ahead or unreadable are refused", () => {
  expect(checkSchedule({ kind: "at", at: "2026-01-15T13:30:00+01:00" }, NOW)).toEqual({ kind: "at", at: "2026-01-15T12:30:00.000Z" });
  expect(checkSchedule({ kind: "at", at: "2026-01-15T11:59:30Z" }, NOW)).toEqual({ kind: "at", at: "2026-01-15T11:59:30.000Z" });
  expect(() => checkSchedule({ kind: "at", at: "2026-01-15T11:58:00Z" }, NOW)).toThrow("schedule.at is in the past: 2026-01-15T11:58:00.000Z");
  expect(() => checkSchedule({ kind: "at", at: "2037-01-15T11:58:00Z" }, NOW)).toThrow("more than 10 years ahead");
  expect(() => checkSchedule({ kind: "at", at: "soon" }, NOW)).toThrow('schedule.at is not a time: "soon"');
});

test("intervals count from their anchor, strictly after the given time", () => {
  const every: Schedule = { kind: "every", everyMs: 60_000, anchorMs: NOW };
  expect(next(every, NOW)).toBe("2026-01-15T12:01:00.000Z");
  expect(next(every, NOW + 59_999)).toBe("2026-01-15T12:01:00.000Z");
  expect(next(every, NOW + 60_000)).toBe("2026-01-15T12:02:00.000Z");
  expect(next(every, NOW - 1)).toBe("2026-01-15T12:00:00.000Z");
  expect(checkSchedule({ kind: "every", everyMs: 5 }, NOW)).toEqual({ kind: "every", everyMs: 5, anchorMs: NOW });
});

test("bad expressions and zones are refused with their reason", () => {
  for (const expr of ["61 * * * *", "* * *", "every day"])
    expect(() => checkSchedule({ kind: "cron", expr }, NOW)).toThrow(`the schedule ${JSON.stringify(expr)} cannot be used: `);
  expect(() => checkSchedule({ kind: "cron", expr: "0 9 * * *", tz: "Mars/Phobos" }, NOW)).toThrow('in time zone "Mars/Phobos" cannot be used');
  expect(() => checkSchedule({ kind: "cron", expr: "0 9 31 2 *" }, NOW)).toThrow("never matches again");
});

test("full hours are spread by the job's id, unless the schedule says how", () => {
  expect(checkSchedule({ kind: "cron", expr: "0 * * * *" }, NOW)).toMatchObject({ staggerMs: 300_000 });
  expect(checkSchedule({ kind: "cron", expr: "0 0 */2 * * *" }, NOW)).toMatchObject({ staggerMs: 300_000 });
  for (const expr of ["0 9 * * *", "5 * * * *", "30 0 * * * *"]) expect(checkSchedule({ kind: "cron", expr }, NOW)).toEqual({ kind: "cron", expr });
  const offset = createHash("sha256").update("job-1").digest().readUInt32BE(0) % 300_000;
  expect(next({ kind: "cron", expr: "0 * * * *", tz: "UTC", staggerMs: 300_000 }, NOW, "job-1")).toBe(new Date(NOW + offset).toISOString());
  expect(next({ kind: "cron", expr: "0 * * * *", tz: "UTC", staggerMs: 0 }, NOW, "job-1")).toBe("2026-01-15T13:00:00.000Z");
});

test("a preview names its zone, and says by how much a new job is spread; that of a job has its delay in it", () => {
  const hourly: Schedule = { kind: "cron", expr: "0 * * * *", tz: "Asia/Tokyo" };
  expect(previewTimes(hourly, NOW, 2)).toEqual({ times: [NOW + 3_600_000, NOW + 7_200_000], tz: "Asia/Tokyo", spreadMs: 300_000 });
  expect(previewTimes({ ...hourly, staggerMs: 0 }, NOW, 1)).toEqual({ times: [NOW + 3_600_000], tz: "Asia/Tokyo" });
  expect(previewTimes(hourly, NOW, 1, "job-1")).toEqual({ times: [timesOf(hourly, "job-1").next(NOW)], tz: "Asia/Tokyo" });
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect(previewTimes({ kind: "every", everyMs: 60_000, anchorMs: NOW }, NOW, 1)).toEqual({ times: [NOW + 60_000], tz: here });
});

test("an hourly job runs in both passes of a repeated hour, a daily one once", () => {
  expect(nexts("0 * * * *", "America/New_York", "2026-11-01T04:30:00Z", 3)).toEqual(["2026-11-01T05:00", "2026-11-01T06:00", "2026-11-01T07:00"]);
  expect(nexts("30 1 * * *", "America/New_York", "2026-11-01T03:00:00Z", 2)).toEqual(["2026-11-01T05:30", "2026-11-02T06:30"]);
  expect(nexts("30 2 * * *", "Europe/Berlin", "2026-10-24T22:00:00Z", 2)).toEqual(["2026-10-25T00:30", "2026-10-26T01:30"]);
});

test("a daily time inside a skipped hour runs that day all the same", () => {
  const [first, second] = nexts("30 2 * * *", "America/New_York", "2026-03-08T05:00:00Z", 2);
  expect(first?.slice(0, 10)).toBe("2026-03-08");
  expect(second).toBe("2026-03-09T06:30");
});

test("both days given: either matches; last days, n-th weekdays and nicknames are known", () => {
  expect(nexts("0 9 13 * 5", "UTC", "2026-11-01T00:00:00Z", 3)).toEqual(["2026-11-06T09:00", "2026-11-13T09:00", "2026-11-20T09:00"]);
  expect(nexts("0 9 L * *", "UTC", "2026-11-01T00:00:00Z", 1)).toEqual(["2026-11-30T09:00"]);
  expect(nexts("0 9 * * MON#1", "UTC", "2026-11-03T00:00:00Z", 1)).toEqual(["2026-12-07T09:00"]);
  expect(nexts("@daily", "UTC", "2026-11-01T00:00:00Z", 1)).toEqual(["2026-11-02T00:00"]);
});
