import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import type { Logger } from "../base/log/logger.ts";
import type { MaintenanceReport } from "./retention.ts";
import type { Store } from "./store.ts";
import { retentionOf, scheduleMaintenance } from "./maintenance.ts";

function lab(reports: readonly MaintenanceReport[]) {
  const clock = manualClock();
  const logged: string[] = [];
  const note = (message: string): void => void logged.push(message);
  let passes = 0;
  const store = { maintain: async () => reports[Math.min(passes++, reports.length - 1)]! } as unknown as Store;
  const log = { debug: note, info: note, warn: note } as unknown as Logger;
  const job = scheduleMaintenance({ store, clock, log, config: () => ({}), expireFiles: async () => ({}) });
  return { clock, logged, job, passes: () => passes };
}
const nothing = { deleted: {}, pagesFreed: 0 };

test("passes follow one another while something is left, and say when they are behind and when no longer", async () => {
  const behind = { table: "inbox", lateMs: 3 * 86_400_000 };
  const { clock, logged, job, passes } = lab([
    { ...nothing, done: false, behind },
    { ...nothing, done: false, behind },
    { ...nothing, done: false },
    { ...nothing, done: true },
  ]);
  clock.advance(60_000);
  for (const count of [1, 2, 3, 4]) {
    await expect.poll(passes).toBe(count);
    // The pause between two passes, far less than the hour between two rounds.
    await expect.poll(() => (clock.advance(500), passes()), { interval: 5 }).toBeGreaterThanOrEqual(Math.min(4, count + 1));
  }
  await expect.poll(() => logged).toEqual(["retention is behind; it continues until it has caught up", "retention has caught up", "maintenance done"]);
  job[Symbol.dispose]();
});

test("with nothing left the next round is an hour later", async () => {
  const { clock, logged, job, passes } = lab([{ ...nothing, done: true }]);
  clock.advance(60_000);
  await expect.poll(() => logged).toEqual(["maintenance done"]);
  clock.advance(59 * 60_000);
  expect(passes()).toBe(1);
  clock.advance(60_000);
  await expect.poll(passes).toBe(2);
  job[Symbol.dispose]();
});

test("transcripts are archived only when the configuration says after how many days", () => {
  expect(retentionOf({})).toEqual({});
  expect(retentionOf({ store: { retention: { archiveDays: 30 } } })).toEqual({ compressMs: 30 * 86_400_000 });
});
