import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createCalendar, type Per } from "./budgets.ts";

const at = (text: string): number => Date.parse(text);

test.each<[zone: string, per: Per, now: string, name: string, from: string, to: string]>([
  ["UTC", "day", "2026-11-15T08:00:00Z", "2026-11-15", "2026-11-15T00:00:00Z", "2026-11-16T00:00:00Z"],
  ["Europe/Vienna", "day", "2026-07-14T22:30:00Z", "2026-07-15", "2026-07-14T22:00:00Z", "2026-07-15T22:00:00Z"],
  ["Europe/Vienna", "month", "2026-07-31T22:30:00Z", "2026-08", "2026-07-31T22:00:00Z", "2026-08-31T22:00:00Z"],
  // The day has 23 hours, then 25.
  ["Europe/Vienna", "day", "2026-03-29T12:00:00Z", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
  ["Europe/Vienna", "day", "2026-10-25T12:00:00Z", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
  // Clocks went from midnight to one: the day began at one.
  ["America/Sao_Paulo", "day", "2018-11-04T12:00:00Z", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"],
  // Clocks went from midnight back to eleven.
  ["America/Sao_Paulo", "day", "2018-02-18T12:00:00Z", "2018-02-18", "2018-02-18T03:00:00Z", "2018-02-19T03:00:00Z"],
  ["Asia/Kathmandu", "day", "2026-01-01T18:20:00Z", "2026-01-02", "2026-01-01T18:15:00Z", "2026-01-02T18:15:00Z"],
  ["America/New_York", "month", "2026-12-31T23:00:00-05:00", "2026-12", "2026-12-01T05:00:00Z", "2027-01-01T05:00:00Z"],
])("in %s the %s at %s is %s", (zone, per, now, name, from, to) => {
  expect(createCalendar(zone).period(per, at(now))).toEqual({ name, from: at(from), to: at(to) });
});

test("an invalid time zone is replaced by the machine's", () => {
  const machine = Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect([createCalendar("Mars/Olympus").timeZone, createCalendar(undefined).timeZone, createCalendar(" ").timeZone]).toEqual([machine, machine, machine]);
});

test("every moment is in its period, and periods follow each other without gaps", () => {
  const zones = ["UTC", "Europe/Vienna", "America/St_Johns", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Beirut", "Pacific/Chatham"];
  const calendars = zones.map(createCalendar);
  fc.assert(
    fc.property(
      fc.constantFrom(...calendars),
      fc.constantFrom<Per>("day", "month"),
      fc.integer({ min: at("2000-01-01"), max: at("2040-01-01") }),
      (calendar, per, now) => {
        const period = calendar.period(per, now);
        expect(period.from).toBeLessThanOrEqual(now);
        expect(period.to).toBeGreaterThan(now);
        expect(calendar.period(per, period.from)).toEqual(period);
        expect(calendar.period(per, period.to).from).toBe(period.to);
      },
    ),
  );
});
