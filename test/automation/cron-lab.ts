/** Scheduled jobs over a real store, with a clock that tests move and an agent that answers at once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { loadCron, type Cron, type CronEvent, type NewJob } from "../../src/automation/index.ts";
import { manualClock, type Clock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { sessionMessage } from "../../src/conversation/index.ts";
import { systemEventWrite } from "../../src/gateway/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { createMemoryResponder, type MemoryResponder } from "../harness/memory-responder.ts";

export const HOUR = 3_600_000;
type CronReach = NonNullable<Parameters<Awaited<ReturnType<typeof loadCron>>["createCron"]>[0]["reach"]>;
export const T0 = Date.UTC(2026, 0, 15, 12);

export interface CronLab extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly responder: MemoryResponder;
  readonly events: CronEvent[];
  /** Lines that wait for the next turn of the main session. */
  notes(): Promise<readonly string[]>;
  readonly config: { current: OpenClawConfig };
  /** Jobs whose next run was planned for another time, and that time in hours after T0. */
  readonly scheduled: (readonly [name: string, hours: number])[];
  /** What was logged as a warning. */
  readonly warnings: string[];
  /** How webhooks are reached. */
  reach: CronReach | undefined;
  /** A process of the gateway, as far as jobs are concerned. */
  open(wall?: Clock): Promise<Cron>;
  /** Moves time on, and lets everything that is due happen. */
  pass(ms: number): Promise<void>;
  /** Status and time of finished runs, in hours after T0. */
  finished(): readonly (readonly [string | undefined, number])[];
  /** Resolves when so many runs have finished. */
  ended(count: number): Promise<void>;
}

export const isolated = (message: string, more: Partial<NewJob> = {}): NewJob => ({
  name: "report",
  schedule: { kind: "every", everyMs: HOUR },
  sessionTarget: "isolated",
  wakeMode: "now",
  payload: { kind: "agentTurn", message },
  delivery: { mode: "none" },
  ...more,
});

type CronParts = Parameters<Awaited<ReturnType<typeof loadCron>>["createCron"]>[0];

/** With runs or ids of the caller's own, where it has some. */
export async function openCronLab(own: Partial<Pick<CronParts, "runs" | "ids">> = {}): Promise<CronLab> {
  const stateDir = mkdtempSync(join(tmpdir(), "oc-cron-"));
  const clock = manualClock(T0);
  const store = await openStore({ stateDir, clock });
  const responder = createMemoryResponder(clock);
  const events: CronEvent[] = [];
  const config: { current: OpenClawConfig; resolveSecret(secret: unknown): Promise<string> } = {
    current: {},
    resolveSecret: async (secret) => String(secret),
  };
  const scheduled: [string, number][] = [];
  const warnings: string[] = [];
  const { ids = createIds(seededRandom(7)), runs = responder } = own;
  const finished = (): readonly (readonly [string | undefined, number])[] =>
    events.filter(({ action }) => action === "finished").map(({ status, runAtMs }) => [status, ((runAtMs ?? 0) - T0) / HOUR] as const);
  async function pass(ms: number): Promise<void> {
    clock.advance(ms);
    for (let round = 0; round < 8; round += 1) {
      await store.read("cron.job.earliest", {});
      await new Promise(setImmediate);
      clock.advance(0);
    }
  }
  const lab: CronLab = {
    clock,
    store,
    responder,
    events,
    notes: async () => (await store.read("injections.waiting", { sessionKey: "agent:main:main", now: clock.now() })).map(({ text }) => text),
    config,
    scheduled,
    warnings,
    reach: undefined,
    pass,
    finished,
    async open(wall = clock) {
      const { createCron } = await loadCron();
      const opened = createCron({
        config,
        store,
        clock: wall,
        ids,
        log: { ...silentLogger, warn: (message) => void warnings.push(message) },
        ...(lab.reach ? { reach: lab.reach } : {}),
        runs,
        note: (event) => systemEventWrite({ config, ids }, event).write,
        async post({ sessionKey, agentId, text }) {
          const writes = await sessionMessage({ store, ids, clock }, { sessionKey, agentId }, text);
          return writes && { writes, posted() {} };
        },
        runnable: (text) => text,
        emit: (event) => void events.push(event),
        scheduled: ({ name, state }) => void scheduled.push([name, ((state.nextRunAtMs ?? 0) - T0) / HOUR]),
        disabledBy: () => (config.current.cron?.enabled === false ? "cron.enabled" : undefined),
      });
      await opened.start();
      return opened;
    },
    async ended(count) {
      await expect.poll(async () => (await pass(0), finished().length)).toBe(count);
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
  return lab;
}
