import { lstatSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { openStore } from "../store/index.ts";
import { makeDoctorPlace, type DoctorPlace, type PlaceOptions } from "./place.fixture.ts";

function place(options: PlaceOptions = {}): DoctorPlace {
  const made = makeDoctorPlace(options);
  onTestFinished(made.remove);
  return made;
}

const json = (here: DoctorPlace, name: string): unknown => JSON.parse(here.read(join(here.state, name)));
const partsOf = (outcomes: readonly { readonly id: string; readonly level: string }[]): string[] =>
  outcomes.filter(({ level }) => level !== "ok").map(({ id }) => id);

test("sessions from before there were agents move to the main agent, with keys of its own", async () => {
  const here = place();
  here.put("sessions/a1.jsonl", "one");
  here.put(
    "sessions/sessions.json",
    JSON.stringify({ main: { sessionId: "a1", updatedAt: 5 }, global: { sessionId: "g", updatedAt: 1 }, "agent:main:x": { sessionId: "old", updatedAt: 1 } }),
  );
  here.put("agents/main/sessions/sessions.json", JSON.stringify({ "agent:main:x": { sessionId: "new", updatedAt: 9 } }));
  expect(await here.look(["state.legacy"])).toMatchObject([{ id: "state.legacy:sessions", level: "warn", repair: { safe: true } }]);
  expect(here.has("sessions/a1.jsonl")).toBe(true);
  await here.look(["state.legacy"], { fix: true });
  expect(here.read(join(here.state, "agents/main/sessions/a1.jsonl"))).toBe("one");
  expect(json(here, "agents/main/sessions/sessions.json")).toEqual({
    "agent:main:x": { sessionId: "new", updatedAt: 9 },
    "agent:main:main": { sessionId: "a1", updatedAt: 5 },
    global: { sessionId: "g", updatedAt: 1 },
  });
  expect(readdirSync(join(here.state, "sessions"))).toEqual(["sessions.json.moved"]);
  expect(await here.look(["state.legacy"], { fix: true })).toMatchObject([{ level: "ok", text: "Legacy locations: well" }]);
});

test("the database takes over what was moved, as it would have from the old place; what it has taken over is left where it is", async () => {
  for (const fix of [true, false]) {
    const here = place();
    here.put("sessions/a1.jsonl", `${JSON.stringify({ type: "session", id: "a1", version: 3, timestamp: new Date(0).toISOString() })}\n`);
    here.put("sessions/sessions.json", JSON.stringify({ main: { sessionId: "a1", updatedAt: 5, sessionFile: "a1.jsonl" } }));
    await here.look(["state.legacy"], { fix });
    await using store = await openStore({ stateDir: here.state, clock: systemClock });
    expect(await store.read("sessions.get", { key: "agent:main:main" })).toMatchObject({ entry: { sessionId: "a1" } });
    expect(await here.look(["state.legacy"], { fix: true })).toMatchObject([{ level: "ok", text: "Legacy locations: well" }]);
    expect(here.has("sessions/a1.jsonl")).toBe(!fix);
  }
});

test("an index that cannot be read stays where it is, with its transcripts", async () => {
  const here = place();
  here.put("sessions/a1.jsonl", "one");
  here.put("sessions/sessions.json", "{ half");
  expect(await here.look(["state.legacy"], { fix: true })).toMatchObject([
    { id: "state.legacy:sessions", level: "warn", todo: expect.stringContaining("repair ") },
  ]);
  expect([here.has("sessions/a1.jsonl"), here.has("sessions/sessions.json")]).toEqual([true, true]);
});

test("what both places have is never written over", async () => {
  const here = place();
  here.put("agent/auth-profiles.json", "old");
  here.put("agent/models.json", "models");
  here.put("agents/main/agent/auth-profiles.json", "new");
  const outcomes = await here.look(["state.legacy"], { fix: true });
  expect(outcomes.map(({ id, repaired }) => [id, repaired !== undefined])).toEqual([
    ["state.legacy:agent", true],
    ["state.legacy:agent-both", false],
  ]);
  expect(here.read(join(here.state, "agents/main/agent/auth-profiles.json"))).toBe("new");
  expect(here.read(join(here.state, "agents/main/agent/models.json"))).toBe("models");
  expect(here.read(join(here.state, "agent/auth-profiles.json"))).toBe("old");
  const again = await here.look(["state.legacy"], { fix: true });
  expect([partsOf(again), again.some(({ repaired }) => repaired !== undefined)]).toEqual([["state.legacy:agent-both"], false]);
});

test("a WhatsApp login moves as a whole; other credentials stay", async () => {
  const here = place();
  for (const name of ["creds.json", "creds.json.bak", "pre-key-1.json", "app-state-sync-key-a.json", "oauth.json"]) here.put(`credentials/${name}`, name);
  await here.look(["state.legacy"], { fix: true });
  expect(readdirSync(join(here.state, "credentials"))).toEqual(["oauth.json", "whatsapp"]);
  expect(readdirSync(join(here.state, "credentials/whatsapp/default")).toSorted()).toEqual([
    "app-state-sync-key-a.json",
    "creds.json",
    "creds.json.bak",
    "pre-key-1.json",
  ]);
});

test("a state folder with an old name gets the new one, and the old name leads there", async () => {
  const here = place({ stateName: ".clawdbot", config: "{}" });
  here.put("agent/models.json", "models");
  expect(partsOf(await here.look(["state.legacy"]))).toEqual(["state.legacy:agent", "state.legacy:name"]);
  await here.look(["state.legacy"], { fix: true });
  expect(lstatSync(here.state).isSymbolicLink()).toBe(true);
  expect(here.read(join(here.home, ".openclaw/agents/main/agent/models.json"))).toBe("models");
  expect(partsOf(await here.look(["state.legacy", "state.folders", "config.file"]))).toEqual([]);
});

test("nothing moves under a gateway that runs", async () => {
  const here = place();
  here.put("agent/models.json");
  writeFileSync(
    join(here.state, "gateway.lock"),
    JSON.stringify({ pid: process.pid, createdAt: new Date(0).toISOString(), configPath: "", stateDir: here.state }),
  );
  expect(await here.look(["state.legacy"], { fix: true })).toMatchObject([
    { id: "state.legacy:agent", level: "warn", todo: expect.stringContaining("gateway stop") },
  ]);
  expect(here.has("agent/models.json")).toBe(true);
});
