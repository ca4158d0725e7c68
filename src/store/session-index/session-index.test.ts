import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { openStore, suspectStore, type Store, type Write } from "../index.ts";
import { referenceSystem, type Entry } from "./reference.fixture.ts";

let stateDir: string;
let logged: [string, unknown][];
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "session-index-"));
  logged = [];
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const folderOf = (agentId: string): string => join(stateDir, "agents", agentId, "sessions");
const open = (sessionIndex: { path?: string } = {}): Promise<Store> =>
  openStore({ stateDir, clock: systemClock, sessionIndex, log: (...line) => logged.push(line as [string, unknown]) });

/** Opens the store, does something and closes it, like a gateway that is started and stopped. */
async function run<T>(work: (store: Store) => Promise<T>, sessionIndex?: { path?: string }): Promise<T> {
  await using store = await open(sessionIndex);
  return await work(store);
}

const T = 1_772_000_000_000;
const put = (key: string, fields: Record<string, unknown> = {}, agentId = "main"): Write => [
  "sessions.put",
  { key, agentId, entry: { sessionId: `id-${key.replaceAll(/[^a-z0-9]/gi, "-")}`, updatedAt: T, ...fields } },
];
const get = (store: Store, key: string) => store.read("sessions.get", { key });
const keysOf = async (store: Store): Promise<string[]> => (await store.read("sessions.list", { order: "key" })).rows.map(({ key }) => key);

function transcript(sessionId: string, ...texts: string[]): Write[] {
  const file = `agents/main/sessions/${sessionId}.jsonl`;
  const header = JSON.stringify({ type: "session", version: 3, id: sessionId, timestamp: new Date(T).toISOString(), cwd: "/" });
  const entries = texts.map((text, at) => {
    const [entryId, parentId] = [`0000000${at + 1}`, at === 0 ? null : `0000000${at}`];
    const line = { type: "message", id: entryId, parentId, timestamp: new Date(T).toISOString(), message: { role: "user", content: text, timestamp: T } };
    return { id: entryId, parentId, type: "message", at: T, line: JSON.stringify(line) };
  });
  return [
    ["transcripts.ensure", { file, agentId: "main", sessionId, header }],
    ["transcripts.append", { file, entries }],
  ];
}

test("the reference system finds every session with its fields and its transcript in the documented file", async () => {
  const fields = {
    channel: "telegram",
    chatType: "group",
    origin: { from: "x", label: 'Ä "quoted"\nline' },
    thinkingLevel: "high",
    ofTheFuture: [1, { a: null }],
  };
  await run((store) =>
    store.commit([
      put("agent:main:main", { sessionId: "s-main", systemPromptReport: { source: "run" }, skillsSnapshot: { prompt: "p", version: 2 } }),
      put("agent:main:telegram:group:-100:topic:7", fields),
      put("agent:work:main", {}, "work"),
      put("global", {}),
      ...transcript("s-main", "hello"),
    ]),
  );
  const main = referenceSystem(folderOf("main"));
  const index = main.load();
  expect(Object.keys(index)).toEqual(["agent:main:main", "agent:main:telegram:group:-100:topic:7", "global"]);
  expect(index["agent:main:main"]).toEqual({
    sessionId: "s-main",
    updatedAt: T,
    systemPromptReport: { source: "run" },
    skillsSnapshot: { prompt: "p", version: 2 },
    sessionFile: join(folderOf("main"), "s-main.jsonl"),
  });
  expect(index["agent:main:telegram:group:-100:topic:7"]).toMatchObject(fields);
  expect(main.texts(index["agent:main:main"]!)).toEqual(["hello"]);
  expect(Object.keys(referenceSystem(folderOf("work")).load())).toEqual(["agent:work:main"]);
});

test("sessions deleted, renamed or reset here change in the file", async () => {
  await run((store) => store.commit([put("agent:main:a"), put("agent:main:b"), put("agent:main:c", { spawnedBy: "agent:main:b" })]));
  await run(async (store) => {
    await store.write("sessions.delete", { key: "agent:main:a" });
    await store.write("sessions.rename", { from: "agent:main:b", to: "agent:main:d" });
    await store.write("sessions.merge", { key: "agent:main:c", patch: { sessionId: "other", label: "L" } });
  });
  const index = referenceSystem(folderOf("main")).load();
  expect(Object.keys(index)).toEqual(["agent:main:d", "agent:main:c"]);
  expect(index["agent:main:c"]).toMatchObject({ sessionId: "other", label: "L", spawnedBy: "agent:main:d" });
});

test("round trip: new sessions, new messages, settings, a reset and a deletion by the reference system are imported", async () => {
  await run((store) =>
    store.commit([
      put("agent:main:main", { sessionId: "s-main" }),
      put("agent:main:talk", { sessionId: "s-talk" }),
      put("agent:main:gone", { sessionId: "s-gone" }),
      put("agent:main:still"),
      ...transcript("s-main", "one"),
      ...transcript("s-talk", "old"),
    ]),
  );
  const reference = referenceSystem(folderOf("main"));
  reference.append(reference.change("agent:main:main", { updatedAt: T + 5, thinkingLevel: "low" }), "two", "three");
  reference.append(reference.reset("agent:main:talk", "s-talk-2", T + 6), "fresh");
  reference.append(reference.change("agent:main:telegram:direct:4711", { sessionId: "s-new", updatedAt: T + 7, lastTo: "4711" }), "from there");
  reference.remove("agent:main:gone");

  await run(async (store) => {
    expect(await keysOf(store)).toEqual(["agent:main:main", "agent:main:still", "agent:main:talk", "agent:main:telegram:direct:4711"]);
    expect((await get(store, "agent:main:main"))!.entry).toMatchObject({ updatedAt: T + 5, thinkingLevel: "low", sessionId: "s-main" });
    expect((await get(store, "agent:main:talk"))!.entry.sessionId).toBe("s-talk-2");
    await store.imported();
    const counts = await Promise.all(
      ["s-main", "s-talk", "s-talk-2", "s-new"].map(async (sessionId) => {
        const rows = await store.read("transcripts.ofSession", { agentId: "main", sessionId });
        return rows.map(({ file, lines, archivedAt }) => [file.replace(/^.*\//, ""), lines, archivedAt !== null]);
      }),
    );
    expect(counts).toEqual([
      [["s-main.jsonl", 4, false]],
      [["s-talk.jsonl.reset.2026-03-01T10-00-00.000Z", 2, true]],
      [["s-talk-2.jsonl", 2, false]],
      [["s-new.jsonl", 2, false]],
    ]);
    await store.write("sessions.merge", { key: "agent:main:main", patch: { updatedAt: T + 9 } });
  });
  expect(reference.load()["agent:main:main"]).toMatchObject({ updatedAt: T + 9, thinkingLevel: "low" });
  expect(reference.texts(reference.load()["agent:main:main"]!)).toEqual(["one", "two", "three"]);
  expect(Object.keys(reference.load())).toHaveLength(4);
});

test("when both sides changed an entry the newer one wins, and changes or deletions on our side alone are preserved", async () => {
  const keys = ["newer-there", "newer-here", "deleted-here", "deleted-there", "deleted-here-used-there", "untouched"].map((name) => `agent:main:${name}`);
  await run((store) => store.commit(keys.map((key) => put(key))));
  const reference = referenceSystem(folderOf("main"));
  // A process that was killed before it wrote the file.
  await (async () => {
    await using store = await openStore({ stateDir, clock: systemClock });
    await store.commit([
      ["sessions.merge", { key: keys[0]!, patch: { updatedAt: T + 10, label: "here", execGranted: { execHost: {} } } }],
      ["sessions.merge", { key: keys[1]!, patch: { updatedAt: T + 30, label: "here" } }],
      ["sessions.delete", { key: keys[2]! }],
      ["sessions.merge", { key: keys[3]!, patch: { label: "used here" } }],
      ["sessions.delete", { key: keys[4]! }],
    ]);
  })();
  const store = reference.load();
  reference.save({
    ...Object.fromEntries(Object.entries(store).filter(([key]) => key !== keys[3])),
    [keys[0]!]: { ...store[keys[0]!]!, updatedAt: T + 20, label: "there", execGranted: { forged: true } },
    [keys[1]!]: { ...store[keys[1]!]!, updatedAt: T + 20, label: "there" },
    [keys[4]!]: { ...store[keys[4]!]!, updatedAt: T + 20 },
  });
  await run(async (after) => {
    expect((await get(after, keys[0]!))!.entry).toMatchObject({ label: "there", execGranted: { execHost: {} } });
    expect((await get(after, keys[1]!))!.entry.label).toBe("here");
    expect((await get(after, keys[3]!))!.entry.label).toBe("used here");
    expect(await keysOf(after)).toEqual([keys[4], keys[3], keys[1], keys[0], keys[5]]);
  });
});

test("a key in the older spelling keeps it in the file, and is imported as the same session", async () => {
  mkdirSync(folderOf("main"), { recursive: true });
  const old = "agent:main:telegram:dm:4711";
  const reference = referenceSystem(folderOf("main"));
  reference.save({
    [old]: { sessionId: "s-dm", updatedAt: T },
    "agent:main:subagent:1": { sessionId: "s-sub", updatedAt: T, spawnedBy: old },
    "agent:main:discord:channel:dm": { sessionId: "s-channel", updatedAt: T },
  });
  await run(async (store) => {
    expect(await keysOf(store)).toEqual(["agent:main:discord:channel:dm", "agent:main:subagent:1", "agent:main:telegram:direct:4711"]);
    await store.write("sessions.merge", { key: "agent:main:telegram:direct:4711", patch: { updatedAt: T + 1 } });
  });
  expect(reference.load()[old]!.updatedAt).toBe(T + 1);
  expect(reference.load()["agent:main:subagent:1"]!["spawnedBy"]).toBe(old);
  reference.change(old, { updatedAt: T + 2, label: "L" });
  await run(async (store) => expect((await get(store, "agent:main:telegram:direct:4711"))!.entry.label).toBe("L"));
  reference.remove(old);
  await run(async (store) => expect(await get(store, "agent:main:telegram:direct:4711")).toBeUndefined());
});

test("a file that was deleted is written again, and no session is lost", async () => {
  await run((store) => store.commit([put("agent:main:a"), put("agent:main:b")]));
  rmSync(join(folderOf("main"), "sessions.json"));
  await run(async (store) => expect(await keysOf(store)).toEqual(["agent:main:a", "agent:main:b"]));
  expect(Object.keys(referenceSystem(folderOf("main")).load())).toEqual(["agent:main:a", "agent:main:b"]);
});

test.each([
  ["half", '{\n  "agent:main:a": {\n    "sessionId": "x", "upd'],
  ["empty", ""],
  ["no object", '["agent:main:a"]'],
])("a damaged file (%s) is set aside with a notice, and no session is lost", async (_name, text) => {
  await run((store) => store.commit([put("agent:main:a"), put("agent:main:b")]));
  writeFileSync(join(folderOf("main"), "sessions.json"), text);
  await run(async (store) => {
    expect(await keysOf(store)).toEqual(["agent:main:a", "agent:main:b"]);
    // A request lets the thread report what it found.
    await store.write("meta.set", { key: "x", value: 1 });
    expect(store.health().notices.map(({ message }) => message)).toEqual([expect.stringContaining("was moved to")]);
  });
  const aside = readdirSync(folderOf("main")).filter((name) => name.startsWith("sessions.json.damaged-"));
  expect(aside.map((name) => readFileSync(join(folderOf("main"), name), "utf8"))).toEqual([text]);
  expect(Object.keys(referenceSystem(folderOf("main")).load())).toHaveLength(2);
});

test("an index that another program recreated after damage removes nothing", async () => {
  await run((store) => store.commit(["a", "b", "c", "d"].map((name) => put(`agent:main:${name}`))));
  referenceSystem(folderOf("main")).save({ "agent:main:a": { sessionId: "another", updatedAt: T + 1 } });
  await run(async (store) => {
    expect(await keysOf(store)).toHaveLength(4);
    expect((await get(store, "agent:main:a"))!.entry.sessionId).toBe("another");
  });
  expect(Object.keys(referenceSystem(folderOf("main")).load())).toHaveLength(4);
});

test("session.store elsewhere: with one file per agent, or one for all", async () => {
  for (const path of [join(stateDir, "lists", "{agentId}.json"), join(stateDir, "lists", "all.json")]) {
    await run((store) => store.commit([put("agent:main:a"), put("agent:work:b", {}, "work")]), { path });
    const main = referenceSystem(folderOf("main"), path.replace("{agentId}", "main"));
    const work = referenceSystem(folderOf("work"), path.replace("{agentId}", "work"));
    expect(Object.keys({ ...main.load(), ...work.load() }).sort()).toEqual(["agent:main:a", "agent:work:b"]);
    work.change("agent:work:c", { sessionId: `c-${path.length}`, updatedAt: T + path.length });
    main.remove("agent:main:a");
    await run(
      async (store) => {
        expect(await keysOf(store)).toEqual(["agent:work:b", "agent:work:c"]);
        expect((await get(store, "agent:work:c"))!.agentId).toBe("work");
        await store.commit([["sessions.delete", { key: "agent:work:c" }]]);
      },
      { path },
    );
    expect(Object.keys(work.load())).toEqual(["agent:work:b"]);
  }
  expect(existsSync(join(folderOf("main"), "sessions.json"))).toBe(false);
});

test("without changes the file is neither read nor written at a start", async () => {
  await run((store) => store.commit([put("agent:main:a")]));
  const path = join(folderOf("main"), "sessions.json");
  utimesSync(path, 1000, 1000);
  // Recognized by its content; from now on by its size and time.
  await run(keysOf);
  const unreadable = "x".repeat(statSync(path).size);
  writeFileSync(path, unreadable);
  utimesSync(path, 1000, 1000);
  await run(async (store) => expect(await keysOf(store)).toEqual(["agent:main:a"]));
  expect(readFileSync(path, "utf8")).toBe(unreadable);
});

test("only a change of the file's content counts: a copy with another time is recognized", async () => {
  await run((store) => store.commit([put("agent:main:a"), put("agent:main:b")]));
  const path = join(folderOf("main"), "sessions.json");
  utimesSync(path, 1, 1);
  logged = [];
  await run(async (store) => expect(await keysOf(store)).toHaveLength(2));
  expect(logged).toEqual([]);
});

test("without the option a store neither writes the file nor imports it again", async () => {
  await run((store) => store.commit([put("agent:main:a")]));
  const reference = referenceSystem(folderOf("main"));
  reference.change("agent:main:b", { sessionId: "b", updatedAt: T });
  await using store = await openStore({ stateDir, clock: systemClock });
  await store.commit([put("agent:main:c")]);
  expect(await keysOf(store)).toEqual(["agent:main:a", "agent:main:c"]);
  expect(Object.keys(reference.load())).toEqual(["agent:main:a", "agent:main:b"]);
});

test("a file that another program wrote is saved beside the one that replaces it, at most three times", async () => {
  await run((store) => store.commit([put("agent:main:a")]));
  const reference = referenceSystem(folderOf("main"));
  for (let at = 1; at <= 5; at += 1) {
    reference.change("agent:main:a", { updatedAt: T + at, label: `L${at}` });
    await run((store) => store.write("sessions.merge", { key: "agent:main:a", patch: { model: "m" + at } }));
  }
  const kept = readdirSync(folderOf("main")).filter((name) => /^sessions\.json\.bak\.\d+$/.test(name));
  expect(
    kept
      .map((name) => (JSON.parse(readFileSync(join(folderOf("main"), name), "utf8")) as Record<string, Entry>)["agent:main:a"]!.label!)
      .sort((a, b) => a.localeCompare(b)),
  ).toEqual(["L3", "L4", "L5"]);
});

test("grants are never written to the file, and never trusted from it", async () => {
  const grants = { execHost: { value: "gateway", by: "client" } };
  await run((store) => store.commit([put("agent:main:a", { execHost: "gateway", execGranted: grants })]));
  const reference = referenceSystem(folderOf("main"));
  expect(reference.load()["agent:main:a"]).not.toHaveProperty("execGranted");
  reference.change("agent:main:forged", { sessionId: "f", updatedAt: T, execHost: "gateway", execGranted: grants });
  await run(async (store) => {
    expect((await get(store, "agent:main:forged"))!.entry).toEqual({ sessionId: "f", updatedAt: T, execHost: "gateway" });
    expect((await get(store, "agent:main:a"))!.entry["execGranted"]).toEqual(grants);
  });
  // The first import of a folder, by a command.
  rmSync(join(stateDir, "openclaw.db"));
  await using first = await openStore({ stateDir, clock: systemClock });
  expect((await get(first, "agent:main:forged"))!.entry).not.toHaveProperty("execGranted");
});

test("sessions that a damaged database lost are recovered from the file", async () => {
  await run((store) => store.commit([put("agent:main:a"), put("agent:main:b", { label: "B" })]));
  const db = new DatabaseSync(join(stateDir, "openclaw.db"));
  db.exec("DELETE FROM sessions WHERE key = 'agent:main:b'");
  db.close();
  suspectStore(stateDir, "a page could not be read");
  await run(async (store) => expect((await get(store, "agent:main:b"))!.entry.label).toBe("B"));
});

test("a link in place of the file is replaced, never written through", async () => {
  mkdirSync(folderOf("main"), { recursive: true });
  const target = join(stateDir, "target.json");
  writeFileSync(target, "{}");
  symlinkSync(target, join(folderOf("main"), "sessions.json"));
  symlinkSync(target, join(folderOf("main"), "sessions.json.tmp"));
  await run((store) => store.commit([put("agent:main:a")]));
  expect(readFileSync(target, "utf8")).toBe("{}");
  expect(Object.keys(referenceSystem(folderOf("main")).load())).toEqual(["agent:main:a"]);
});

test("a folder that cannot be written is reported, and nothing else fails", async () => {
  await run((store) => store.commit([put("agent:main:a")]));
  rmSync(join(folderOf("main"), "sessions.json"));
  mkdirSync(join(folderOf("main"), "sessions.json"));
  await run((store) => store.commit([put("agent:main:b")]));
  await run(async (store) => expect(await keysOf(store)).toEqual(["agent:main:a", "agent:main:b"]));
  expect(logged.map(([text]) => text)).toContain("sessions.json is behind the database");
});

test("cached sessions are read again after another program's change was imported", async () => {
  await run((store) => store.commit([put("agent:main:a")]));
  await using store = await open();
  expect((await get(store, "agent:main:a"))!.entry.label).toBeUndefined();
  const { promise: imported, resolve } = Promise.withResolvers<void>();
  store.onWrites((writes) => (writes ? undefined : resolve()));
  referenceSystem(folderOf("main")).change("agent:main:a", { updatedAt: T + 1, label: "behind its back" });
  // The check stands before the next write of the file.
  await store.commit([put("agent:main:b")]);
  await imported;
  expect((await get(store, "agent:main:a"))!.entry.label).toBe("behind its back");
});
