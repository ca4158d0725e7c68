import { expect, test } from "vitest";
import { bands, comingText, deliveryText, fits, hourCells, resultOf, runNotes, runResult, scheduleText, stateOf, type Job } from "./job-facts.ts";

const NOW = new Date(2026, 0, 15, 9, 20).getTime();
const HOUR = 3_600_000;

test("schedules are said in words where they are of a common kind", () => {
  const text = (expr: string, tz?: string): string => scheduleText({ schedule: { kind: "cron", expr, ...(tz === undefined ? {} : { tz }) } });
  expect(text("0 9 * * 1-5", "Europe/Berlin")).toBe("weekdays at 09:00 (Europe/Berlin)");
  expect(text("5 17 * * *")).toBe("every day at 17:05");
  expect(text("*/5 * * * *")).toBe("every 5 minutes");
  expect(text("* * * * *")).toBe("every minute");
  expect(text("*/7 * * * *")).toBe("*/7 * * * *");
  expect(text("* 9 * * *")).toBe("* 9 * * *");
  expect(text("0 0 9 * * 1-5")).toBe("0 0 9 * * 1-5");
  expect(scheduleText({ schedule: { kind: "every", everyMs: HOUR } })).toBe("every hour");
  expect(scheduleText({ schedule: { kind: "every", everyMs: 90_000 } })).toBe("every 90 seconds");
  expect(scheduleText({ schedule: { kind: "at", at: new Date(NOW + 60_000).toISOString() } }, NOW)).toMatch(/^once, /);
});

test("a job shows that it runs, or how its last run went and why", () => {
  expect(stateOf({ state: { runningAtMs: 1, lastStatus: "error" } })).toEqual({ level: "info", text: "Running" });
  expect(stateOf({ state: {} })).toEqual({ level: "", text: "Never ran" });
  expect(resultOf({ status: "skipped", error: "the previous run was still active" })).toEqual({
    level: "warn",
    text: "Skipped",
    reason: "the previous run was still active",
  });
});

test("a run that has not ended says what it waits for, and a late one by how much", () => {
  expect(runResult({ action: "started" })).toEqual({ level: "info", text: "Running" });
  expect(runResult({ action: "started", waiting: "too many messages wait" })).toEqual({ level: "warn", text: "Waiting", reason: "too many messages wait" });
  expect(runResult({ action: "finished", status: "ok" })).toEqual({ level: "good", text: "OK" });
  expect(runNotes({ lateMs: 3 * 24 * HOUR })).toEqual([expect.stringMatching(/^3.*late$/)]);
  expect(runNotes({ webhook: { state: "failed", error: "status 500" } })).toEqual(["Webhook failed: status 500"]);
  expect(runNotes({ webhook: { state: "unknown", error: "the gateway stopped" } })).toEqual(["Webhook may not have arrived: the gateway stopped"]);
  expect(runNotes({ webhook: { state: "sent" } })).toEqual([]);
});

test("where the result goes is said", () => {
  expect(deliveryText({ sessionTarget: "main" })).toBe("answered in the main session");
  expect(deliveryText({ sessionTarget: "isolated", delivery: { mode: "announce", channel: "telegram", to: "42" } })).toBe("sent to telegram 42");
  expect(deliveryText({ sessionTarget: "isolated", delivery: { mode: "announce" } })).toBe("sent to the last used chat");
  expect(deliveryText({ sessionTarget: "isolated", delivery: { mode: "none" } })).toBe("kept in the job’s session");
});

test("the coming day has an hour for each run, from now on", () => {
  const times = [
    { jobId: "a", atMs: NOW - 60_000 },
    { jobId: "a", atMs: NOW + 60_000 },
    { jobId: "a", atMs: NOW + 120_000 },
    { jobId: "b", atMs: NOW + 24 * HOUR },
    { jobId: "b", atMs: NOW + 25 * HOUR },
  ];
  const cells = hourCells(times, new Map([["a", "Report"]]), NOW);
  expect(cells).toHaveLength(25);
  expect(cells[0]).toEqual({ from: new Date(2026, 0, 15, 9).getTime(), jobs: [{ id: "a", name: "Report", times: [NOW + 60_000, NOW + 120_000] }] });
  expect(cells.slice(1, 24).every(({ jobs }) => jobs.length === 0)).toBe(true);
  expect(cells[24]?.jobs).toEqual([{ id: "b", name: "b", times: [NOW + 24 * HOUR] }]);
  expect(comingText({ runs: 0, jobs: 0, truncated: false })).toBe("Nothing is scheduled in the next 24 hours.");
  expect(comingText({ runs: 5, jobs: 2, truncated: false })).toBe("5 runs of 2 jobs in the next 24 hours.");
});

const pulse: Job = {
  id: "p",
  name: "Pulse",
  enabled: true,
  createdAtMs: 1,
  updatedAtMs: 1,
  schedule: { kind: "every", everyMs: 60_000 },
  sessionTarget: "isolated",
  wakeMode: "now",
  payload: { kind: "agentTurn", message: "Look at the disks" },
  state: {},
};

test("a job that runs often is a band over the hours from its first run to its last", () => {
  const often = [
    { jobId: "p", count: 1440, firstMs: NOW + 1000, lastMs: NOW + 24 * HOUR },
    { jobId: "gone", count: 60, firstMs: NOW + HOUR, lastMs: NOW + HOUR + 60_000 },
  ];
  expect(bands(often, [pulse], NOW)).toEqual([
    { id: "p", name: "Pulse", text: "every minute, 1,440 runs", from: 0, to: 24 },
    { id: "gone", name: "gone", text: "60 runs", from: 1, to: 1 },
  ]);
});

test("jobs are found by words of their name, what they do and when", () => {
  expect(["pulse", "DISKS look", "every minute"].map((words) => fits(pulse, words))).toEqual([true, true, true]);
  expect(fits(pulse, "pulse tape")).toBe(false);
});
