import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../base/clock.ts";
import type { ReadKind } from "../areas/index.ts";
import { inspectStore } from "../inspect.ts";
import { openStore } from "../client/open-store.ts";
import type { Store } from "../store.ts";
import { createStatements, runRead } from "../sqlite/connection.ts";
import { migrate, MIGRATIONS } from "../sqlite/migrations.ts";

let folder = "";
let store: Store | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "session-indexes-"));
});
afterEach(async () => {
  await store?.[Symbol.asyncDispose]();
  store = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const SESSIONS = 300;
const database = (): string => join(folder, "openclaw.db");

/** A state of the version before the indexes: three agents, one message each. */
function makeOldState(): void {
  const db = new DatabaseSync(database());
  migrate(db, 1, MIGRATIONS.slice(0, 5));
  const session = db.prepare("INSERT INTO sessions (key, agent_id, session_id, updated_at, channel, version, entry) VALUES (?, ?, ?, ?, 'webchat', 1, ?)");
  const transcript = db.prepare(
    "INSERT INTO transcripts (tid, agent_id, session_id, file, next_seq, bytes, leaf_id, created_at) VALUES (?, ?, ?, ?, 2, 0, 'e1', 1)",
  );
  const entry = db.prepare("INSERT INTO transcript_entries (tid, seq, entry_id, type, line) VALUES (?, 1, 'e1', 'message', ?)");
  db.exec("BEGIN");
  for (let n = 0; n < SESSIONS; n += 1) {
    const agent = ["main", "work", "rare"][n === 7 ? 2 : n % 2]!;
    const sessionEntry = { sessionId: `s${n}`, updatedAt: n, displayName: `Person ${n}`, systemPromptReport: { text: "x".repeat(3000) } };
    session.run(`agent:${agent}:web:${n}`, agent, `s${n}`, n, JSON.stringify(sessionEntry));
    transcript.run(n + 1, agent, `s${n}`, `agents/${agent}/sessions/s${n}.jsonl`);
    const message = { role: "user", content: [{ type: "text", text: `Äpfel number ${n} and "quotes"` }] };
    entry.run(n + 1, JSON.stringify({ type: "message", id: "e1", parentId: null, message }));
  }
  db.exec("COMMIT");
  db.close();
}

function look<T>(with_: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(database(), { readOnly: true });
  try {
    return with_(db);
  } finally {
    db.close();
  }
}

const unfinished = (): number =>
  look((db) =>
    Number(db.prepare("SELECT (SELECT count(*) FROM meta WHERE key LIKE 'sessions.%') + (SELECT count(*) FROM session_unsearched) AS n").get()!["n"]),
  );

async function caughtUp(): Promise<void> {
  await store!.maintain({ budgetMs: 1 });
  await vi.waitFor(() => expect(unfinished()).toBe(0), { timeout: 30_000, interval: 20 });
}

/** Results of lists and searches, as keys. */
async function answers(of: Store): Promise<unknown> {
  const keys = async (kind: "sessions.list" | "sessions.shown", input: object): Promise<unknown> => {
    const { rows, total } = await of.read(kind, input);
    return [rows.map(({ key }) => key), total];
  };
  return Promise.all([
    keys("sessions.list", { limit: 5 }),
    keys("sessions.list", { limit: 5, offset: 120 }),
    keys("sessions.list", { limit: 5, agentId: "rare" }),
    keys("sessions.list", { limit: 5, agentId: "nobody" }),
    keys("sessions.list", { limit: 3, order: "oldest", activeSince: 10 }),
    keys("sessions.list", { limit: 4, except: ["agent:work:web:299", "global"] }),
    keys("sessions.list", { limit: 4, after: { updatedAt: 290, key: "agent:main:web:290" } }),
    keys("sessions.shown", { limit: 5, search: "äpfel number 12" }),
    keys("sessions.shown", { limit: 5, search: 'PERSON "quotes"' }),
    keys("sessions.shown", { limit: 5, search: "r 9", agentId: "work" }),
    keys("sessions.shown", { limit: 5, search: "agent:rare: 7" }),
    keys("sessions.shown", { limit: 5, offset: 3, search: "web", order: "key" }),
    keys("sessions.shown", { search: "nothing like it" }),
  ]);
}

test("the indexes of an old state are filled after its start, and results are the same before and after", async () => {
  makeOldState();
  store = await openStore({ stateDir: folder, clock: systemClock });
  expect(unfinished()).toBeGreaterThan(0);
  const before = await answers(store);
  expect((before as readonly unknown[])[0]).toEqual([[299, 298, 297, 296, 295].map((n) => `agent:${n % 2 === 0 ? "main" : "work"}:web:${n}`), SESSIONS]);
  await caughtUp();
  expect(await answers(store)).toEqual(before);
  expect(look((db) => db.prepare("SELECT name FROM sqlite_schema WHERE name = 'sessions_updated'").get())).toBeUndefined();
  expect(look((db) => db.prepare("SELECT agent_id AS agent, n FROM session_counts ORDER BY agent_id").all())).toEqual([
    { agent: "main", n: 150 },
    { agent: "rare", n: 1 },
    { agent: "work", n: 149 },
  ]);
});

test("a state that no gateway of this version has opened can be inspected, and stays as it is", () => {
  makeOldState();
  using state = inspectStore(folder)!;
  expect(state.read("sessions.list", { limit: 1, agentId: "rare" })).toMatchObject({ rows: [{ key: "agent:rare:web:7" }], total: 1 });
  expect(state.read("sessions.get", { key: "agent:rare:web:7" })).toMatchObject({
    entry: { sessionId: "s7", systemPromptReport: { text: expect.any(String) } },
  });
  expect(look((db) => db.prepare("PRAGMA user_version").get())).toEqual({ user_version: 5 });
});

test("a turn writes a few pages, however large its session's entry is", async () => {
  store = await openStore({ stateDir: folder, clock: systemClock });
  const entry = { sessionId: "s", updatedAt: 1, systemPromptReport: { text: "x".repeat(40_000) } };
  await store.write("sessions.put", { key: "k", agentId: "main", entry });
  await store.checkpoint({ truncate: true });
  for (let n = 0; n < 10; n += 1) await store.write("sessions.merge", { key: "k", patch: { updatedAt: n + 2 } });
  // Ten commits of the entry's page and those of its indexes; with the report each would write ten pages more.
  expect(statSync(`${database()}-wal`).size).toBeLessThan(10 * 6 * 4120);
  expect((await store.read("sessions.get", { key: "k" }))?.entry).toEqual({ ...entry, updatedAt: 11 });
});

test("an old entry is split by its next change, and reads the same", async () => {
  makeOldState();
  store = await openStore({ stateDir: folder, clock: systemClock });
  const before = (await store.read("sessions.get", { key: "agent:rare:web:7" }))!.entry;
  await store.write("sessions.merge", { key: "agent:rare:web:7", patch: { model: "m" } });
  expect((await store.read("sessions.get", { key: "agent:rare:web:7" }))!.entry).toEqual({ ...before, model: "m" });
  expect(look((db) => Number(db.prepare("SELECT length(entry) AS n FROM sessions WHERE key = 'agent:rare:web:7'").get()!["n"]))).toBeLessThan(300);
});

test("a search finds the current session after every kind of change, whether the index has caught up or not", async () => {
  store = await openStore({ stateDir: folder, clock: systemClock });
  const of = store;
  const file = "agents/main/sessions/s1.jsonl";
  const found = async (search: string): Promise<unknown> => (await of.read("sessions.shown", { search, last: true, limit: 9 })).rows.map(({ key }) => key);
  const say = (id: string, parentId: string | null, text: string): Promise<unknown> => {
    const line = JSON.stringify({ type: "message", id, parentId, message: { role: "user", content: [{ type: "text", text }] } });
    return of.write("transcripts.append", { file, entries: [{ id, parentId, type: "message", line }] });
  };
  /** Searched before the index knows of the change, and after. */
  const expectFound = async (search: string, keys: readonly string[]): Promise<void> => {
    expect(await found(search)).toEqual(keys);
    await caughtUp();
    expect(await found(search)).toEqual(keys);
  };
  await of.write("sessions.put", { key: "agent:main:a", agentId: "main", entry: { sessionId: "s1", updatedAt: 1, label: "Lighthouse" } });
  await expectFound("lighthouse", ["agent:main:a"]);
  await of.write("transcripts.ensure", { file, agentId: "main", sessionId: "s1", header: "{}" });
  await say("e1", null, "a walk on the beach");
  await expectFound("beach", ["agent:main:a"]);
  await say("e2", "e1", "and a swim");
  await expectFound("swim", ["agent:main:a"]);
  await of.write("transcripts.branch", { file, leafId: "e1" });
  await expectFound("swim", []);
  await of.write("sessions.patch", { key: "agent:main:a", patch: { label: "Harbour" } });
  await expectFound("lighthouse", []);
  await of.write("sessions.rename", { from: "agent:main:a", to: "agent:main:b" });
  await expectFound("harbour", ["agent:main:b"]);
  expect(await of.read("sessions.list", { limit: 9 })).toMatchObject({ rows: [{ key: "agent:main:b" }], total: 1 });
  await of.write("sessions.put", { key: "agent:main:b", agentId: "work", entry: { sessionId: "s1", updatedAt: 5 } });
  expect(await of.read("sessions.list", { limit: 9, agentId: "main" })).toMatchObject({ rows: [], total: 0 });
  expect(await of.read("sessions.list", { limit: 9, agentId: "work" })).toMatchObject({ rows: [{ key: "agent:main:b" }], total: 1 });
  await of.write("sessions.delete", { key: "agent:main:b" });
  await expectFound("beach", []);
  expect(await of.read("sessions.list", { limit: 9 })).toEqual({ rows: [], total: 0 });
  expect(look((db) => db.prepare("SELECT (SELECT count(*) FROM session_list) + (SELECT count(*) FROM session_search) AS n").get())).toEqual({ n: 0 });
});

test("a page of sessions, the total, and a search read no more entries than they show", async () => {
  makeOldState();
  store = await openStore({ stateDir: folder, clock: systemClock });
  await caughtUp();
  const db = new DatabaseSync(database(), { readOnly: true });
  const texts = new Set<string>();
  const statements = createStatements(db);
  const context = {
    sql: (text: string) => {
      texts.add(text);
      return statements(text);
    },
  };
  const asked: readonly (readonly [ReadKind, object])[] = [
    ["sessions.list", { limit: 10, except: ["global", "unknown"] }],
    ["sessions.list", { limit: 10, agentId: "rare" }],
    ["sessions.list", { limit: 10, activeSince: 5, offset: 100 }],
    ["sessions.shown", { limit: 10, last: true }],
    ["sessions.shown", { limit: 10, last: true, search: "äpfel" }],
  ];
  for (const [kind, input] of asked) runRead(context, kind, input);
  // Active sessions are counted in the entries: no page of the UI asks for both.
  const plans = [...texts]
    .filter((text) => text.startsWith("SELECT") && !text.includes("count(*) AS n FROM sessions WHERE updated_at"))
    .flatMap((text) =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all(...Array.from({ length: text.split("?").length - 1 }, () => "1"))
        .map(({ detail }) => `${String(detail)} <- ${text}`),
    );
  db.close();
  expect(plans.filter((plan) => /^SCAN (?:sessions|session_search|transcripts|transcript_entries)\b(?! USING COVERING)/.test(plan))).toEqual([]);
});

test("turns on an already marked session do not write to the index", async () => {
  store = await openStore({ stateDir: folder, clock: systemClock });
  const put = (updatedAt: number): Promise<unknown> => store!.write("sessions.put", { key: "k", agentId: "main", entry: { sessionId: "s", updatedAt } });
  await put(1);
  const marked = look((db) => db.prepare("SELECT count(*) AS n FROM session_unsearched").get());
  for (let n = 2; n < 20; n += 1) await put(n);
  expect(look((db) => db.prepare("SELECT count(*) AS n FROM session_unsearched").get())).toEqual(marked);
  expect(look((db) => db.prepare("SELECT updated_at AS at FROM session_list").all())).toEqual([{ at: 19 }]);
});
