import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { assertReadable, migrate, MIGRATIONS, requireReader, type Migration } from "./migrations.ts";

const columns = (db: DatabaseSync): unknown[] =>
  db
    .prepare("PRAGMA table_info(inbox)")
    .all()
    .map((row) => row["name"]);
const version = (db: DatabaseSync): unknown => db.prepare("PRAGMA user_version").get()!["user_version"];
const V2: Migration = { version: 2, minReader: 1, up: "ALTER TABLE inbox ADD COLUMN mood TEXT" };
const V3: Migration = { version: 3, minReader: 3, up: (db) => db.exec("ALTER TABLE inbox DROP COLUMN mood") };

test("an empty file gets the newest version, and is left alone from then on", () => {
  const db = new DatabaseSync(":memory:");
  expect(migrate(db, 5)).toBe(MIGRATIONS.length);
  expect(migrate(db, 6)).toBe(0);
  expect(db.prepare("SELECT value FROM meta WHERE key = 'store.migrated.1'").get()).toMatchObject({ value: "5" });
});

test("versions are numbered without gaps, and none requires a reader newer than itself", () => {
  expect(MIGRATIONS.map((migration) => migration.version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  expect(MIGRATIONS.filter((migration) => migration.minReader > migration.version)).toEqual([]);
});

test("usage of the first version is preserved, without a sender", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, 1, [MIGRATIONS[0]!]);
  db.exec(`INSERT INTO usage (at, day, session_key, agent_id, provider, model, input, output, cache_read, cache_write, cost, duration_ms, failed)
    VALUES (1, '1970-01-01', 's', 'a', 'p', 'm', 1, 2, 3, 4, 0.5, 6, 0)`);
  expect(migrate(db, 2)).toBe(MIGRATIONS.length - 1);
  expect(db.prepare("SELECT cost, sender FROM usage").all()).toEqual([{ cost: 0.5, sender: null }]);
});

test("decisions about commands from before outcomes were stored are reported correctly", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, 1, MIGRATIONS.slice(0, 3));
  const add = db.prepare("INSERT INTO approvals (id, kind, request, state, decision, created_at, expires_at) VALUES (?, ?, '{}', ?, ?, 1, 2)");
  add.run("allowed", "exec", "decided", "allow-once");
  add.run("denied", "exec", "decided", "deny");
  add.run("late", "exec", "expired", null);
  add.run("other", "plugin", "decided", "deny");
  expect(migrate(db, 2)).toBe(MIGRATIONS.length - 3);
  const rows = db.prepare("SELECT id, fate FROM approvals ORDER BY id").all();
  expect(rows.map(({ id, fate }) => [id, JSON.parse(String(fate)) as unknown])).toEqual([
    ["allowed", { state: "lost", told: true }],
    ["denied", { state: "denied", told: true }],
    ["late", { state: "denied", why: "approval-timeout", told: true }],
    ["other", null],
  ]);
});

test("an old file is brought up step by step", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, 1, [MIGRATIONS[0]!]);
  expect(migrate(db, 2, [MIGRATIONS[0]!, V2])).toBe(1);
  expect([version(db), columns(db).includes("mood")]).toEqual([2, true]);
});

test("the previous version can read a file that allows it", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, 1, [MIGRATIONS[0]!, V2]);
  expect(() => assertReadable(db, [MIGRATIONS[0]!])).not.toThrow();
  expect(migrate(db, 2, [MIGRATIONS[0]!])).toBe(0);
  db.exec(
    "INSERT INTO inbox (channel, account, conversation, message_id, kind, text, state, received_at) VALUES ('c', 'a', 'v', 'm', 'message', 't', 'pending', 1)",
  );
  expect(version(db)).toBe(2);
});

test("a version that would misread the file refuses it", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, 1, [MIGRATIONS[0]!, V2, V3]);
  expect(() => migrate(db, 2, [MIGRATIONS[0]!, V2])).toThrow(expect.objectContaining({ code: "STORE_TOO_NEW" }));
});

test("a failed migration leaves the previous version", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, 1, [MIGRATIONS[0]!]);
  const broken: Migration = { version: 2, minReader: 1, up: "ALTER TABLE inbox ADD COLUMN mood TEXT; SELECT one FROM nowhere" };
  expect(() => migrate(db, 2, [MIGRATIONS[0]!, broken])).toThrow("nowhere");
  expect([version(db), columns(db).includes("mood"), db.isTransaction]).toEqual([1, false, false]);
});

test("a database that requires a newer reader still does after a migration that does not", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, 1, [MIGRATIONS[0]!]);
  requireReader(db, 7);
  migrate(db, 2, [MIGRATIONS[0]!, { version: 2, minReader: 1, up: "SELECT 1" }]);
  expect(db.prepare("SELECT value FROM meta WHERE key = 'store.min_reader'").get()).toEqual({ value: "7" });
});
