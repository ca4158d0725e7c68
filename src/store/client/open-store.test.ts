import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, systemClock } from "../../base/clock.ts";
import { openStore, type OpenStoreOptions } from "./open-store.ts";
import type { Store } from "../store.ts";
import { MIGRATIONS } from "../sqlite/migrations.ts";

let folder = "";
let store: Store | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "store-"));
});
afterEach(async () => {
  await store?.[Symbol.asyncDispose]();
  store = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const open = async (over: Partial<OpenStoreOptions> = {}): Promise<Store> => (store = await openStore({ stateDir: folder, clock: manualClock(), ...over }));
const database = (): string => join(folder, "openclaw.db");
const message = (n: number, text = "hello") => ({ channel: "c", account: "a", conversation: "v", messageId: `m${n}`, kind: "message", text });

test("only the owner may access the state folder and the database", async () => {
  folder = join(folder, "state");
  await (await open()).write("inbox.accept", message(1));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of ["openclaw.db", "openclaw.db-wal", "openclaw.db-shm"]) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
});

test("the log is synced with each commit and free pages can be returned", async () => {
  await open();
  const db = new DatabaseSync(database(), { readOnly: true });
  expect([db.prepare("PRAGMA journal_mode").get(), db.prepare("PRAGMA auto_vacuum").get()]).toMatchObject([{ journal_mode: "wal" }, { auto_vacuum: 2 }]);
  db.close();
});

test("a failed expectation about a session refuses the whole commit", async () => {
  const live = await open();
  await expect(live.write("sessions.expect", { key: "k", version: 0 })).resolves.toBeUndefined();
  await live.write("sessions.put", { key: "k", agentId: "main", entry: { sessionId: "s", updatedAt: 1, label: "old" } });
  expect(await live.write("sessions.merge", { key: "k", version: 1, patch: { label: null, n: 2 } })).toEqual({ version: 2 });
  const commit = (version: number) =>
    live.commit([
      ["inbox.accept", message(version)],
      ["sessions.expect", { key: "k", version }],
    ]);
  await expect(commit(1)).rejects.toMatchObject({ code: "CONFLICT", details: { key: "k", actual: 2 } });
  await commit(2);
  expect((await live.read("inbox.open", {})).map((row) => row.messageId)).toEqual(["m2"]);
  expect(await live.read("sessions.get", { key: "k" })).toEqual({ key: "k", agentId: "main", version: 2, entry: { sessionId: "s", updatedAt: 1, n: 2 } });
});

test("a lazy commit is visible at once, and after a restart", async () => {
  const live = await open();
  await live.write("inbox.accept", message(1), { lazy: true });
  expect((await live.read("inbox.open", {})).map((row) => row.messageId)).toEqual(["m1"]);
  await live.write("turns.start", { id: "t", sessionKey: "k", agentId: "main" });
  await live.write("turns.end", { id: "t", outcome: "answered", detail: { text: "hi" } }, { lazy: true });
  expect(await live.read("turns.get", { id: "t" })).toMatchObject({ state: "ended", detail: { text: "hi" } });
  await live[Symbol.asyncDispose]();
  expect(await (await open()).read("inbox.open", {})).toHaveLength(1);
});

test("a patient commit goes with the next request, or alone, and later requests see it", async () => {
  const live = await open();
  const patient = { lazy: true, patient: true };
  const order: string[] = [];
  const first = live.write("turns.start", { id: "t", sessionKey: "k", agentId: "main" }, patient).then(() => order.push("started"));
  await live.write("turns.end", { id: "t", outcome: "answered" }).then(() => order.push("ended"));
  await first;
  expect(order).toEqual(["started", "ended"]);
  const second = live.write("inbox.accept", message(1), patient);
  expect(await live.read("inbox.open", {})).toHaveLength(1);
  await second;
  await live.write("inbox.accept", message(2), patient); // No other request follows.
  const refused = live.write("turns.end", { id: "none", outcome: "failed" }, patient);
  const beside = live.write("inbox.accept", message(3));
  await expect(refused).rejects.toMatchObject({ code: "NOT_FOUND" });
  await beside;
  const last = live.write("inbox.accept", message(4), patient);
  await live[Symbol.asyncDispose]();
  await last;
  expect((await (await open()).read("inbox.open", {})).map((row) => row.messageId)).toEqual(["m1", "m2", "m3", "m4"]);
});

test("a transcript's file follows the database, also through an archive", async () => {
  const live = await open();
  const file = "agents/main/sessions/s1.jsonl";
  await live.write("transcripts.ensure", { file, agentId: "main", sessionId: "s1", header: '{"type":"session","id":"s1"}' });
  for (let n = 0; n < 300; n += 1) await live.write("transcripts.append", { file, entries: [{ id: `e${n}`, type: "message", line: `{"n":${n}}` }] });
  const { file: archived } = await live.write("transcripts.archive", { file, reason: "reset" });
  const { bytes } = (await live.read("transcripts.get", { file: archived }))!;
  await live[Symbol.asyncDispose]();
  const lines = readFileSync(join(folder, archived), "utf8");
  expect(Buffer.byteLength(lines)).toBe(bytes);
  expect(lines.split("\n").slice(-2)).toEqual(['{"n":299}', ""]);
  expect(existsSync(join(folder, file))).toBe(false);
});

test("a transcript file that was cut is completed before its session is used again", async () => {
  const file = "agents/main/sessions/s1.jsonl";
  const first = await open();
  await first.commit([
    ["transcripts.ensure", { file, agentId: "main", sessionId: "s1", header: '{"type":"session","id":"s1"}' }],
    ["transcripts.append", { file, entries: [{ id: "a", type: "message", line: '{"type":"message","id":"a"}' }] }],
  ]);
  await first[Symbol.asyncDispose]();
  const whole = readFileSync(join(folder, file), "utf8");
  writeFileSync(join(folder, file), whole.slice(0, -9));
  await (await open()).read("transcripts.tail", { file, limit: 1 });
  expect(readFileSync(join(folder, file), "utf8")).toBe(whole);
});

test("a full queue refuses a commit before accepting it, with a retry hint", async () => {
  const live = await open({ maxWaiting: 10 });
  const results = await Promise.allSettled(Array.from({ length: 30 }, (_, n) => live.write("inbox.accept", message(n))));
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(10);
  expect(results.find((result) => result.status === "rejected")).toMatchObject({ reason: { code: "OVERLOADED", details: { retryAfterMs: 250 } } });
  expect(await live.read("inbox.counts", {})).toMatchObject({ pending: 10 });
});

test("queued bytes are bounded, too, but one large commit passes", async () => {
  const live = await open({ maxWaitingBytes: 1000 });
  const large = live.write("inbox.accept", message(1, "x".repeat(5000)));
  await expect(live.write("inbox.accept", message(2))).rejects.toMatchObject({ code: "OVERLOADED" });
  expect(await large).toMatchObject({ duplicate: false });
});

test("redacted text is in no file of the database after the log was truncated", async () => {
  const live = await open();
  const { id } = await live.write("inbox.accept", message(1, "PLEASE-FORGET-ME"));
  expect(["", "-wal"].some((end) => readFileSync(database() + end).includes("PLEASE-FORGET-ME"))).toBe(true);
  await live.write("inbox.redact", { id, text: "[blocked]" });
  await live.checkpoint({ truncate: true });
  expect(statSync(`${database()}-wal`).size).toBe(0);
  expect(readFileSync(database()).includes("PLEASE-FORGET-ME")).toBe(false);
});

test("a file of a newer version is refused and left untouched", async () => {
  await (await open())[Symbol.asyncDispose]();
  const db = new DatabaseSync(database());
  db.exec("PRAGMA user_version = 900; UPDATE meta SET value = '800' WHERE key = 'store.min_reader'");
  db.close();
  const before = readFileSync(database());
  await expect(open()).rejects.toMatchObject({ code: "STORE_TOO_NEW", details: { version: 900, needed: 800, ours: MIGRATIONS.length } });
  expect(readFileSync(database()).equals(before)).toBe(true);
});

test("a state folder that cannot be created is reported with its path and the reason", async () => {
  writeFileSync(join(folder, "file"), "");
  await expect(open({ stateDir: join(folder, "file", "state") })).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining(join(folder, "file")),
  });
});

test("a file that is not a database is set aside, the rest is used, and health reports it", async () => {
  writeFileSync(database(), "this was never a database, and it is long enough to be read as a header".repeat(100));
  const live = await open();
  expect(await live.write("inbox.accept", message(1))).toMatchObject({ duplicate: false });
  expect(live.health().notices).toMatchObject([{ kind: "salvaged" }]);
});

test("damage found while running stops all writes, and the next start salvages the database", async () => {
  const live = await open({ clock: systemClock });
  for (let n = 0; n < 200; n += 1) void live.write("inbox.accept", message(n, "x".repeat(3000)));
  await live.write("sessions.put", { key: "k", agentId: "main", entry: { sessionId: "s", updatedAt: 1 } });
  await live[Symbol.asyncDispose]();
  const bytes = readFileSync(database());
  bytes.fill(0xff, 4096 * 150, 4096 * 160);
  writeFileSync(database(), bytes);

  const hurt = await open({ clock: systemClock });
  const failures: string[] = [];
  hurt.onFailure((failure) => failures.push(failure.code));
  const ids = Array.from({ length: 200 }, (_, n) => n + 1);
  const results = await Promise.allSettled(ids.map((id) => hurt.write("inbox.redact", { id, text: "y" })));
  expect(results.some((result) => result.status === "rejected")).toBe(true);
  expect(hurt.health()).toMatchObject({ state: "failed", failure: { code: "STORE_DAMAGED" } });
  expect(failures).toEqual(["STORE_DAMAGED"]);
  await expect(hurt.write("inbox.accept", message(999))).rejects.toMatchObject({ code: "STORE_FAILED" });
  await hurt[Symbol.asyncDispose]();

  const saved = await open({ clock: systemClock });
  expect(saved.health().notices).toMatchObject([{ kind: "salvaged" }]);
  expect(await saved.read("sessions.get", { key: "k" })).toMatchObject({ entry: { sessionId: "s" } });
  expect((await saved.read("inbox.counts", {})).pending).toBeGreaterThan(50);
  expect(existsSync(`${database()}.suspect`)).toBe(false);
});

test("long reads go to a thread of their own and see what was acknowledged", async () => {
  const live = await open();
  for (let n = 0; n < 5; n += 1) {
    await live.write("sessions.put", { key: `k${n}`, agentId: "main", entry: { sessionId: "s", updatedAt: n } });
    expect((await live.read("sessions.list", {})).total).toBe(n + 1);
  }
});
