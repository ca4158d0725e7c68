/** Sub-agents: how soon they begin, and how many turns they and their parents take beside each other. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { makeAgentPlace, plainTurns, type BenchModel } from "../drivers/agent-place.ts";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import type { BenchContext, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";

const PARENTS = 10;
const CHILDREN = 5;
const PATIENCE_MS = 30_000;
const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;
const spawn = (task: string, times = 1): string => `@tool=sessions_spawn @times=${times} @args=${JSON.stringify({ task })}`;

type Time = Awaited<ReturnType<BenchModel["times"]>>[number];

/** The first request of the model whose last message has this text. */
async function requestOf(model: BenchModel, wanted: string): Promise<Time> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await wait(5)) {
    const found = (await model.times()).find(({ text }) => text.includes(wanted));
    if (found?.answeredAt !== undefined) return found;
  }
  throw new Error(`no request of the model had ${wanted}`);
}

/** Waits until every child of the state has been reported. */
async function untilReported(stateDir: string, count: number): Promise<readonly { readonly endedAt: number }[]> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await wait(20)) {
    const db = new DatabaseSync(join(stateDir, "openclaw.db"), { readOnly: true });
    const rows = db.prepare("SELECT ended_at AS endedAt FROM subagents WHERE announced = 1").all();
    db.close();
    if (rows.length >= count) return rows.map(({ endedAt }) => ({ endedAt: Number(endedAt) }));
  }
  throw new Error(`${count} sub-agents were not reported within ${PATIENCE_MS} ms`);
}

/** From the answer with the call to the child's first request, and from a plain message to its request, by turns. */
async function spawning(context: BenchContext, model: BenchModel, client: BenchClient, stateDir: string): Promise<Row> {
  const rounds = context.quick ? 3 : 40;
  const [plain, child]: [number[], number[]] = [[], []];
  for (let n = 0; n < rounds + 3; n += 1) {
    const sentAt = monotonic();
    await client.turn(`agent:main:bench-plain-${n}`, `plain message ${n}.`);
    const { at } = await requestOf(model, `plain message ${n}.`);
    const message = spawn(`child number ${n}.`);
    await client.turn(`agent:main:bench-parent-${n}`, message);
    const parent = await requestOf(model, message);
    const first = await requestOf(model, `[Subagent Task]: child number ${n}.`);
    await untilReported(stateDir, n + 1);
    // The first ones load code.
    if (n < 3) continue;
    plain.push(at - sentAt);
    child.push(first.at - (parent.answeredAt ?? parent.at));
  }
  const facts = { "plain turn ms": round(median(plain)), "child ms": round(median(child)), rounds };
  const name = "automation: spawn to the child's first model call, over a plain turn";
  return { name, value: round(median(child) - median(plain)), unit: "ms", bar: 5, better: "lower", facts };
}

/** Ten parents with five children each, all asked for at once; each parent is asked something else meanwhile. */
async function atOnce(
  client: BenchClient,
  stateDir: string,
  round: number,
  before: number,
): Promise<{ readonly rate: number; readonly waits: readonly number[] }> {
  const startedAt = Date.now();
  const key = (n: number): string => `agent:main:bench-${round}-parent-${n}`;
  const parents = Array.from({ length: PARENTS }, (_, n) => n);
  await Promise.all(parents.map((n) => client.turn(key(n), spawn("hello", CHILDREN))));
  const answered = await Promise.all(parents.map((n) => client.turn(key(n), "hello")));
  const children = (await untilReported(stateDir, before + PARENTS * CHILDREN)).filter(({ endedAt }) => endedAt >= startedAt);
  const ms = Math.max(...children.map(({ endedAt }) => endedAt)) - startedAt;
  return { rate: (PARENTS + children.length) / (ms / 1000), waits: answered.map((turn) => turn.ms) };
}

export async function children(context: BenchContext, model: BenchModel): Promise<readonly Row[]> {
  const rounds = context.quick ? 1 : 8;
  const place = await makeAgentPlace(context, "children", model);
  await using _gateway = await place.start();
  const client = await connectBench(place.to);
  const row = await spawning(context, model, client, place.stateDir);
  const [plain, ours, waits]: [number[], number[], number[]] = [[], [], []];
  let before = (await untilReported(place.stateDir, 1)).length;
  for (let n = 0; n < rounds; n += 1) {
    plain.push(await plainTurns(place, context.quick ? 20 : 200));
    const found = await atOnce(client, place.stateDir, n, before);
    before += PARENTS * CHILDREN;
    ours.push(found.rate);
    waits.push(...found.waits);
  }
  client.close();
  const facts = {
    "turns /s": Math.round(median(ours)),
    "plain turns /s": Math.round(median(plain)),
    "a parent answers meanwhile, p95 ms": round(quantile(waits, 0.95)),
  };
  const name = "automation: turns of 50 children and ten parents / plain turns";
  return [row, { name, value: round(median(ours) / median(plain)), unit: "×", bar: 0.6, better: "higher", facts }];
}
