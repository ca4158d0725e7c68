import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { resolveRetention } from "../retention.ts";
import { createStatements } from "../sqlite/connection.ts";
import { createMaintenance } from "./maintenance.ts";
import { migrate } from "../sqlite/migrations.ts";
import { createSweeps } from "./sweeps.ts";

const DAY = 86_400_000;
const NOW = 500 * DAY;

/** Nothing is compressed in these tests. */
const NO_FILES = { importLines() {}, *compress() {}, compressing: () => 0 };

function makeState(turns: number, stepsEach = 2): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  migrate(db, 1);
  const inbox = db.prepare(`INSERT INTO inbox (channel, account, conversation, message_id, kind, text, state, received_at, settled_at)
    VALUES ('c', 'a', 'v', ?, 'message', 'x', 'settled', 1, ?)`);
  const turn = db.prepare(`INSERT INTO turns (id, session_key, agent_id, state, resumptions, next_step, started_at, touched_at, ended_at)
    VALUES (?, 'k', 'main', 'ended', 0, 0, 1, 1, ?)`);
  const step = db.prepare("INSERT INTO journal (turn_id, step, kind, data, at) VALUES (?, ?, 'note', '1', 1)");
  const usage =
    db.prepare(`INSERT INTO usage (at, day, session_key, agent_id, provider, model, input, output, cache_read, cache_write, cost, duration_ms, failed)
    VALUES (?, ?, 'k', 'main', 'p', 'm', 1, 1, 0, 0, 0, 1, 0)`);
  for (let n = 0; n < turns; n += 1) {
    inbox.run(`m${n}`, n);
    turn.run(`t${n}`, n);
    for (let at = 0; at < stepsEach; at += 1) step.run(`t${n}`, at);
    usage.run(n, "1970-01-01");
  }
  return db;
}

test("the tables take turns: all of them lose rows before one of them is done", () => {
  const db = makeState(20_000);
  const work = createMaintenance({ db, sql: createStatements(db), files: NO_FILES, cursor: { tid: 0 } }, NOW, resolveRetention());
  for (let step = 0; step < 22; step += 1) work.steps.next();
  const { deleted, done, behind } = work.report(false);
  expect(Object.keys(deleted)).toEqual(expect.arrayContaining(["inbox", "turns", "journal", "usage"]));
  expect(deleted["inbox"]).toBeLessThan(19_999);
  // The first of them ended at time 0 and has a retention of 14 days.
  expect([done, behind]).toEqual([false, { table: expect.stringMatching(/^(?:inbox|turns)$/), lateMs: expect.any(Number) }]);
  expect(Math.floor(behind!.lateMs / DAY)).toBe(485);
});

test("everything past its retention is deleted, turns with all their steps, and then nothing is overdue", () => {
  const db = makeState(300, 7);
  const work = createMaintenance({ db, sql: createStatements(db), files: NO_FILES, cursor: { tid: 0 } }, NOW, resolveRetention());
  while (!work.steps.next().done);
  // The newest number of the inbox stays.
  expect(work.report(true)).toMatchObject({ done: true, deleted: { inbox: 299, turns: 300, journal: 2100, usage: 300 } });
  expect(work.report(true)).not.toHaveProperty("behind");
  expect(db.prepare("SELECT (SELECT count(*) FROM journal) + (SELECT count(*) FROM turns) AS n").get()).toEqual({ n: 0 });
});

test("a turn with more steps than one statement deletes is deleted in several", () => {
  const db = makeState(1, 1000);
  const sweep = createSweeps(createStatements(db), NOW, resolveRetention()).find(({ table }) => table === "turns")!;
  expect(sweep.delete(10)).toEqual({ journal: 10, turns: 0 });
  expect(sweep.delete(2000)).toEqual({ journal: 990, turns: 1 });
  expect(sweep.delete(10)).toEqual({ journal: 0, turns: 0 });
});

test("no sweep scans a table to find overdue rows", () => {
  const db = makeState(10);
  const statements = createStatements(db);
  const texts = new Set<string>();
  const sql = (text: string) => {
    texts.add(text);
    return statements(text);
  };
  for (const sweep of createSweeps(sql, NOW, resolveRetention({ archivedTranscriptsMs: 10 * DAY }))) {
    sweep.delete(3);
    sweep.oldest();
  }
  // The start of a table in its own order, up to a limit, is read without an index.
  const plans = [...texts]
    .filter((text) => !text.includes("LIMIT max(?1, 2000)") && !text.includes("sqlite_schema"))
    .flatMap((text) =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map(({ detail }) => String(detail)),
    );
  // Pairing requests, the leases of this process, and deletions that can be undone, are few.
  expect(plans.filter((plan) => /^SCAN (?!pairing_requests|leases|deleted_sessions|CONSTANT)/.test(plan) && !plan.includes("USING COVERING INDEX"))).toEqual(
    [],
  );
});
