import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { openStore, type Write } from "../index.ts";
import { createStatements } from "../sqlite/connection.ts";
import { createGroups } from "../thread/group.ts";
import { openDatabase } from "../thread/open-database.ts";
import { createSessionIndex, type SessionIndex, type TouchedSession } from "./index.ts";
import { referenceSystem } from "./reference.fixture.ts";

const T = 1_772_000_000_000;
let stateDir: string;
let db: DatabaseSync;
beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "session-index-"));
  ({ db } = await openDatabase({ file: join(stateDir, "openclaw.db"), stateDir, now: () => T }));
});
afterEach(() => {
  db.close();
  rmSync(stateDir, { recursive: true, force: true });
});

const folder = (agentId = "main"): string => join(stateDir, "agents", agentId, "sessions");
const put = (key: string, fields: Record<string, unknown> = {}, agentId = "main"): Write => [
  "sessions.put",
  { key, agentId, entry: { sessionId: `id-${key.replaceAll(/[^a-z0-9]/gi, "-")}`, updatedAt: T, ...fields } },
];

interface Driven {
  readonly index: SessionIndex;
  /** Pending timers, with their time. */
  readonly timers: { readonly ms: number; readonly fn: () => void }[];
  readonly takenIn: (readonly TouchedSession[])[];
  commit(...writes: Write[]): void;
  /** Runs timers until none is pending, or only one with at least this delay. Returns how many ran. */
  settle(longest?: number): number;
}

/** The index with a database and timers that the test runs by hand. */
function drive(): Driven {
  const sql = createStatements(db);
  const groups = createGroups(db, sql);
  const timers: { readonly ms: number; readonly fn: () => void }[] = [];
  const takenIn: (readonly TouchedSession[])[] = [];
  const later = (ms: number, fn: () => void): unknown => timers.push({ ms, fn });
  const index = createSessionIndex({
    db,
    sql,
    stateDir,
    template: undefined,
    now: () => T,
    log: () => {},
    later,
    wrote: () => {},
    imported: (touched) => takenIn.push(touched),
  });
  return {
    index,
    timers,
    takenIn,
    commit(...writes) {
      const group = [[1, T, writes, undefined, false]] as const;
      expect(groups.run(group).settled.map(([, ok]) => ok)).toEqual([true]);
      index.committed(group);
    },
    settle(longest = Infinity) {
      let ran = 0;
      while (timers.length > 0 && timers[0]!.ms < longest) {
        timers.shift()!.fn();
        ran += 1;
      }
      return ran;
    },
  };
}

test("any number of commits needs one timer and one write of the file", () => {
  const { commit, timers, settle } = drive();
  for (let at = 0; at < 200; at += 1) commit(put("agent:main:a", { updatedAt: T + at }));
  expect(timers.map(({ ms }) => ms)).toEqual([2000]);
  expect(existsSync(join(folder(), "sessions.json"))).toBe(false);
  settle();
  expect(referenceSystem(folder()).load()["agent:main:a"]!.updatedAt).toBe(T + 199);
});

test("a commit without session changes schedules nothing, and one of an agent writes only that agent's file", () => {
  const { commit, timers, settle } = drive();
  commit(put("agent:main:a"), put("agent:work:b", {}, "work"));
  settle();
  const before = statSync(join(folder("work"), "sessions.json")).ino;
  commit(["meta.set", { key: "x", value: 1 }], ["sessions.expect", { key: "agent:main:a", version: 1 }]);
  expect(timers).toEqual([]);
  commit(put("agent:main:a", { updatedAt: T + 1 }));
  settle();
  expect(statSync(join(folder("work"), "sessions.json")).ino).toBe(before);
  expect(referenceSystem(folder()).load()["agent:main:a"]!.updatedAt).toBe(T + 1);
});

test("nothing is synced by itself", () => {
  const levels: unknown[] = [];
  const { exec } = db;
  db.exec = function (this: DatabaseSync, text: string) {
    if (text === "COMMIT") levels.push(db.prepare("PRAGMA synchronous").get()!["synchronous"]);
    return exec.call(this, text);
  };
  const { commit, settle } = drive();
  commit(put("agent:main:a"));
  settle();
  expect(levels.length).toBeGreaterThan(0);
  expect(new Set(levels)).toEqual(new Set([1]));
});

test("5,000 sessions are written in many small steps, and a larger file waits longer for its next write", () => {
  const { commit, timers, settle } = drive();
  const report = { source: "run", text: "x".repeat(1000) };
  commit(...Array.from({ length: 5000 }, (_, at) => put(`agent:main:s${at}`, { systemPromptReport: report })));
  // How long a step takes depends on the machine; certain is that one step never does everything.
  expect(settle()).toBeGreaterThan(10);
  expect(Object.keys(referenceSystem(folder()).load())).toHaveLength(5000);
  const size = statSync(join(folder(), "sessions.json")).size;
  commit(put("agent:main:s1", { label: "L" }));
  expect(timers).toHaveLength(1);
  expect(timers[0]!.ms).toBeGreaterThan(2000);
  expect(timers[0]!.ms).toBeLessThanOrEqual(size / 1024);
  // Only what changed is recorded again.
  const noted = (): unknown => db.prepare("SELECT max(pass) AS pass, count(*) AS n FROM session_projected WHERE pass = (SELECT pass FROM session_files)").get();
  expect(noted()).toMatchObject({ pass: 1, n: 5000 });
  settle();
  expect(noted()).toMatchObject({ pass: 2, n: 1 });
});

test("sessions that change while the file is written are in it after the next write", () => {
  const { commit, timers, settle } = drive();
  commit(...Array.from({ length: 600 }, (_, at) => put(`agent:main:s${at}`)));
  timers.shift()!.fn();
  timers.shift()!.fn();
  commit(put("agent:main:s0", { label: "late" }), put("agent:main:new"), ["sessions.delete", { key: "agent:main:s1" }]);
  settle();
  const index = referenceSystem(folder()).load();
  expect(index["agent:main:s0"]!["label"]).toBe("late");
  expect([Object.keys(index).length, "agent:main:s1" in index]).toEqual([600, false]);
  expect(db.prepare("SELECT count(*) AS n FROM session_projected").get()!["n"]).toBe(600);
});

test("a change by another program while the gateway runs is imported before the file is written", async () => {
  const { commit, timers, settle, takenIn } = drive();
  commit(put("agent:main:a"), put("agent:main:b"), put("agent:main:c"));
  settle();
  const reference = referenceSystem(folder());
  reference.remove("agent:main:b");
  reference.change("agent:main:new", { sessionId: "s-new", updatedAt: T + 1 });
  commit(put("agent:main:a", { updatedAt: T + 5, label: "here" }));
  settle();
  await expect.poll(() => timers.length).toBe(1);
  settle();
  expect(takenIn.flat().map(({ sessionId }) => sessionId)).toEqual(expect.arrayContaining(["id-agent-main-b", "s-new"]));
  expect(Object.entries(reference.load()).map(([key, { label }]) => [key, label])).toEqual([
    ["agent:main:a", "here"],
    ["agent:main:c", undefined],
    ["agent:main:new", undefined],
  ]);
  expect(readdirSync(folder()).filter((name) => name.startsWith("sessions.json.bak."))).toHaveLength(1);
});

test("closing completes the current write, and writes what has changed since it started", () => {
  const { commit, index, timers } = drive();
  commit(...Array.from({ length: 600 }, (_, at) => put(`agent:main:s${at}`)));
  timers.shift()!.fn();
  commit(put("agent:main:s0", { label: "late" }));
  index.close();
  expect(referenceSystem(folder()).load()["agent:main:s0"]!.label).toBe("late");
  expect(Object.keys(referenceSystem(folder()).load())).toHaveLength(600);
  expect(readdirSync(folder())).toEqual(["sessions.json"]);
});

const PROGRAM = `
  const [root, stateDir] = process.argv.slice(1);
  const { openStore } = await import(root + "/src/store/index.ts");
  const { systemClock } = await import(root + "/src/base/clock.ts");
  const store = await openStore({ stateDir, clock: systemClock, sessionIndex: {} });
  await store.commit([
    ["sessions.delete", { key: "agent:main:gone" }],
    ["sessions.put", { key: "agent:main:new", agentId: "main", entry: { sessionId: "new", updatedAt: ${T + 1} } }],
  ]);
  await store[Symbol.asyncDispose]();
`;

test.each([
  ["index.written", ["agent:main:a", "agent:main:gone"]],
  ["index.replaced", ["agent:main:a", "agent:main:new"]],
])("killed at %s the file is whole, is known as our own, and is right after the next start", async (failpoint, there) => {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  {
    await using store = await openStore({ stateDir, clock: systemClock, sessionIndex: {} });
    await store.commit([put("agent:main:a"), put("agent:main:gone")]);
  }
  const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM, root, stateDir], { env: { ...process.env, OPENCLAW_FAILPOINT: failpoint } });
  expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
  const reference = referenceSystem(folder());
  expect(Object.keys(reference.load())).toEqual(there);
  {
    await using store = await openStore({ stateDir, clock: systemClock, sessionIndex: {} });
    expect((await store.read("sessions.list", { order: "key" })).rows.map(({ key }) => key)).toEqual(["agent:main:a", "agent:main:new"]);
  }
  expect(Object.keys(reference.load())).toEqual(["agent:main:a", "agent:main:new"]);
  expect(readdirSync(folder())).toEqual(["sessions.json"]);
  expect(readFileSync(join(folder(), "sessions.json"), "utf8").endsWith("}")).toBe(true);
});
