import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../src/base/clock.ts";
import { median, round } from "../stats.ts";
import type { BenchContext, Measure, Row } from "../row.ts";

const LINE_TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(8);

/** Fills a database made by the store: many sessions, each with a transcript, and one very long transcript. `textOf` is what an entry says. */
export function fill(file: string, sessions: number, entries: number, long: number, textOf: (session: number, seq: number) => string = () => LINE_TEXT): void {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA synchronous=OFF; BEGIN");
  const session = db.prepare("INSERT INTO sessions (key, agent_id, session_id, updated_at, version, entry) VALUES (?, 'main', ?, ?, 1, ?)");
  const transcript = db.prepare(
    "INSERT INTO transcripts (tid, agent_id, session_id, file, next_seq, bytes, leaf_id, created_at) VALUES (?, 'main', ?, ?, ?, ?, ?, ?)",
  );
  const entry = db.prepare("INSERT INTO transcript_entries (tid, seq, entry_id, parent_id, type, ts, line) VALUES (?, ?, ?, ?, 'message', ?, ?)");
  const each = Math.floor((entries - long) / sessions);
  for (let s = 0; s <= sessions; s += 1) {
    const id = `session-${s}`;
    const count = s === 0 ? long : each;
    let bytes = 0;
    for (let seq = 0; seq <= count; seq += 1) {
      const entryId = seq.toString(16).padStart(8, "0");
      const line =
        seq === 0
          ? JSON.stringify({ type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z" })
          : JSON.stringify({ type: "message", id: entryId, message: { role: "user", content: textOf(s, seq) } });
      bytes += line.length + 1;
      entry.run(s + 1, seq, seq === 0 ? null : entryId, seq < 2 ? null : (seq - 1).toString(16).padStart(8, "0"), seq, line);
    }
    transcript.run(s + 1, id, `agents/main/sessions/${id}.jsonl`, count + 1, bytes, count.toString(16).padStart(8, "0"), s);
    session.run(`agent:main:bench:direct:${s}`, id, s, JSON.stringify({ sessionId: id, updatedAt: s }));
  }
  db.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

/** In a process of its own: what opening costs, and what the first and later reads of a long transcript cost. */
const PROBE = `
import { readFileSync } from "node:fs";
const [storeUrl, stateDir] = process.argv.slice(1);
const rss = () => Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
const { openStore } = await import(storeUrl);
const before = rss();
let t = performance.now();
const clock = { now: () => Date.now(), monotonic: () => performance.now(), after: (ms, fn) => { const t = setTimeout(fn, ms); t.unref(); return { [Symbol.dispose]: () => clearTimeout(t) }; } };
const store = await openStore({ stateDir, clock });
const openMs = performance.now() - t;
const openMb = rss() - before;
const reads = [];
await store.read("transcripts.tail", { file: "agents/main/sessions/session-0.jsonl", limit: 50 });
for (let i = 0; i < 50; i++) {
  t = performance.now();
  const rows = await store.read("transcripts.tail", { file: "agents/main/sessions/session-0.jsonl", limit: 50 });
  reads.push(performance.now() - t);
  if (rows.length !== 50) throw new Error("expected 50 rows");
}
await store[Symbol.asyncDispose]();
console.log(JSON.stringify({ openMs, openMb, readMs: reads.sort((a, b) => a - b)[25] }));
`;

export const bigState: Measure = {
  name: "big state",
  async run(context: BenchContext): Promise<readonly Row[]> {
    const { openStore } = await context.loadStore();
    const stateDir = join(context.folder, "big");
    mkdirSync(stateDir);
    await (await openStore({ stateDir, clock: systemClock }))[Symbol.asyncDispose]();
    const [sessions, entries, long] = context.quick ? [20, 2000, 1000] : [10_000, 1_000_000, 100_000];
    context.say(`  making a state with ${sessions} sessions and ${entries} transcript entries …`);
    fill(join(stateDir, "openclaw.db"), sessions, entries, long);
    const storeUrl = new URL(`file://${join(context.root, context.built, "store.js")}`).href;
    const probes = Array.from({ length: context.quick ? 1 : 7 }, () => {
      const result = spawnSync(context.node, ["--input-type=module", "-e", PROBE, storeUrl, stateDir], { encoding: "utf8" });
      if (result.status !== 0) throw new Error(`the probe failed: ${result.stderr}`);
      return JSON.parse(result.stdout) as { openMs: number; openMb: number; readMs: number };
    });
    const facts = { sessions, entries };
    return [
      { name: "big state: opening", value: round(median(probes.map((probe) => probe.openMs)), 1), unit: "ms", bar: 100, better: "lower", facts },
      {
        name: "big state: resident memory added by opening",
        value: round(median(probes.map((probe) => probe.openMb)), 1),
        unit: "MB",
        bar: 25,
        better: "lower",
        facts,
      },
      {
        name: `reading the last 50 of ${long} entries`,
        value: round(median(probes.map((probe) => probe.readMs))),
        unit: "ms",
        bar: 3,
        better: "lower",
        facts: {},
      },
    ];
  },
};
