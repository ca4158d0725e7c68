import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCheckpoints } from "./checkpoints.ts";
import { createStatements } from "../sqlite/connection.ts";
import { createLogMover, type LogMover, type Moved } from "./log-mover.ts";

let folder = "";
let db: DatabaseSync;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "checkpoints-"));
  db = new DatabaseSync(join(folder, "a.db"));
  db.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x BLOB)");
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Fills about this many pages of the log. */
const fill = (pages: number): void =>
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${pages}) INSERT INTO t SELECT zeroblob(4000) FROM n`);
const logPages = (): number => {
  const row = db.prepare("PRAGMA wal_checkpoint(NOOP)").get()!;
  return Number(row["log"]) - Number(row["checkpointed"]);
};

function lab(mover: LogMover) {
  const failures: string[] = [];
  let resumed = 0;
  const log = createCheckpoints({ sql: createStatements(db), later: () => {}, failed: ({ code }) => failures.push(code), mover, resume: () => (resumed += 1) });
  return { log, failures, resumed: () => resumed };
}

/** Moves nothing until the test reports an outcome. */
function heldMover() {
  const asked: ((moved: Moved) => void)[] = [];
  return { asked, mover: { move: (done: (moved: Moved) => void) => void asked.push(done) } };
}

test("a long log of background work is moved by another thread, and with a very long one the work waits", () => {
  const { mover, asked } = heldMover();
  const { log, resumed } = lab(mover);
  fill(100);
  expect([log.swept(), asked.length]).toEqual([true, 0]);
  fill(1000);
  expect([log.swept(), asked.length]).toEqual([true, 1]);
  // Neither the next step nor a commit starts a second move, or one of its own.
  log.committed(100);
  expect([log.swept(), asked.length, logPages() > 1000]).toEqual([true, 1, true]);
  fill(4000);
  expect(log.swept()).toBe(false);
  asked[0]!({});
  expect(resumed()).toBe(1);
});

test("a caller that requests an empty log while it is being moved gets it right after", () => {
  const { mover, asked } = heldMover();
  const { log } = lab(mover);
  const answers: unknown[] = [];
  fill(1000);
  log.swept();
  log.checkpoint(true, (error) => answers.push(error));
  expect(answers).toEqual([]);
  asked[0]!({});
  expect([answers, logPages()]).toEqual([[undefined], 0]);
  log.checkpoint(true, (error) => answers.push(error));
  expect(answers).toEqual([undefined, undefined]);
});

test("the log stays bounded while background work continues", async () => {
  const mover = createLogMover(join(folder, "a.db"));
  let resume = (): void => {};
  const log = createCheckpoints({ sql: createStatements(db), later: () => {}, failed: (error) => expect.fail(error.message), mover, resume: () => resume() });
  let longest = 0;
  for (let step = 0; step < 60; step += 1) {
    fill(300);
    longest = Math.max(longest, Number(db.prepare("PRAGMA wal_checkpoint(NOOP)").get()!["log"]));
    if (!log.swept()) await new Promise<void>((moved) => (resume = moved));
  }
  // 60 steps write more than 18,000 pages.
  expect(longest).toBeLessThan(6000);
});

test("a disk error while the log is moved fails the store; a lock does not, and without a thread the log is moved at once", () => {
  const { mover, asked } = heldMover();
  const { log, failures } = lab(mover);
  fill(1000);
  log.swept();
  asked[0]!({ error: Object.assign(new Error("database is locked"), { errcode: 5 }) });
  expect(failures).toEqual([]);
  log.swept();
  asked[1]!({ unavailable: true });
  expect(logPages()).toBe(0);
  fill(1000);
  log.swept();
  asked[2]!({ error: Object.assign(new Error("disk I/O error"), { errcode: 10 }) });
  expect(failures).toEqual(["IO_ERROR"]);
});

test("the thread moves the log while the store's connection stays open", async () => {
  const mover = createLogMover(join(folder, "a.db"));
  for (let round = 0; round < 2; round += 1) {
    fill(1000);
    expect(logPages()).toBeGreaterThan(500);
    expect(await new Promise<Moved>((resolve) => mover.move(resolve))).toEqual({});
    expect(logPages()).toBe(0);
  }
});

test("a file that the thread cannot open is reported with SQLite's error", async () => {
  const { error } = await new Promise<Moved>((resolve) => createLogMover(join(folder, "missing/a.db")).move(resolve));
  expect(error).toMatchObject({ errcode: 14 });
});
