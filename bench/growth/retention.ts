/** Deleting what is past its time and archiving old transcripts: nobody waits for either, and both keep up with a busy gateway. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import type { Store } from "../../src/store/index.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";
import { makeLargeState } from "./large-state.ts";

const DAY_MS = 86_400_000;
/** As the app does it: so long at a time, and a pause of the same length. */
const PASS_MS = 500;

/** Asks the store one thing after the other while something else goes on, and how long each took. Reads: a commit also waits for the disk. */
async function waitsDuring(store: Store, work: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  const state = { isOver: false };
  const ended = work.finally(() => (state.isOver = true));
  while (!state.isOver || times.length < 100) {
    const started = performance.now();
    await store.read("sessions.get", { key: `agent:main:webchat:direct:${times.length % 100}` });
    times.push(performance.now() - started);
    await wait(1);
  }
  await ended;
  return times;
}

/** Passes with pauses until nothing is left; what they took together, pauses included. */
async function maintainAll(store: Store, archiveMs?: number): Promise<{ readonly ms: number; readonly turns: number; readonly times: readonly number[] }> {
  const started = performance.now();
  let turns = 0;
  const times: number[] = [];
  for (;;) {
    const pass = store.maintain({ budgetMs: PASS_MS, policy: { compressMs: archiveMs } });
    times.push(...(await waitsDuring(store, pass)));
    const { done, deleted } = await pass;
    turns += deleted["turns"] ?? 0;
    if (done) return { ms: performance.now() - started, turns, times };
    await wait(PASS_MS);
  }
}

/** Nearly all: on a machine that does other things too, the very longest waits tell of those. */
const TAIL = 0.999;

function requestsRow(what: string, times: readonly number[], facts: Row["facts"]): Row {
  return {
    name: `growth: store requests while ${what}, p99.9`,
    value: round(quantile(times, TAIL), 1),
    unit: "ms",
    bar: 20,
    better: "lower",
    facts: { ...facts, requests: times.length, "median ms": round(median(times)), "longest ms": round(Math.max(...times), 1) },
  };
}

async function sweeps(context: BenchContext): Promise<Row[]> {
  const { openStore } = await context.loadStore();
  const [sessions, entries, turns] = context.quick ? [50, 500, 500] : [1000, 10_000, 120_000];
  const stateDir = join(context.folder, "retention");
  context.say(`  making a state with ${turns} turns that are past their time …`);
  const now = systemClock.now() - 500 * DAY_MS;
  await makeLargeState(stateDir, { sessions, entries, turns, turnEveryMs: 1000, now }, { openStore });
  await using store = await openStore({ stateDir, clock: systemClock });
  const idle = await waitsDuring(store, wait(PASS_MS));
  const { ms, turns: swept, times } = await maintainAll(store);
  const perSecond = swept / (ms / 1000);
  const facts = { turns: swept, "took s": round(ms / 1000, 1) };
  return [
    requestsRow("old rows are deleted", times, { ...facts, "p99.9 without ms": round(quantile(idle, TAIL), 1) }),
    {
      name: "growth: turns that retention deletes",
      value: round(perSecond, 0),
      unit: "/s",
      bar: 100,
      better: "higher",
      facts: { ...facts, "turns a day": Math.round((perSecond * DAY_MS) / 1000) },
    },
  ];
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) => (entry.isFile() ? sum + statSync(join(entry.parentPath, entry.name)).size : sum),
    0,
  );

async function archive(context: BenchContext): Promise<Row[]> {
  const { openStore } = await context.loadStore();
  const [sessions, entries] = context.quick ? [20, 400] : [4000, 200_000];
  const stateDir = join(context.folder, "archive");
  await makeLargeState(stateDir, { sessions, entries, now: systemClock.now() - 60 * DAY_MS }, { openStore });
  await using store = await openStore({ stateDir, clock: systemClock });
  const transcripts = await store.read("transcripts.list", { limit: sessions });
  // The first use of a transcript writes its file.
  for (const { file } of transcripts) await store.read("transcripts.get", { file });
  await store.checkpoint({ truncate: true });
  const before = sizeOf(stateDir);
  const { ms, times } = await maintainAll(store, 30 * DAY_MS);
  await store.checkpoint({ truncate: true });
  const after = sizeOf(stateDir);
  const facts = { sessions, entries, "took s": round(ms / 1000, 1) };
  return [
    requestsRow("transcripts are archived", times, facts),
    {
      name: "growth: size of archived transcripts / before",
      value: round(after / before),
      unit: "×",
      bar: 0.4,
      better: "lower",
      facts: { ...facts, "before MB": round(before / 1e6, 1), "after MB": round(after / 1e6, 1) },
    },
  ];
}

export const retention: Measure = {
  name: "growth: retention",
  run: async (context) => [...(await sweeps(context)), ...(await archive(context))],
};
