import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { makeAgentPlace, NOTE, startBareTurns, startModel, type BareTurns, type BenchModel } from "../drivers/agent-place.ts";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import type { BenchPlace } from "../drivers/gateway-process.ts";
import { cpuMs, residentMb } from "../drivers/process-facts.ts";
import { bareNodeMs } from "../drivers/startup.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";
import { fill } from "./big-state.ts";
import { rawAppends } from "./store.ts";

/** What is asked, of whom. */
interface Talk {
  readonly client: BenchClient;
  readonly model: BenchModel;
}

/** Turns and the bare calls beside them, in milliseconds. */
interface Times {
  readonly turns: number[];
  readonly bare: number[];
  /** Each turn without what its calls of the model cost bare. */
  readonly overhead: number[];
}

/** Turns in a block where two things are compared by turns: few, so that a machine busy for a moment is busy for both. */
const SMALL = 3;

const load = (): number => round(loadavg()[0] ?? 0);

const noTimes = (): Times => ({ turns: [], bare: [], overhead: [] });

async function takeTurns({ client }: Pick<Talk, "client">, key: string, count: number, message = "hello"): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) times.push((await client.turn(key, message)).ms);
  return times;
}

/**
 * A block of turns without a pause between them, then as many bare calls with the very request that the last of them made:
 * both meet the same machine, and a history that makes the request longer makes the bare call longer too.
 * A turn of `calls` calls is compared with as many bare ones; the last request is the longest, by one call and its result.
 */
async function block(talk: Talk, into: Times, key: string, count: number, { message = "hello", calls = 1 } = {}): Promise<void> {
  const turns = await takeTurns(talk, key, count, message);
  const request = await talk.model.last();
  const bare: number[] = [];
  for (let i = 0; i < count; i += 1) bare.push(await talk.model.bareCall(request));
  const each = median(bare);
  into.turns.push(...turns);
  into.bare.push(...bare);
  into.overhead.push(...turns.map((ms) => ms - calls * each));
}

const besides = ({ turns, bare }: Times): Record<string, number> => ({
  "turn ms": round(median(turns)),
  "bare call ms": round(median(bare)),
  "turn / bare": round(median(turns) / median(bare), 1),
});

/** Processor time of a process for one of `count` turns. What they leave to do after their answers is theirs, as long as nothing else is asked of it. */
async function costOfEach(pid: number, count: number, work: () => Promise<unknown>): Promise<number> {
  const before = cpuMs(pid);
  await work();
  await wait(20);
  return (cpuMs(pid) - before) / count;
}

/** Processor time of turns, and of the least that can be done for one, by turns. */
interface Costs {
  readonly ours: number[];
  readonly bare: number[];
}

/** Blocks, of which some met a machine busy with something else: the one in the middle counts. */
function costRow(how: string, { ours, bare }: Costs): Row {
  const least = round(median(bare));
  const facts = { "bare turn ms CPU": least, "turn / bare turn": round(median(ours) / least, 1), blocks: ours.map((ms) => round(ms, 1)).join(" ") };
  return { name: `turn: processor time, ${how}`, value: round(median(ours)), unit: "ms", bar: 3, better: "lower", facts };
}

/** One session, one turn after the other. */
async function sequential(context: BenchContext, talk: Talk, pid: number, bareTurns: BareTurns): Promise<Row[]> {
  const [blocks, size] = context.quick ? [2, 3] : [10, 30];
  // After the quiet moment before this, in which a gateway tidies up, what it drops is compiled again.
  for (let i = 0; i < (context.quick ? 1 : 24); i += 1) await takeTurns(talk, `agent:main:bench-before-${i}`, context.quick ? 1 : 25);
  const times = noTimes();
  const costs: Costs = { ours: [], bare: [] };
  const appends: number[] = [];
  for (let i = 0; i < blocks; i += 1) {
    costs.ours.push(await costOfEach(pid, size, () => block(talk, times, "agent:main:bench-one", size)));
    costs.bare.push(await costOfEach(bareTurns.pid, size, () => takeTurns(bareTurns, "agent:main:bench-one", size)));
    appends.push(rawAppends(context.folder, size));
  }
  const facts = { ...besides(times), "append+fdatasync ms": round(median(appends), 3), "load average": load() };
  const ms = { unit: "ms", better: "lower" } as const;
  return [
    { ...ms, name: "turn: over a bare call, median", value: round(median(times.overhead)), bar: 6, facts },
    { ...ms, name: "turn: over a bare call, p95", value: round(quantile(times.overhead, 0.95)), bar: 12, facts: { turns: times.turns.length } },
    costRow("one after the other", costs),
  ];
}

/** Runs `total` pieces of work, `workers` at a time, each called with its worker and how many that one has done; returns how many were done per second. */
async function rate(workers: number, total: number, work: (worker: number, done: number) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let done = 0; next < total; done += 1) {
        next += 1;
        await work(worker, done);
      }
    }),
  );
  return total / ((performance.now() - started) / 1000);
}

async function parallel(context: BenchContext, { client, model }: Talk, pid: number, bareTurns: BareTurns): Promise<Row[]> {
  const SESSIONS = 20;
  const total = context.quick ? 20 : 1000;
  const turnOf =
    (asked: BenchClient) =>
    (worker: number): Promise<unknown> =>
      asked.turn(`agent:main:bench-many-${worker}`, "hello");
  for (const asked of [client, bareTurns.client]) await rate(SESSIONS, context.quick ? 20 : 100, turnOf(asked));
  const request = await model.last();
  const ours: number[] = [];
  const bare: number[] = [];
  const costs: Costs = { ours: [], bare: [] };
  for (let i = 0; i < (context.quick ? 1 : 3); i += 1) {
    costs.ours.push(await costOfEach(pid, total, async () => ours.push(await rate(SESSIONS, total, turnOf(client)))));
    costs.bare.push(await costOfEach(bareTurns.pid, total, () => rate(SESSIONS, total, turnOf(bareTurns.client))));
    bare.push(await rate(SESSIONS, total, () => model.bareCall(request)));
  }
  const facts = { "bare calls /s": Math.round(median(bare)), "bare / turns": round(median(bare) / median(ours), 1), "load average": load() };
  return [
    { name: "turn: 20 sessions in parallel", value: Math.round(median(ours)), unit: "/s", bar: 300, better: "higher", facts },
    costRow("20 sessions in parallel", costs),
  ];
}

/**
 * Turns around the 500th of long sessions, and around the 10th of fresh ones, in small blocks by turns once the long ones are there, so
 * that both meet the same machine and the same warm code. Of each its own bare call is taken off, which encodes, sends and has the model
 * read a request with exactly that turn's bytes: what is left of a longer history is what it costs the gateway beyond the longer request.
 */
async function grown(context: BenchContext, talk: Talk): Promise<Row> {
  const [sessions, from, fresh, before, blocks] = context.quick ? [1, 5, 1, 1, 1] : [3, 480, 12, 5, 3];
  const long = (at: number): string => `agent:main:bench-long-${at % sessions}`;
  await Promise.all(Array.from({ length: sessions }, (_, at) => takeTurns(talk, long(at), from)));
  const early = noTimes();
  const late = noTimes();
  for (let at = 0; at < fresh; at += 1) {
    const key = `agent:main:bench-fresh-${at}`;
    await takeTurns(talk, key, before);
    for (let i = 0; i < blocks; i += 1) {
      await block(talk, early, key, SMALL);
      await block(talk, late, long(at), SMALL);
    }
  }
  const facts = {
    "turn 10 ms": round(median(early.turns)),
    "bare call 10 ms": round(median(early.bare)),
    "turn 500 ms": round(median(late.turns)),
    "bare call 500 ms": round(median(late.bare)),
    "load average": load(),
  };
  const value = round(median(late.overhead) / median(early.overhead));
  return { name: "turn 500 / turn 10, over their bare calls", value, unit: "×", bar: 1.15, better: "lower", facts };
}

async function withTool(context: BenchContext, talk: Talk, tool: string, args: object, expected: string): Promise<Times> {
  const times = noTimes();
  const key = `agent:main:bench-${tool}`;
  const options = { message: `@tool=${tool} @args=${JSON.stringify(args)}`, calls: 2 };
  await takeTurns(talk, key, context.quick ? 1 : 10, options.message);
  const result = (await talk.model.last()).messages.at(-1);
  if (result?.role !== "tool" || !JSON.stringify(result.content).includes(expected))
    throw new Error(`expected a result of ${tool} with "${expected}", got ${JSON.stringify(result)}`);
  for (let i = 0; i < (context.quick ? 1 : 5); i += 1) await block(talk, times, key, context.quick ? 2 : 20, options);
  return times;
}

async function tools(context: BenchContext, talk: Talk): Promise<Row[]> {
  const read = await withTool(context, talk, "read", { path: "note.txt" }, NOTE);
  const exec = await withTool(context, talk, "exec", { command: "echo from-the-bench" }, "from-the-bench");
  const shells = Array.from({ length: context.quick ? 3 : 30 }, () => {
    const started = performance.now();
    spawnSync("/bin/sh", ["-c", "echo from-the-bench"]);
    return performance.now() - started;
  });
  const ms = { unit: "ms", better: "lower" } as const;
  return [
    {
      ...ms,
      name: "turn with one read, over two bare calls",
      value: round(median(read.overhead)),
      bar: 9,
      facts: { ...besides(read), "load average": load() },
    },
    {
      ...ms,
      name: "turn with one exec echo, over two bare calls",
      value: round(median(exec.overhead)),
      bar: 14,
      facts: { ...besides(exec), "bare sh -c echo ms": round(median(shells)) },
    },
  ];
}

/** The whole first turn of a gateway that has just answered `health`, on a state that has been used before. */
async function firstTurn(context: BenchContext, model: BenchModel): Promise<Row> {
  const place = await makeAgentPlace(context, "turns-first", model);
  const once = async (key: string): Promise<{ first: number; second: number }> => {
    await using _gateway = await place.start();
    const client = await connectBench(place.to);
    const [first, second] = await takeTurns({ client }, `agent:main:bench-${key}`, 2);
    client.close();
    return { first: first!, second: second! };
  };
  const ever = await once("ever");
  const bare: number[] = [];
  const seen: { first: number; second: number }[] = [];
  for (let i = 0; i < (context.quick ? 1 : 9); i += 1) {
    bare.push(bareNodeMs(context.node));
    seen.push(await once(`start-${i}`));
  }
  const facts = {
    "bare node ms": round(median(bare), 1),
    "second turn ms": round(median(seen.map(({ second }) => second)), 1),
    // With the workspace's first files to be written and nothing compiled yet.
    "first of all ms": round(ever.first, 1),
  };
  return { name: "first turn after start", value: round(median(seen.map(({ first }) => first)), 1), unit: "ms", bar: 150, better: "lower", facts };
}

/** Two gateways at once, one with few and one with many stored sessions, asked by turns. */
async function stored(context: BenchContext, model: BenchModel, { openStore }: Awaited<ReturnType<BenchContext["loadStore"]>>): Promise<Row> {
  const start = async (name: string, sessions: number) => {
    const place: BenchPlace & { readonly stateDir: string } = await makeAgentPlace(context, `turns-${name}`, model);
    mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
    await (await openStore({ stateDir: place.stateDir, clock: systemClock }))[Symbol.asyncDispose]();
    const file = join(place.stateDir, "openclaw.db");
    fill(file, sessions, sessions * 10, 10);
    const gateway = await place.start();
    const client = await connectBench(place.to);
    const stillThere = (): void => {
      using db = new DatabaseSync(file, { readOnly: true });
      const { count } = db.prepare("SELECT count(*) AS count FROM sessions").get() as { readonly count: number };
      if (count < sessions) throw new Error(`expected ${sessions} stored sessions, found ${count}`);
    };
    return { talk: { client, model }, stillThere, times: noTimes(), [Symbol.asyncDispose]: () => (client.close(), gateway[Symbol.asyncDispose]()) };
  };
  const many = context.quick ? 100 : 10_000;
  await using few_ = await start("few", 10);
  await using many_ = await start("many", many);
  for (const { talk } of [few_, many_]) await takeTurns(talk, "agent:main:bench-warm", context.quick ? 1 : 100);
  for (let i = 0; i < (context.quick ? 1 : 80); i += 1) {
    // Neither is always the first.
    for (const { talk, times } of i % 2 === 0 ? [few_, many_] : [many_, few_]) await block(talk, times, "agent:main:bench-one", SMALL);
  }
  many_.stillThere();
  const facts = {
    sessions: many,
    "with 10 ms": round(median(few_.times.turns)),
    "with many ms": round(median(many_.times.turns)),
    "bare call ms": round(median(few_.times.bare)),
    "load average": load(),
  };
  const value = round(median(many_.times.overhead) / median(few_.times.overhead));
  return { name: "turn: 10000 stored sessions / 10, over a bare call", value, unit: "×", bar: 1.1, better: "lower", facts };
}

async function memory(context: BenchContext, model: BenchModel): Promise<Row[]> {
  const total = context.quick ? 20 : 2000;
  const place = await makeAgentPlace(context, "turns-memory", model);
  await using gateway = await place.start();
  const client = await connectBench(place.to);
  const sessions = new Set<string>();
  const turns = async (): Promise<number> => {
    // Ten at a time, each through five sessions in a circle.
    await rate(10, total, (worker, done) => {
      const key = `agent:main:bench-${worker}-${done % 5}`;
      sessions.add(key);
      return client.turn(key, "hello");
    });
    await wait(context.quick ? 0 : 1000);
    return residentMb(gateway.pid);
  };
  const atStart = residentMb(gateway.pid);
  const after = await turns();
  const afterMore = await turns();
  client.close();
  const facts = { "at the start MB": round(atStart, 1), turns: total, sessions: sessions.size, "load average": load() };
  return [
    { name: "turns: resident memory after 2000 over 50 sessions", value: round(after, 1), unit: "MB", bar: 140, better: "lower", facts },
    {
      name: "turns: resident memory after 2000 more / before them",
      value: round(afterMore / after),
      unit: "×",
      bar: 1.05,
      better: "lower",
      facts: { "then MB": round(afterMore, 1) },
    },
  ];
}

/** Turns of a real gateway with its durable store, over WebSocket, against an instant model in another process. */
export const turns: Measure = {
  name: "turns",
  async run(context): Promise<readonly Row[]> {
    const store = await context.loadStore();
    using model = await startModel(context);
    const rows: Row[] = [];
    {
      const place = await makeAgentPlace(context, "turns", model);
      await using gateway = await place.start();
      const talk: Talk = { client: await connectBench(place.to), model };
      // Short sessions: what is to be compiled is, and none has a history that weighs.
      for (let i = 0; i < (context.quick ? 1 : 12); i += 1) await takeTurns(talk, `agent:main:bench-warm-${i}`, context.quick ? 2 : 25);
      {
        using bareTurns = await startBareTurns(context, model, await model.last());
        await takeTurns(bareTurns, "agent:main:bench-warm", context.quick ? 2 : 300);
        // First many at once: what a gateway is after some minutes, not in its first ones, is what the others measure.
        rows.push(...(await parallel(context, talk, gateway.pid, bareTurns)));
        rows.push(...(await sequential(context, talk, gateway.pid, bareTurns)), ...(await tools(context, talk)));
      }
      rows.push(await grown(context, talk));
      talk.client.close();
    }
    rows.push(await stored(context, model, store), await firstTurn(context, model), ...(await memory(context, model)));
    return rows;
  },
};
