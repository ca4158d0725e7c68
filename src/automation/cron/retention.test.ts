import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, type ManualClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log/logger.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { openStore, type Store } from "../../store/index.ts";
import { createRetention, type Retention } from "./retention.ts";

const HOUR = 3_600_000;
const T0 = Date.UTC(2026, 0, 15, 12);
let stateDir: string;
let store: Store;
let clock: ManualClock;
let config: { current: OpenClawConfig };
let retention: Retention;

beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "oc-retention-"));
  clock = manualClock(T0);
  store = await openStore({ stateDir, clock });
  config = { current: {} };
  retention = createRetention({ config, store, clock, log: silentLogger, removeSession: (key) => store.write("sessions.delete", { key }) });
  await store.write("cron.job.put", { id: "kept", job: {}, enabled: true, nextRunAt: null });
  for (const key of ["cron:kept", "cron:kept:run:s1", "cron:gone", "main"]) {
    await store.write("sessions.put", { key: `agent:main:${key}`, agentId: "main", entry: { sessionId: key, updatedAt: T0 } });
  }
  await store.write("sessions.put", { key: "agent:main:cron:fresh", agentId: "main", entry: { sessionId: "f", updatedAt: T0 + 20 * HOUR } });
});
afterEach(async () => {
  await retention.close();
  await store[Symbol.asyncDispose]();
  rmSync(stateDir, { recursive: true, force: true });
});

const ALL = ["cron:fresh", "cron:gone", "cron:kept", "cron:kept:run:s1", "main"];
const left = async (): Promise<readonly string[]> =>
  (await store.read("sessions.list", { order: "key" })).rows.map(({ key }) => key.replace("agent:main:", ""));
async function sweep(): Promise<readonly string[]> {
  await retention.sweep();
  return left();
}

test("after a day the sessions of jobs that are gone are removed, and those of jobs stay", async () => {
  clock.advance(25 * HOUR);
  expect(await sweep()).toEqual(["cron:fresh", "cron:kept", "main"]);
});

test("nothing is removed before its time, nor when sessions are to stay", async () => {
  clock.advance(23 * HOUR);
  expect(await sweep()).toEqual(ALL);
  config.current = { cron: { sessionRetention: false } };
  clock.advance(2000 * HOUR);
  expect(await sweep()).toEqual(ALL);
});

test("a shorter retention counts, and old sessions are looked for every five minutes at most", async () => {
  config.current = { cron: { sessionRetention: "1h" } };
  clock.advance(HOUR - 100_000);
  expect(await sweep()).toEqual(ALL);
  clock.advance(200_000);
  expect(await sweep()).toEqual(ALL);
  clock.advance(100_000);
  expect(await sweep()).toEqual(["cron:fresh", "cron:kept", "main"]);
});
