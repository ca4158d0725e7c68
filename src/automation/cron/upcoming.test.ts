import { expect, test } from "vitest";
import { slowClock, turnsOfOthers } from "../../base/slices.fixture.ts";
import type { CronJobRow } from "../../store/index.ts";
import { upcomingTimes } from "./upcoming.ts";

const DAY_MS = 86_400_000;

const rowOf = (n: number, schedule: object): CronJobRow => ({
  id: `job-${n}`,
  agentId: "main",
  enabled: true,
  nextRunAt: n * 1000,
  version: 1,
  updatedAt: 0,
  job: { id: `job-${n}`, name: `job ${n}`, schedule, payload: { kind: "agentTurn", message: "hello" } },
});

function upcoming(rows: readonly CronJobRow[], untilMs: number) {
  const read = async (): Promise<never> => rows as never;
  return turnsOfOthers(() => upcomingTimes({ store: { read }, clock: slowClock() }, { untilMs, limit: 2000 }));
}

test("the times of one job over a year are computed in slices", async () => {
  const { result, turns } = await upcoming([rowOf(1, { kind: "cron", expr: "0 9 * * *", tz: "UTC" })], 365 * DAY_MS);
  expect(result).toMatchObject({ runs: 365, jobs: 1 });
  expect(turns).toBeGreaterThan(20);
});

test("what a job that runs every minute comes to is counted in slices", async () => {
  const { result, turns } = await upcoming([rowOf(60, { kind: "cron", expr: "* * * * *", tz: "UTC" })], 30 * DAY_MS);
  expect(result.frequent).toMatchObject([{ count: 30 * 1440 }]);
  expect(turns).toBeGreaterThan(50);
});

test("between the jobs of a long list others get their turn", async () => {
  const rows = Array.from({ length: 300 }, (_, n) => rowOf(n, { kind: "at", at: "2030-01-01T00:00:00Z" }));
  const { result, turns } = await upcoming(rows, DAY_MS);
  expect(result).toMatchObject({ runs: 300, jobs: 300 });
  expect(turns).toBeGreaterThan(20);
});
