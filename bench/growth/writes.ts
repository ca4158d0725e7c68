/** What a turn writes, and what many sessions at once and a crash with much unfinished work take in memory. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { makeAgentPlace, startModel, type BenchModel } from "../drivers/agent-place.ts";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import { framesByTree, holdWal, readWal } from "../drivers/wal.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { round } from "../stats.ts";

const peakMb = (pid: number): number => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** Linux only, and not always installed. */
const TRACER = "strace";

async function turnsOf(client: BenchClient, sessions: number, count: number, at = 1): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: at }, async () => {
      while (next < count) {
        next += 1;
        await client.turn(`agent:main:bench-${next % sessions}`, "hello");
      }
    }),
  );
}

/** Syncs of a process while `work` is done, counted by the kernel; undefined without `strace`. */
async function countSyncs(pid: number, work: () => Promise<void>): Promise<number | undefined> {
  const tracer = spawn(TRACER, ["-f", "-c", "-e", "trace=fsync,fdatasync", "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
  const failed = once(tracer, "error").then(
    () => true,
    () => true,
  );
  if (await Promise.race([failed, wait(500).then(() => tracer.exitCode !== null)])) {
    await work();
    return undefined;
  }
  let text = "";
  tracer.stderr.on("data", (data: Buffer) => (text += data.toString("utf8")));
  await work();
  tracer.kill("SIGINT");
  await once(tracer, "close");
  return [...text.matchAll(/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s.*\bf(?:data)?sync$/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

/** Turns one after the other: what each writes into the log and how often it waits for the disk. Keys spread over a table that has grown: many turns before. */
async function written(context: BenchContext, model: BenchModel): Promise<Row[]> {
  const [before, count, sessions] = context.quick ? [20, 20, 5] : [3000, 300, 30];
  const place = await makeAgentPlace(context, "writes", model);
  const database = join(place.stateDir, "openclaw.db");
  await using gateway = await place.start();
  const client = await connectBench(place.to);
  await turnsOf(client, sessions, before, 10);
  await wait(1000);
  const syncs = await countSyncs(gateway.pid, () => turnsOf(client, sessions, count));
  await wait(1000);
  // Two logs: what is held makes the gateway try in vain to move the log, which does not change what is written.
  using _held = holdWal(database);
  const from = readWal(`${database}-wal`);
  await turnsOf(client, sessions, count);
  const facts = readWal(`${database}-wal`);
  const bytes = (facts.bytes - from.bytes) / count / 1000;
  const pages = new Map([...facts.pages].map(([page, frames]) => [page, frames - (from.pages.get(page) ?? 0)]));
  client.close();
  const transactions = round((facts.transactions - from.transactions) / count);
  const trees = framesByTree(database, { ...facts, pages });
  const row = { better: "lower" } as const;
  return [
    {
      ...row,
      name: "growth: written to the log per turn",
      value: round(bytes, 1),
      unit: "KB",
      bar: 60,
      facts: {
        pages: round((facts.frames - from.frames) / count, 1),
        transactions,
        ...Object.fromEntries(trees.slice(0, 14).map(([name, frames]) => [name, round(frames / count)])),
      },
    },
    {
      ...row,
      name: "growth: syncs per turn",
      value: syncs === undefined ? transactions : round(syncs / count),
      unit: "×",
      bar: 2,
      facts: { turns: count, sessions, "counted by": syncs === undefined ? "transactions, without those of moving the log" : TRACER },
    },
  ];
}

/** Turns of many sessions that are all accepted at once. */
async function manyAtOnce(context: BenchContext, model: BenchModel): Promise<Row> {
  const [sessions, rounds] = context.quick ? [10, 2] : [100, 30];
  const place = await makeAgentPlace(context, "writes-many", model);
  await using gateway = await place.start();
  const client = await connectBench(place.to);
  for (let round_ = 0; round_ < rounds; round_ += 1) {
    await Promise.all(Array.from({ length: sessions }, (_, at) => client.turn(`agent:main:bench-${at}`, "hello")));
  }
  client.close();
  return {
    name: "growth: peak memory with 100 sessions at once",
    value: round(peakMb(gateway.pid), 1),
    unit: "MB",
    bar: 220,
    better: "lower",
    facts: { sessions, turns: sessions * rounds },
  };
}

/** Messages that a process accepted and did not answer before it was killed. */
function leaveOpen(database: string, count: number, sessions: number): void {
  const db = new DatabaseSync(database);
  try {
    const template = db.prepare("SELECT * FROM inbox ORDER BY id DESC LIMIT 1").get() as Record<string, string | number | null>;
    const columns = Object.keys(template).filter((name) => name !== "id");
    const insert = db.prepare(`INSERT INTO inbox (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`);
    db.exec("BEGIN");
    for (let n = 0; n < count; n += 1) {
      const sessionKey = `agent:main:bench-${n % sessions}`;
      const own: Record<string, string | number | null> = {
        ...template,
        ...Object.fromEntries(["outcome", "why", "turn_id", "claimed_at", "settled_at"].map((name) => [name, null])),
        message_id: `open-${n}`,
        session_key: sessionKey,
        state: "pending",
        received_at: Date.now(),
        payload: String(template["payload"]).replaceAll(String(template["message_id"]), `open-${n}`).replaceAll(String(template["session_key"]), sessionKey),
      };
      insert.run(...columns.map((name) => own[name] ?? null));
    }
    db.exec("COMMIT");
  } finally {
    db.close();
  }
}

const openRows = (database: string): number => {
  const db = new DatabaseSync(database, { readOnly: true });
  try {
    return Number(db.prepare("SELECT count(*) AS n FROM inbox WHERE state <> 'settled'").get()!["n"]);
  } finally {
    db.close();
  }
};

/** A start after a crash that left much to do. */
async function afterCrash(context: BenchContext, model: BenchModel): Promise<Row[]> {
  const [count, sessions] = context.quick ? [200, 10] : [10_000, 200];
  const place = await makeAgentPlace(context, "writes-crash", model);
  const database = join(place.stateDir, "openclaw.db");
  {
    await using _gateway = await place.start();
    const client = await connectBench(place.to);
    await client.turn("agent:main:bench-0", "hello");
    client.close();
  }
  leaveOpen(database, count, sessions);
  const started = performance.now();
  await using gateway = await place.start();
  const ready = gateway.ready.readyMs;
  while (openRows(database) > 0) await wait(500);
  const facts = { rows: count, sessions, "ready ms": round(ready), "all answered s": round((performance.now() - started) / 1000, 1) };
  return [
    { name: "growth: peak memory after a crash with 10000 open messages", value: round(peakMb(gateway.pid), 1), unit: "MB", bar: 180, better: "lower", facts },
  ];
}

export const writes: Measure = {
  name: "growth: writes",
  async run(context): Promise<readonly Row[]> {
    await context.loadStore();
    using model = await startModel(context);
    return [...(await written(context, model)), await manyAtOnce(context, model), ...(await afterCrash(context, model))];
  },
};
