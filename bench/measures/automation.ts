/** Scheduled jobs: what many of them cost at start, when one is changed and while nothing is due, and a thousand that are due at once. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { loadCron } from "../../src/automation/index.ts";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import { makeAgentPlace, PARALLEL, plainTurns, startModel, type BenchModel } from "../drivers/agent-place.ts";
import { connectBench } from "../drivers/client.ts";
import type { BenchPlace } from "../drivers/gateway-process.ts";
import { cpuMs } from "../drivers/process-facts.ts";
import { bareNodeMs } from "../drivers/startup.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";
import { children } from "./children.ts";
import { idleHour, isolatedBeat } from "./heartbeat.ts";

const DAY_MS = 86_400_000;
const id = (n: number): string => `job-${String(n).padStart(6, "0")}`;

/** Jobs as the store has them, in a database that it made. All are due at `at`, or one after the other from then on. */
function fillJobs(stateDir: string, count: number, at: number, stepMs: number): void {
  const db = new DatabaseSync(join(stateDir, "openclaw.db"));
  const add = db.prepare("INSERT INTO cron_jobs (id, agent_id, enabled, next_run_at, version, updated_at, job) VALUES (?, NULL, 1, ?, 1, ?, ?)");
  db.exec("BEGIN");
  for (let n = 0; n < count; n += 1) {
    const due = at + n * stepMs;
    const job = {
      id: id(n),
      name: `Job ${n}`,
      enabled: true,
      createdAtMs: at - DAY_MS,
      updatedAtMs: at - DAY_MS,
      schedule: stepMs === 0 ? { kind: "at", at: new Date(due).toISOString() } : { kind: "every", everyMs: DAY_MS, anchorMs: due },
      sessionTarget: "isolated",
      wakeMode: "now",
      payload: { kind: "agentTurn", message: `hello ${n}` },
      delivery: { mode: "none" },
      deleteAfterRun: stepMs === 0,
      state: {},
    };
    add.run(id(n), due, at, JSON.stringify(job));
  }
  db.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

/** A gateway with many jobs and one with none, started by turns. */
async function starting(context: BenchContext, model: BenchModel): Promise<Row> {
  const [count, rounds] = context.quick ? [200, 1] : [10_000, 11];
  const none = await makeAgentPlace(context, "no-jobs", model);
  const many = await makeAgentPlace(context, "many-jobs", model);
  for (const place of [none, many]) await (await place.start())[Symbol.asyncDispose]();
  fillJobs(many.stateDir, count, Date.now() + DAY_MS, 1000);
  {
    // A change writes the file of jobs, as there is one in use.
    await using _gateway = await many.start();
    const client = await connectBench(many.to);
    await client.request("cron.update", { id: id(0), patch: { description: "changed" } });
    client.close();
  }
  const startOf = async (place: BenchPlace): Promise<number> => {
    await using gateway = await place.start();
    return gateway.ready.readyMs;
  };
  const [bare, without, beside]: [number[], number[], number[]] = [[], [], []];
  for (let n = 0; n < rounds; n += 1) {
    bare.push(bareNodeMs(context.node));
    without.push(await startOf(none));
    beside.push(await startOf(many));
  }
  const facts = { jobs: count, "without ms": round(median(without), 1), "with ms": round(median(beside), 1), "bare node ms": round(median(bare), 1) };
  return {
    name: "automation: start with 10000 jobs, over none",
    value: round(median(beside) - median(without), 1),
    unit: "ms",
    bar: 15,
    better: "lower",
    facts,
  };
}

/** Processor time of a look at the clock while nothing is due, and how often the store is asked for it. */
async function waiting(context: BenchContext): Promise<Row> {
  const [count, looks] = context.quick ? [200, 50] : [10_000, 2000];
  const { openStore } = await context.loadStore();
  const stateDir = join(context.folder, "waiting-jobs");
  mkdirSync(stateDir);
  const clock = manualClock(Date.now());
  const store = await openStore({ stateDir, clock: systemClock });
  await store[Symbol.asyncDispose]();
  fillJobs(stateDir, count, clock.now() + 100 * DAY_MS, 1000);
  await using opened = await openStore({ stateDir, clock: systemClock });
  let reads = 0;
  const { createCron } = await loadCron();
  const counted: Pick<typeof opened, "read" | "write" | "commit"> = {
    read: (kind, input) => ((reads += 1), opened.read(kind, input)),
    write: (kind, input) => opened.write(kind, input),
    commit: (writes) => opened.commit(writes),
  };
  const nothing = { accept: () => Promise.reject(new Error("nothing is due")), outcome: () => Promise.resolve(undefined) };
  await using cron = createCron({
    config: { current: {}, resolveSecret: () => Promise.resolve("") },
    store: counted,
    clock,
    ids: createIds(seededRandom(1)),
    log: silentLogger,
    runs: nothing,
    note: () => {
      throw new Error("nothing ends");
    },
    post: () => Promise.resolve(undefined),
    runnable: (text) => text,
    emit: () => {},
    scheduled: () => {},
    disabledBy: () => undefined,
  });
  await cron.start();
  const atStart = reads;
  const before = process.cpuUsage();
  for (let n = 0; n < looks; n += 1) {
    clock.advance(60_000);
    await new Promise(setImmediate);
  }
  const { user, system } = process.cpuUsage(before);
  const facts = { jobs: count, looks, "reads at start": atStart, "reads while nothing is due": reads - atStart };
  return {
    name: "automation: processor time of a look at 10000 jobs",
    value: round((user + system) / 1000 / looks, 4),
    unit: "ms",
    bar: 1,
    better: "lower",
    facts,
  };
}

const LOOP_DELAY = "bench/drivers/loop-delay.ts";

/** A gateway that says how late its event loop was since it was last asked. */
function loopDelay(context: BenchContext, name: string) {
  const file = join(context.folder, `${name}-loop.json`);
  return {
    env: { NODE_OPTIONS: `--import=${pathToFileURL(join(context.root, LOOP_DELAY)).href}`, BENCH_LOOP_FILE: file },
    async ask(pid: number): Promise<{ readonly p99: number; readonly max: number }> {
      rmSync(file, { force: true });
      process.kill(pid, "SIGUSR2");
      while (!existsSync(file)) await wait(5);
      return JSON.parse(readFileSync(file, "utf8")) as { p99: number; max: number };
    },
  };
}

/** The file of jobs is written again after each change: how long that holds the event loop. */
async function changing(context: BenchContext, model: BenchModel): Promise<Row> {
  const [count, rounds] = context.quick ? [200, 1] : [10_000, 3];
  const delay = loopDelay(context, "changed-jobs");
  const place = await makeAgentPlace(context, "changed-jobs", model, { env: delay.env });
  await (await place.start())[Symbol.asyncDispose]();
  fillJobs(place.stateDir, count, Date.now() + DAY_MS, 1000);
  await using gateway = await place.start();
  const client = await connectBench(place.to);
  const file = join(place.stateDir, "cron", "jobs.json");
  const writtenAt = (): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const change = async (n: number): Promise<void> => {
    const before = writtenAt();
    await client.request("cron.update", { id: id(n), patch: { description: `change ${n}` } });
    while (writtenAt() === before) await wait(5);
  };
  await change(0);
  await delay.ask(gateway.pid);
  const before = cpuMs(gateway.pid);
  for (let n = 1; n <= rounds; n += 1) await change(n);
  const cpu = (cpuMs(gateway.pid) - before) / rounds;
  const { p99, max } = await delay.ask(gateway.pid);
  client.close();
  const facts = { jobs: count, "max ms": round(max, 1), "ms CPU for each": round(cpu, 1) };
  return { name: "automation: a change of one of 10000 jobs, loop delay p99", value: round(p99, 1), unit: "ms", bar: 20, better: "lower", facts };
}

const PATIENCE_MS = 120_000;

interface Slots {
  readonly claimed: readonly number[];
  readonly begun: readonly number[];
  readonly inOrder: boolean;
}

/** When slots were claimed and their turns began, after the time that they were due at. */
function slotTimes(stateDir: string, due: number): Slots {
  const db = new DatabaseSync(join(stateDir, "openclaw.db"), { readOnly: true });
  const rows = db
    .prepare(
      "SELECT claimed_at, started_at, job_id FROM cron_slots JOIN turns ON turns.id = 'cron:' || job_id || ':' || scheduled_at ORDER BY started_at, job_id",
    )
    .all();
  db.close();
  const numbers = (column: string): readonly number[] => rows.map((row) => Number(row[column]) - due);
  const order = rows.map((row) => Number(String(row["job_id"]).slice(4)));
  // Those that run side by side may begin in any order.
  return { claimed: numbers("claimed_at"), begun: numbers("started_at"), inOrder: order.every((n, index) => Math.abs(n - index) <= 2 * PARALLEL) };
}

/** A thousand jobs that are due in the same second. */
async function atOnce(context: BenchContext, model: BenchModel): Promise<Row[]> {
  const count = context.quick ? 50 : 1000;
  const delay = loopDelay(context, "jobs-at-once");
  const place = await makeAgentPlace(context, "jobs-at-once", model, { env: delay.env, config: { cron: { maxConcurrentRuns: PARALLEL } } });
  await (await place.start())[Symbol.asyncDispose]();
  const plain = await place.start();
  const rate = await plainTurns(place, count);
  const firstRate = await plainTurns(place, count, "new");
  await plain[Symbol.asyncDispose]();
  const due = Date.now() + (context.quick ? 2000 : 6000);
  fillJobs(place.stateDir, count, due, 0);
  await using gateway = await place.start();
  await plainTurns(place, PARALLEL);
  while (Date.now() < due - 50) await wait(10);
  await delay.ask(gateway.pid);
  const client = await connectBench(place.to);
  const left = async (): Promise<number> => Number((await client.request("cron.status"))["jobs"]);
  while ((await left()) > 0) {
    if (Date.now() > due + PATIENCE_MS) throw new Error(`${await left()} jobs have not run ${PATIENCE_MS} ms after they were due`);
    await wait(100);
  }
  const { p99, max } = await delay.ask(gateway.pid);
  client.close();
  const { claimed, begun, inOrder } = slotTimes(place.stateDir, due);
  const last = Math.max(...begun);
  const facts = { jobs: begun.length, "plain turns /s": Math.round(rate), "in order": inOrder ? "yes" : "no" };
  const lower = { better: "lower" } as const;
  return [
    { ...lower, name: "automation: 1000 jobs due at once, claimed p99", value: Math.round(quantile([...claimed], 0.99)), unit: "ms", bar: 1000, facts },
    {
      ...lower,
      name: "automation: 1000 jobs due at once, last begins / as many plain turns",
      value: round(last / ((1000 * begun.length) / rate)),
      unit: "×",
      bar: 1.2,
      // Each job is the first turn of a session of its own; so is each of the turns of the second figure.
      facts: { "last begins ms": last, "first turns /s": Math.round(firstRate), "/ as many first turns": round(last / ((1000 * begun.length) / firstRate)) },
    },
    { ...lower, name: "automation: 1000 jobs due at once, loop delay p99", value: round(p99, 1), unit: "ms", bar: 20, facts: { "max ms": round(max, 1) } },
  ];
}

export const automation: Measure = {
  name: "automation",
  async run(context): Promise<readonly Row[]> {
    await context.loadStore();
    using model = await startModel(context);
    const jobs = [await starting(context, model), await changing(context, model), await waiting(context), ...(await atOnce(context, model))];
    return [...jobs, await idleHour(context), await isolatedBeat(context, model), ...(await children(context, model))];
  },
};
