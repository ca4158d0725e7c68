import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Write } from "../areas/index.ts";
import { createStatements } from "../sqlite/connection.ts";
import { createGroups } from "./group.ts";
import { migrate, MIGRATIONS } from "../sqlite/migrations.ts";
import { openDatabase } from "./open-database.ts";
import { READS } from "../sqlite/areas/index.ts";
import { createSweeps } from "./sweeps.ts";
import { resolveRetention } from "../retention.ts";

const SESSIONS = 20;
let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "turn-pages-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = async (): Promise<DatabaseSync> => (await openDatabase({ file: join(folder, "openclaw.db"), stateDir: folder, now: () => 1 })).db;

/** Random ids, as clients make them. */
const idOf = (n: number): string => createHash("sha1").update(String(n)).digest("hex").slice(0, 36);

/** The writes of a client's turn in its two commits: the message, and everything else with the answer. */
function commitsOf(n: number): readonly [Write[], Write[]] {
  const runId = idOf(n);
  const key = `agent:main:s${n % SESSIONS}`;
  const file = `agents/main/sessions/s${n % SESSIONS}.jsonl`;
  const message = (role: string): string => JSON.stringify({ type: "message", id: `${n}${role}`, message: { role, content: "x".repeat(200) } });
  /** A conversation is a chain: a turn writes nothing about branches. */
  const parentOf = (role: string): string | null => (role === "assistant" ? `${n}user` : n > SESSIONS ? `${n - SESSIONS}assistant` : null);
  const usage = { sessionKey: key, agentId: "main", provider: "p", model: "m", turnId: runId, input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 };
  return [
    [["inbox.accept", { channel: "gateway", account: "runs", conversation: "runs", messageId: runId, kind: "message", text: "hello", sessionKey: key }]],
    [
      ["turns.start", { id: runId, sessionKey: key, agentId: "main" }],
      ["inbox.claim", { ids: [n], turnId: runId }],
      [
        "transcripts.append",
        { file, entries: ["user", "assistant"].map((role) => ({ id: `${n}${role}`, parentId: parentOf(role), type: "message", ts: 1, line: message(role) })) },
      ],
      ["journal.append", { turnId: runId, kind: "model.result", data: { stopReason: "stop" } }],
      ["usage.add", { ...usage, durationMs: 1 }],
      ["sessions.merge", { key, patch: { updatedAt: 1000 + n } }],
      ["inbox.settle", { ids: [n], outcome: "answered", turnId: runId }],
      ["turns.end", { id: runId, outcome: "answered", detail: { text: "x".repeat(200), texts: [] } }],
    ] as Write[],
  ];
}

test("a turn in a used state writes at most 60 KB to the log", async () => {
  const db = await open();
  const groups = createGroups(db, createStatements(db));
  let id = 0;
  const commit = (writes: readonly Write[], at: number): void => {
    const { settled } = groups.run([[(id += 1), at, writes, undefined, true]]);
    expect(settled.map(([, ok, value]) => (ok ? "ok" : value))).toEqual(["ok"]);
  };
  for (let n = 0; n < SESSIONS; n += 1) {
    const [sessionId, key] = [`s${n}`, `agent:main:s${n}`];
    commit(
      [
        ["sessions.put", { key, agentId: "main", entry: { sessionId, updatedAt: 1 } }],
        ["transcripts.ensure", { file: `agents/main/sessions/${sessionId}.jsonl`, agentId: "main", sessionId, header: '{"type":"session"}' }],
      ] as Write[],
      1,
    );
  }
  const turn = (n: number): void => commitsOf(n).forEach((writes) => commit(writes, 1000 + n));
  for (let n = 1; n <= 2000; n += 1) turn(n);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  for (let n = 2001; n <= 2100; n += 1) turn(n);
  const written = statSync(join(folder, "openclaw.db-wal")).size / 100;
  db.close();
  expect(written).toBeLessThan(60_000);
});

test("inputs of a turn are found without scanning the inbox: the one it is named after, and others", async () => {
  const db = await open();
  const add = db.prepare(
    "INSERT INTO inbox (channel, account, conversation, message_id, kind, text, state, received_at, turn_id) VALUES (?, 'a', 'c', ?, 'message', '', 'settled', 1, ?)",
  );
  for (const [channel, id, turn] of [
    ["gateway", "run", "run"],
    ["gateway", "merged", "run"],
    ["telegram", "7", "other"],
    ["telegram", "8", null],
  ] as const)
    add.run(channel, id, turn);
  const texts = new Set<string>();
  const statements = createStatements(db);
  const sql = (text: string) => (texts.add(text), statements(text));
  const named = (rows: readonly { readonly messageId: string }[]): readonly string[] => rows.map(({ messageId }) => messageId);
  expect(named(READS["inbox.ofTurn"]({ sql }, { turnId: "run" }))).toEqual(["run", "merged"]);
  expect(named(READS["inbox.ofTurn"]({ sql }, { turnId: "other" }))).toEqual(["7"]);
  expect(named(READS["inbox.ofConversation"]({ sql }, { channel: "telegram", account: "a", conversation: "c" }))).toEqual(["8", "7"]);
  READS["turns.spans"]({ sql }, { sessionKey: "s", from: 0, until: 9, limit: 5 });
  const plans = [...texts].flatMap((text) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map(({ detail }) => String(detail)),
  );
  expect(plans.filter((plan) => plan.startsWith("SCAN inbox"))).toEqual([]);
  expect(named(READS["inbox.ofConversation"]({ sql }, { channel: "gateway", account: "a", conversation: "c" }))).toEqual(["merged", "run"]);
  db.close();
});

/** A state of the version before turns had numbers. */
function oldState(turns: number): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  migrate(db, 1, MIGRATIONS.slice(0, 9));
  db.exec("BEGIN");
  const add = db.prepare(`INSERT INTO turns (id, session_key, agent_id, state, resumptions, next_step, started_at, touched_at, ended_at)
    VALUES (?, 's', 'main', ?, 1, 2, ?, ?, ?)`);
  for (let n = 1; n <= turns; n += 1) add.run(idOf(n), n === turns ? "running" : "ended", n, n, n === turns ? null : n);
  db.exec("COMMIT");
  return db;
}

/** Deletes everything that ended before the time, step by step. */
function sweep(db: DatabaseSync, now: number): void {
  const turns = createSweeps(createStatements(db), now, resolveRetention({})).find(({ table }) => table === "turns")!;
  while ((turns.delete(500)["turns"] ?? 0) > 0);
}

test.each([
  ["are put in the order in which they began", 300, true],
  ["stay as they are when there are too many to write them again at a start", 100_001, false],
])("turns of an older state %s; all of them are found and retention still ends them", (_, count, moved) => {
  const db = oldState(count);
  migrate(db, 2);
  const sql = createStatements(db);
  const hasNumbers = db.prepare("SELECT 1 FROM pragma_table_info('turns') WHERE name = 'n'").get() !== undefined;
  expect(hasNumbers).toBe(moved);
  expect(READS["turns.get"]({ sql }, { id: idOf(7) })).toMatchObject({ sessionKey: "s", startedAt: 7, endedAt: 7, resumptions: 1, steps: 2 });
  expect(READS["turns.unfinished"]({ sql }, {})).toMatchObject([{ id: idOf(count) }]);
  expect(READS["turns.ofSession"]({ sql }, { sessionKey: "s", limit: 2 })).toMatchObject([{ id: idOf(count) }, { id: idOf(count - 1) }]);
  const { turnsMs } = resolveRetention({});
  const oldest = createSweeps(sql, turnsMs, resolveRetention({}))
    .find(({ table }) => table === "turns")!
    .oldest();
  expect(oldest).toBe(1 + turnsMs);
  sweep(db, turnsMs + 101);
  expect(db.prepare("SELECT count(*) AS n, min(started_at) AS first FROM turns").get()).toEqual({ n: count - 100, first: 101 });
});
