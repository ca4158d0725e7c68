import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Background } from "./background.ts";
import { createStatements } from "../sqlite/connection.ts";
import { createRequestHandler, type RequestHandler } from "./request-handler.ts";
import { createGroups, type Groups } from "./group.ts";
import type { CommitRequest, Reply } from "../messages.ts";
import { openDatabase } from "./open-database.ts";
import type { TranscriptFiles } from "./transcript-files.ts";

let folder = "";
let db: DatabaseSync;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "store-"));
  ({ db } = await openDatabase({ file: join(folder, "openclaw.db"), stateDir: folder, now: () => 1 }));
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

const accept = (id: number, text = "hello"): CommitRequest => [
  id,
  1,
  [["inbox.accept", { channel: "c", account: "a", conversation: "v", messageId: `m${id}`, kind: "message", text }]],
  undefined,
  false,
];
const count = (): unknown => db.prepare("SELECT count(*) AS n FROM inbox").get()!["n"];

/** The database, except that its COMMIT fails like a failed fsync or a full disk, counting the attempts. */
function failingCommit(errcode: number): { readonly broken: DatabaseSync; readonly tries: () => number } {
  let tries = 0;
  const broken = {
    prepare: (text: string) =>
      text === "COMMIT"
        ? {
            run() {
              tries += 1;
              throw Object.assign(new Error("disk I/O error"), { errcode });
            },
          }
        : db.prepare(text),
    exec: (text: string) => db.exec(text),
    get isTransaction() {
      return db.isTransaction;
    },
  };
  return { broken: broken as unknown as DatabaseSync, tries: () => tries };
}

/** The database, recording the sync level of each COMMIT: 2 is full. */
function watchedCommit(): { readonly watched: DatabaseSync; readonly levels: unknown[] } {
  const levels: unknown[] = [];
  const level = (): unknown => db.prepare("PRAGMA synchronous").get()!["synchronous"];
  const prepare = (text: string) => {
    const statement = db.prepare(text);
    return text === "COMMIT" ? { run: () => (levels.push(level()), statement.run()) } : statement;
  };
  const watched = {
    prepare,
    exec: (text: string) => db.exec(text),
    get isTransaction() {
      return db.isTransaction;
    },
  };
  return { watched: watched as unknown as DatabaseSync, levels };
}

test("only a group of lazy commits skips the sync, and the next group syncs again", () => {
  const lazy = (id: number): CommitRequest => [...accept(id).slice(0, 4), true] as unknown as CommitRequest;
  const { watched, levels } = watchedCommit();
  const groups = createGroups(watched, createStatements(db));
  db.exec("PRAGMA synchronous = FULL");
  for (const group of [[accept(1)], [lazy(2)], [lazy(3), accept(4)], [lazy(5), lazy(6)], [accept(7)]]) groups.run(group);
  // A group that is refused as a whole leaves the next one synced, too.
  const refused: CommitRequest = [8, 1, [["turns.end", { id: "none", outcome: "failed" }]], undefined, true];
  groups.run([refused]);
  groups.run([accept(9)]);
  expect(levels).toEqual([2, 1, 2, 1, 2, 2]);
  expect(count()).toBe(8);
});

function createHandler(groups: Groups): { readonly served: RequestHandler; readonly replies: Reply[] } {
  const replies: Reply[] = [];
  const files = { prepare() {}, follow() {}, flush() {}, problems: () => [], close() {} } as unknown as TranscriptFiles;
  const background = { committed() {} } as unknown as Background;
  const served = createRequestHandler({
    sql: createStatements(db),
    groups,
    files,
    background,
    post: (reply) => replies.push(reply),
    now: () => 7,
    markSuspect() {},
  });
  return { served, replies };
}

test("a failed fsync is not retried: the group is rejected and nothing later is acknowledged", () => {
  const { broken, tries } = failingCommit(1034);
  const { served, replies } = createHandler(createGroups(broken, createStatements(db)));
  served.commit([accept(1), accept(2)]);
  served.commit([accept(3)]);
  expect(tries()).toBe(1);
  expect(replies).toMatchObject([
    { type: "failed", failure: { code: "STORE_FAILED", at: 7, message: expect.stringContaining("disk") } },
    {
      type: "settled",
      settled: [
        [1, false, { code: "STORE_FAILED" }],
        [2, false, { code: "STORE_FAILED" }],
      ],
    },
    { type: "settled", settled: [[3, false, { code: "STORE_FAILED" }]] },
  ]);
  served.answer([[4, "inbox.counts", {}]]);
  expect(replies.at(-1)).toMatchObject({ settled: [[4, true, { pending: 0 }]] });
});

test("a full disk at the commit fails the store, and the caller gets the reason", () => {
  const { served, replies } = createHandler(createGroups(failingCommit(13).broken, createStatements(db)));
  served.commit([accept(1)]);
  expect(replies).toMatchObject([
    { type: "failed", failure: { code: "DISK_FULL" } },
    { type: "settled", diskFull: true, settled: [[1, false, { code: "DISK_FULL" }]] },
  ]);
});

test("a full disk before the commit refuses the whole group, and the store continues when there is space", () => {
  const groups = createGroups(db, createStatements(db));
  expect(groups.run([accept(1)]).settled).toMatchObject([[1, true, [{ duplicate: false }]]]);
  const pages = Number(db.prepare("PRAGMA page_count").get()!["page_count"]);
  db.exec(`PRAGMA max_page_count = ${pages + 2}`);
  const full = groups.run([accept(2), accept(3, "x".repeat(100_000))]);
  expect(full).toMatchObject({
    diskFull: true,
    fatal: undefined,
    effects: [],
    settled: [
      [2, false, { code: "DISK_FULL" }],
      [3, false, { code: "DISK_FULL" }],
    ],
  });
  expect([count(), db.isTransaction]).toEqual([1, false]);
  db.exec("PRAGMA max_page_count = 100000");
  expect(groups.run([accept(2), accept(3, "x".repeat(100_000))])).toMatchObject({ diskFull: false });
  expect(count()).toBe(3);
});

test("a database that another process holds is reported as locked, and nothing fails", async () => {
  const other = (await openDatabase({ file: join(folder, "openclaw.db"), stateDir: folder, now: () => 1 })).db;
  db.exec("PRAGMA busy_timeout = 0");
  other.exec("BEGIN IMMEDIATE");
  const groups = createGroups(db, createStatements(db));
  expect(groups.run([accept(1)])).toMatchObject({ fatal: undefined, settled: [[1, false, { code: "LOCKED" }]] });
  other.exec("ROLLBACK");
  other.close();
  expect(groups.run([accept(1)])).toMatchObject({ settled: [[1, true, [{ duplicate: false }]]] });
});

test("a database that became read-only fails the store", () => {
  db.exec("PRAGMA query_only = ON");
  expect(createGroups(db, createStatements(db)).run([accept(1)])).toMatchObject({ fatal: { code: "READ_ONLY" }, settled: [[1, false, { code: "READ_ONLY" }]] });
});

test("commits that all succeed need no savepoints; those beside a refused one happen once, with their file effects", () => {
  const marks: string[] = [];
  const watched = {
    prepare(text: string) {
      const statement = db.prepare(text);
      return text.startsWith("SAVEPOINT") ? { run: () => (marks.push(text), statement.run()) } : statement;
    },
    exec: (text: string) => db.exec(text),
    get isTransaction() {
      return db.isTransaction;
    },
  };
  const groups = createGroups(watched as unknown as DatabaseSync, createStatements(db));
  groups.run([accept(1), accept(2)]);
  expect(marks).toEqual([]);
  const refused: CommitRequest = [3, 1, [["turns.end", { id: "none", outcome: "failed" }]], undefined, false];
  const file = "agents/main/sessions/t.jsonl";
  const append: CommitRequest = [
    4,
    1,
    [
      ["transcripts.ensure", { file, agentId: "main", sessionId: "t", header: "{}" }],
      ["transcripts.append", { file, entries: [{ id: "e", type: "message", line: "{}" }] }],
    ],
    undefined,
    false,
  ];
  const { settled, effects } = groups.run([append, refused, accept(5)]);
  expect(settled).toMatchObject([
    [4, true, [{ created: true }, { firstSeq: 1 }]],
    [3, false, { code: "NOT_FOUND" }],
    [5, true, [{ duplicate: false }]],
  ]);
  // The header of the transcript and its line.
  expect(effects.map(({ kind }) => kind)).toEqual(["appended", "appended"]);
  expect([marks.length, count(), db.isTransaction]).toEqual([3, 3, false]);
});

test("file effects of a refused commit are dropped with it", () => {
  const file = "agents/main/sessions/s.jsonl";
  const ensure = ["transcripts.ensure", { file, agentId: "main", sessionId: "s", header: "{}" }] as const;
  const groups = createGroups(db, createStatements(db));
  const refused: CommitRequest = [1, 1, [ensure, ["turns.end", { id: "none", outcome: "failed" }]], undefined, false];
  expect(groups.run([refused, accept(2)])).toMatchObject({
    effects: [],
    settled: [
      [1, false, { code: "NOT_FOUND" }],
      [2, true, [{}]],
    ],
  });
  expect(groups.run([[3, 1, [ensure], undefined, false]]).effects).toEqual([{ kind: "appended", file, startBytes: 0, lines: ["{}"] }]);
});

test("work that meets another process's lock is postponed, and the store continues", () => {
  const { served, replies } = createHandler(createGroups(db, createStatements(db)));
  served.upkeep(() => {
    throw Object.assign(new Error("database is locked"), { errcode: 5 });
  });
  served.commit([accept(1)]);
  expect(replies).toMatchObject([{ type: "log" }, { type: "settled", settled: [[1, true, [{ duplicate: false }]]] }]);
});
