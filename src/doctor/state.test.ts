import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync, truncateSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { openStore } from "../store/index.ts";
import { makeDoctorPlace, NOW, type DoctorPlace, type PlaceOptions } from "./place.fixture.ts";

function place(options: PlaceOptions = {}): DoctorPlace {
  const made = makeDoctorPlace(options);
  onTestFinished(made.remove);
  return made;
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test("a state folder that is missing is made for its owner only", async () => {
  const here = place();
  rmSync(here.state, { recursive: true });
  expect(await here.look(["state.folder"])).toMatchObject([{ id: "state.folder:missing", level: "info", repair: { safe: true } }]);
  await here.look(["state.folder"], { fix: true });
  expect(modeOf(here.state)).toBe("700");
  expect(await here.look(["state.folder"])).toMatchObject([{ level: "ok" }]);
});

test("a file where the folder should be is for people to mend", async () => {
  const here = place();
  rmSync(here.state, { recursive: true });
  writeFileSync(here.state, "");
  expect(await here.look(["state.folder"], { fix: true })).toMatchObject([{ id: "state.folder:file", level: "error", todo: expect.any(String) }]);
});

test("what others may read or change is closed to them", async () => {
  const here = place({ config: "{}" });
  const login = here.put("credentials/whatsapp/default/creds.json");
  const keys = here.put("agents/main/agent/auth-profiles.json");
  chmodSync(here.configPath, 0o644);
  chmodSync(here.state, 0o755);
  chmodSync(login, 0o640);
  chmodSync(keys, 0o666);
  const found = await here.look(["state.modes"]);
  expect(found.map(({ level, text }) => [level, /\/([\w.-]+) \(mode/.exec(text)?.[1]])).toEqual([
    ["warn", "state"],
    ["warn", "openclaw.json"],
    ["error", "auth-profiles.json"],
    ["warn", "creds.json"],
  ]);
  expect((await here.look(["state.modes"], { fix: true })).every(({ repaired }) => repaired !== undefined)).toBe(true);
  expect([here.configPath, here.state, login, keys].map(modeOf)).toEqual(["600", "700", "600", "600"]);
  expect(await here.look(["state.modes"])).toMatchObject([{ level: "ok" }]);
});

test("a project's own .env is none of our business", async () => {
  const here = place({ config: "{}" });
  writeFileSync(join(here.home, ".env"), "A=1", { mode: 0o644 });
  expect(await here.look(["state.modes"])).toMatchObject([{ level: "ok" }]);
});

test("state in two folders is reported; a link to the one in use is not a second folder", async () => {
  const here = place({ stateName: ".openclaw" });
  symlinkSync(here.state, join(here.home, ".moltbot"));
  expect(await here.look(["state.folders"])).toMatchObject([{ level: "ok" }]);
  mkdirSync(join(here.home, ".clawdbot", "agents"), { recursive: true });
  expect(await here.look(["state.folders"])).toMatchObject([{ level: "warn", text: expect.stringContaining(".clawdbot") }]);
});

test("a database that is whole has nothing to say", async () => {
  const here = place();
  await using store = await openStore({ stateDir: here.state, clock: systemClock });
  await store.commit([["meta.set", { key: "a", value: 1 }]]);
  expect(await here.look(["store.database", "store.disk", "sessions.transcripts"])).toMatchObject([{ level: "ok" }, { level: "ok" }, { level: "ok" }]);
});

test("a damaged database is marked once, so that the next start saves what it holds", async () => {
  const here = place();
  await (await openStore({ stateDir: here.state, clock: systemClock }))[Symbol.asyncDispose]();
  writeFileSync(join(here.state, "openclaw.db"), Buffer.alloc(8192, 7));
  for (const name of ["openclaw.db-wal", "openclaw.db-shm"]) rmSync(join(here.state, name), { force: true });
  const [found] = await here.look(["store.database"], { fix: true });
  expect(found).toMatchObject({ id: "store.database:damaged", repaired: expect.stringContaining("next gateway start") });
  expect(here.has("openclaw.db.suspect")).toBe(true);
  const [again] = await here.look(["store.database"], { fix: true });
  expect(again).toMatchObject({ level: "error", todo: expect.stringContaining("start the gateway") });
  expect(again).not.toHaveProperty("repair");
  expect(await here.look(["sessions.transcripts"])).toMatchObject([{ level: "ok" }]);
});

test("a database of a newer version is left alone", async () => {
  const here = place();
  await (await openStore({ stateDir: here.state, clock: systemClock }))[Symbol.asyncDispose]();
  const { DatabaseSync } = await import("node:sqlite");
  using db = new DatabaseSync(join(here.state, "openclaw.db"));
  db.exec("PRAGMA user_version = 900; UPDATE meta SET value = '800' WHERE key = 'store.min_reader'");
  expect(await here.look(["store.database"], { fix: true })).toMatchObject([
    { id: "store.database:too-new", level: "error", todo: expect.stringContaining("update") },
  ]);
});

test("sessions that lost what was said in them are named", async () => {
  const here = place();
  {
    await using store = await openStore({ stateDir: here.state, clock: systemClock });
    const entry = { sessionId: "gone", updatedAt: 1, totalTokens: 50 };
    await store.commit([["sessions.put", { key: "agent:main:main", agentId: "main", entry }]]);
    await store.commit([["sessions.put", { key: "agent:main:new", agentId: "main", entry: { sessionId: "fresh", updatedAt: 2 } }]]);
  }
  const outcomes = await here.look(["sessions.transcripts"]);
  expect(outcomes.map(({ id }) => id)).toEqual(["sessions.transcripts:lost", "sessions.transcripts:main"]);
  expect(outcomes[0]!.text).toMatch(/1 of the 2 .*agent:main:main/);
});

test("transcript files that lack their last messages are named while no gateway runs, and the next start completes them", async () => {
  const here = place();
  const file = (session: string): string => `agents/main/sessions/${session}.jsonl`;
  const open = async () => openStore({ stateDir: here.state, clock: systemClock });
  {
    await using store = await open();
    for (const sessionId of ["whole", "short", "none"]) {
      const header = JSON.stringify({ type: "session", id: sessionId });
      await store.write("transcripts.ensure", { file: file(sessionId), agentId: "main", sessionId, header });
    }
  }
  truncateSync(join(here.state, file("short")), 9);
  rmSync(join(here.state, file("none")));
  const outcomes = await here.look(["sessions.transcripts"]);
  expect(outcomes).toMatchObject([
    { id: "sessions.transcripts:behind", level: "warn", text: expect.stringMatching(/^1 .*short\.jsonl$/) },
    { id: "sessions.transcripts:files", level: "info", text: expect.stringMatching(/^1 /) },
  ]);
  await (await open())[Symbol.asyncDispose]();
  expect(await here.look(["sessions.transcripts"])).toMatchObject([{ level: "ok" }]);
});

test("locks of processes that are gone are removed, and those of living ones are not", async () => {
  const here = place();
  const old = (NOW - 3_600_000) / 1000;
  const dead = here.put("agents/main/sessions/a.jsonl.lock", JSON.stringify({ pid: 2 ** 30 }));
  const alive = here.put("agents/main/sessions/b.jsonl.lock", JSON.stringify({ pid: process.pid, host: hostname() }));
  const nameless = here.put("agents/main/agent/auth-profiles.json.lock", "");
  const fresh = here.put("agents/main/agent/models.json.lock", "");
  utimesSync(nameless, old, old);
  const [outcome] = await here.look(["sessions.locks"], { fix: true });
  expect(outcome!.repaired).toBe(`Removed ${dead}, ${nameless}`);
  expect([dead, alive, nameless, fresh].map((path) => here.has(path.slice(here.state.length + 1)))).toEqual([false, true, false, true]);
  expect(await here.look(["sessions.locks"], { fix: true })).toMatchObject([{ level: "ok", text: "Stale locks: well" }]);
});
