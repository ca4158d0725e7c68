/** Large states: many sessions, and one long one. What they cost must not follow from what is stored. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { makeAgentPlace, startModel } from "../drivers/agent-place.ts";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import { cpuMs } from "../drivers/process-facts.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, round } from "../stats.ts";
import { makeLargeState, type LargeState } from "./large-state.ts";
import { everyRequest, watchedLoop } from "./every-request.ts";
import { addLargeExtras, type LargeExtras } from "./large-extras.ts";
import { coldRow, commandRow } from "./large-requests.ts";

const ROUNDS = 7;

/** Milliseconds of each call, in the middle. */
async function middle(rounds: number, call: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round_ = 0; round_ < rounds; round_ += 1) {
    const started = performance.now();
    await call();
    times.push(performance.now() - started);
  }
  return round(median(times), 1);
}

const peakMb = (pid: number): number => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** Waits until the indexes of a state that was filled from outside have caught up. */
async function untilIndexed(file: string): Promise<void> {
  for (;;) {
    const db = new DatabaseSync(file, { readOnly: true });
    const { left } = db.prepare("SELECT (SELECT count(*) FROM (SELECT 1 FROM session_unsearched LIMIT 200)) >= 200 AS left").get() as { left: number };
    db.close();
    if (left === 0) return;
    await wait(500);
  }
}

const LARGE: LargeState & LargeExtras = {
  sessions: 100_000,
  entries: 5_000_000,
  agents: 3,
  turns: 100_000,
  long: 40_000,
  compactEvery: 100,
  heavy: { entries: 2000, bytes: 50_000 },
  forked: 500,
  jobs: 1000,
  runsPerJob: 100,
  approvals: 20_000,
  subagents: 20_000,
  senders: 2000,
  deleted: 20_000,
  logBytes: 50_000_000,
  files: 20_000,
  notes: 2000,
};
const SMALL: LargeState & LargeExtras = {
  sessions: 200,
  entries: 2000,
  agents: 3,
  turns: 100,
  long: 400,
  compactEvery: 100,
  heavy: { entries: 20, bytes: 50_000 },
  forked: 120,
  jobs: 50,
  runsPerJob: 5,
  approvals: 50,
  subagents: 50,
  senders: 50,
  deleted: 50,
  logBytes: 100_000,
  files: 200,
  notes: 20,
};

/** Agents of the large state, two that share a workspace, and some to delete. */
function agentsOf(workspace: string): Readonly<Record<string, unknown>> {
  const spare = Array.from({ length: 4 }, (_, n) => ({ id: `spare-${n}` }));
  const list = [{ id: "main", default: true }, { id: "agent-1", workspace }, { id: "agent-2" }, ...spare];
  return { agents: { defaults: { workspace, model: { primary: "mock/m1" } }, list }, logging: { file: join(workspace, "..", "gateway.log") } };
}

async function manySessions(context: BenchContext): Promise<Row[]> {
  using model = await startModel(context);
  const size = context.quick ? SMALL : LARGE;
  const { sessions, entries } = size;
  const empty = await makeAgentPlace(context, "states-empty", model);
  const large = await makeAgentPlace(context, "states-large", model);
  context.say(`  making a state with ${sessions} sessions and ${entries} entries …`);
  const [database, workspace] = [join(large.stateDir, "openclaw.db"), join(context.folder, "states-large", "workspace")];
  await makeLargeState(large.stateDir, size, await context.loadStore());
  addLargeExtras({ database, workspace, logFile: join(context.folder, "states-large", "gateway.log") }, size);
  const starts = { empty: [] as number[], large: [] as number[] };
  for (let n = 0; n < (context.quick ? 1 : ROUNDS); n += 1) {
    for (const [name, place] of [
      ["empty", empty],
      ["large", large],
    ] as const) {
      await using gateway = await place.start();
      starts[name].push(gateway.ready.readyMs);
    }
  }
  const cold = await coldRow(context, empty, large);
  const command = await commandRow(context, "states-empty", "states-large");
  const watched = watchedLoop(context, "states");
  const asked = await makeAgentPlace(context, "states-asked", model, {
    config: agentsOf(workspace),
    env: { ...watched.env, OPENCLAW_STATE_DIR: large.stateDir },
  });
  await using gateway = await asked.start();
  await untilIndexed(database);
  const client = await connectBench(asked.to);
  const before = peakMb(gateway.pid);
  const seen = { includeDerivedTitles: true, includeLastMessage: true };
  const list = await middle(ROUNDS, () => client.request("sessions.list", {}));
  const search = await middle(ROUNDS, () => client.request("sessions.list", { ...seen, limit: 60, search: "mountain violin" }));
  const taken = round(peakMb(gateway.pid) - before, 1);
  client.close();
  const requests = await everyRequest(context, asked.to, { pid: gateway.pid, file: watched.file });
  const facts = { sessions, entries };
  return [
    {
      name: "growth: start with many sessions / with none",
      value: round(median(starts.large) / median(starts.empty)),
      unit: "×",
      bar: 1.5,
      better: "lower",
      facts: { ...facts, "large ms": round(median(starts.large)), "empty ms": round(median(starts.empty)) },
    },
    { name: "growth: sessions.list of many sessions", value: list, unit: "ms", bar: 50, better: "lower", facts },
    { name: "growth: search in many sessions", value: search, unit: "ms", bar: 150, better: "lower", facts },
    { name: "growth: memory taken by lists and searches", value: Math.max(0, taken), unit: "MB", bar: 50, better: "lower", facts },
    cold,
    ...requests,
    command,
  ];
}

/** Processor time of one turn, in the middle of some. */
async function turnCost(pid: number, client: BenchClient, key: string): Promise<number> {
  const costs: number[] = [];
  for (let n = 0; n < ROUNDS; n += 1) {
    const before = cpuMs(pid);
    await client.turn(key, "hello");
    await wait(50);
    costs.push(cpuMs(pid) - before);
  }
  return median(costs);
}

async function longSession(context: BenchContext): Promise<Row[]> {
  using model = await startModel(context);
  const place = await makeAgentPlace(context, "states-long", model);
  const entries = context.quick ? 400 : 40_000;
  await makeLargeState(place.stateDir, { sessions: 4, entries: 80, long: entries, compactEvery: 100 }, await context.loadStore());
  const [short, long] = ["agent:main:webchat:direct:1", "agent:main:long"];
  const first: number[] = [];
  let [shortCost, longCost] = [0, 0];
  // The first start writes the files of both; what counts is a restart.
  for (const counts of [false, true]) {
    await using gateway = await place.start();
    const client = await connectBench(place.to);
    for (let n = 0; n < 5; n += 1) await client.turn("agent:main:webchat:direct:3", "warm up");
    for (const key of [short, long]) {
      const before = cpuMs(gateway.pid);
      await client.turn(key, "hello");
      await wait(50);
      if (counts) first.push(cpuMs(gateway.pid) - before);
    }
    if (counts) [shortCost, longCost] = [await turnCost(gateway.pid, client, short), await turnCost(gateway.pid, client, long)];
    client.close();
  }
  const facts = { entries };
  return [
    {
      name: "growth: first turn of a long session after a restart / of a short one",
      value: round(first[1]! / first[0]!),
      unit: "×",
      bar: 1.5,
      better: "lower",
      facts: { ...facts, "long cpu ms": round(first[1]!, 1), "short cpu ms": round(first[0]!, 1) },
    },
    {
      name: "growth: turn of a long session / of a short one",
      value: round(longCost / shortCost),
      unit: "×",
      bar: 1.5,
      better: "lower",
      facts: { ...facts, "long cpu ms": round(longCost, 1), "short cpu ms": round(shortCost, 1) },
    },
  ];
}

export const states: Measure = {
  name: "growth: states",
  run: async (context) => [...(await manySessions(context)), ...(await longSession(context))],
};
