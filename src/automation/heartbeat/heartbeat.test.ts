import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { openStore } from "../../store/index.ts";
import { createLazyHeartbeat } from "../lazy-heartbeat.ts";
import type { HeartbeatEvent } from "./beat.ts";

const SOON = { interval: 5 };
const MAIN = "agent:main:main";

/** Heartbeats over a real store, at 7:58 with active hours from 8, and an agent that answers at once. */
async function openLab() {
  const stateDir = mkdtempSync(join(tmpdir(), "heartbeat-"));
  const clock = manualClock(Date.UTC(2026, 0, 15, 7, 58));
  const store = await openStore({ stateDir, clock });
  const events: HeartbeatEvent[] = [];
  const asked: string[] = [];
  /** When it was decided whether a beat runs. */
  const looked: number[] = [];
  const config = { current: { agents: { defaults: { heartbeat: { every: "0m", activeHours: { start: "08:00", end: "22:00", timezone: "UTC" } } } } } };
  const heartbeat = createLazyHeartbeat({
    config,
    store,
    clock,
    log: silentLogger,
    times: () => [],
    runs: {
      async accept({ runId, message }, also = []) {
        await store.commit([...also, ["injections.drain", { sessionKey: MAIN, turnId: runId }]]);
        asked.push(message);
        return { runId, duplicate: false };
      },
      outcome: async () => ({ status: "ok", text: "", sessionId: "s", durationMs: 1 }),
    },
    isBusy() {
      looked.push(clock.now());
      return false;
    },
    workspace: () => stateDir,
    notReady: async () => undefined,
    emit: (event) => void events.push(event),
    isSeen: () => false,
    done: () => {},
  });
  await heartbeat.start();
  return {
    clock,
    heartbeat,
    events,
    asked,
    looked,
    /** Queues a line that is to be acted on at once. */
    async wake(text: string): Promise<void> {
      const payload = { wake: "wake", now: true };
      await store.write("injections.add", { id: text, sessionKey: MAIN, pluginId: "system", placement: "system-event", text, payload });
      heartbeat.wake({ sessionKey: MAIN, reason: "wake" });
    },
    async [Symbol.asyncDispose]() {
      heartbeat[Symbol.dispose]();
      await store[Symbol.asyncDispose]();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

test("what came in outside the active hours is acted on when they begin, also where nothing beats by itself", async () => {
  await using lab = await openLab();
  await lab.wake("the bell rang");
  const passing = (ms: number) => () => {
    lab.clock.advance(ms);
    return lab.events.map(({ reason, status }) => reason ?? status);
  };
  await expect.poll(passing(250), SOON).toEqual(["quiet-hours"]);
  expect(lab.asked).toEqual([]);
  await expect.poll(passing(10_000), SOON).toEqual(["quiet-hours", "ok-empty"]);
  expect(lab.asked).toEqual([expect.stringMatching(/^The system line above has just arrived[^]*8:0\d AM/)]);
});

test("what came in while heartbeats were off is acted on when they are on again", async () => {
  await using lab = await openLab();
  lab.clock.advance(3_600_000);
  lab.heartbeat.setEnabled(false);
  await lab.wake("the bell rang");
  await expect.poll(() => (lab.clock.advance(250), lab.looked.length), SOON).toBe(1);
  expect(lab.asked).toEqual([]);
  lab.heartbeat.setEnabled(true);
  await expect.poll(() => (lab.clock.advance(250), lab.asked.length), SOON).toBe(1);
});
