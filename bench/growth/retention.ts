/** Deleting what is past its time and archiving old transcripts: nobody waits for either, and both keep up with a busy gateway. */
import { closeSync, fdatasyncSync, openSync, readdirSync, statSync, writeSync } from "node:fs";
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
/** On a machine that does other things too, the longest waits tell of those: so long they are looked for without retention. */
const FLOOR_MS = 10_000;
const TAIL = 0.999;

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

const longest = (times: readonly number[]): number =>
  round(
    times.reduce((most, time) => Math.max(most, time), 0),
    1,
  );

/** What the machine itself makes a request wait for: the same requests with nothing beside them, and a file that is appended to and synced. */
async function floorOf(context: BenchContext, store: Store): Promise<Row["facts"]> {
  const alone = await waitsDuring(store, wait(context.quick ? PASS_MS : FLOOR_MS));
  const file = openSync(join(context.folder, "floor"), "w");
  const syncs = Array.from({ length: context.quick ? 20 : 500 }, () => {
    const started = performance.now();
    writeSync(file, Buffer.alloc(4096));
    fdatasyncSync(file);
    return performance.now() - started;
  });
  closeSync(file);
  return {
    "longest without ms": longest(alone),
    "p99.9 without ms": round(quantile(alone, TAIL), 1),
    "append+fdatasync longest ms": longest(syncs),
    "append+fdatasync median ms": round(median(syncs)),
  };
}

function requestsRow(what: string, times: readonly number[], facts: Row["facts"]): Row {
  return {
    name: `growth: longest wait of a store request while ${what}`,
    value: longest(times),
    unit: "ms",
    bar: 20,
    better: "lower",
    facts: { ...facts, requests: times.length, "median ms": round(median(times)), "p99.9 ms": round(quantile(times, TAIL), 1) },
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
  const floor = await floorOf(context, store);
  const { ms, turns: swept, times } = await maintainAll(store);
  const perSecond = swept / (ms / 1000);
  const facts = { turns: swept, "took s": round(ms / 1000, 1) };
  return [
    requestsRow("old rows are deleted", times, { ...facts, ...floor }),
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
  const floor = await floorOf(context, store);
  const { ms, times } = await maintainAll(store, 30 * DAY_MS);
  await store.checkpoint({ truncate: true });
  const after = sizeOf(stateDir);
  const facts = { sessions, entries, "took s": round(ms / 1000, 1) };
  return [
    requestsRow("transcripts are archived", times, { ...facts, ...floor }),
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
