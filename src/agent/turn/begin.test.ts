import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import { createOpenSessions, messageEntry, openSession } from "../../sessions/index.ts";
import { openStore, patchedEntry, type Store } from "../../store/index.ts";
import { createAppend } from "./record.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput } from "./input.ts";
import { beginTurn, holdsAlready, type Begun } from "./begin.ts";

const KEY = "agent:main:main";
const clock = manualClock();
const ids = createIds(seededRandom(1));
let folder = "";
let store: Store;
let reads: string[] = [];
let deps: TurnDeps;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "turn-target-"));
  store = await openStore({ stateDir: folder, clock });
  const counting = { ...store, read: (kind: string, input: unknown) => (reads.push(kind), store.read(kind as never, input as never)) } as unknown as Store;
  deps = { store: counting, clock, ids, session: openSession(KEY, counting), config: { current: {} } } as unknown as TurnDeps;
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

let turns = 0;
async function begin(fields: Partial<TurnInput> = {}): Promise<Begun> {
  turns += 1;
  reads = [];
  const input = { runId: `t${turns}`, sessionKey: KEY, agentId: "main", message: "hello", channel: "webchat", owner: true, inboxIds: [], resumed: false };
  return (await beginTurn(deps, { ...input, ...fields }, folder))!;
}

const line = (text: string) => (at: Parameters<typeof messageEntry>[0]) => messageEntry(at, { role: "user", content: text, timestamp: 0 });

/** A turn that says something and leaves its session with its owner, as turns do that end well. */
async function turn(text: string): Promise<Begun> {
  const begun = await begin();
  const { target, committed } = begun;
  await committed;
  const [merged] = (await createAppend(deps, target)([line(text)], [["sessions.merge", { key: KEY, patch: { said: text } }]])) as [{ version: number }];
  expect(merged.version).toBe(target.row.version + 1);
  deps.session.row = { ...target.row, version: merged.version, entry: patchedEntry(target.row.entry, { said: text }) };
  return begun;
}

test("the next turn of a session finds it as it was left, without reading", async () => {
  for (const text of ["one", "two", "three"]) await turn(text);
  const { target, committed } = await begin();
  expect(reads).toEqual([]);
  expect([target.path.items.length, target.entry["said"]]).toEqual([3, "three"]);
  await committed;
  expect(await store.read("sessions.get", { key: KEY })).toEqual(target.row);
});

test("a session that another writer changed in between is noticed, and read again", async () => {
  for (const text of ["one", "two"]) await turn(text);
  await store.write("sessions.patch", { key: KEY, patch: { modelOverride: "other" } });
  const late = await begin();
  await expect(late.committed).rejects.toMatchObject({ code: "CONFLICT", details: { key: KEY } });
  const again = await begin();
  await again.committed;
  expect(again.target.entry["modelOverride"]).toBe("other");
});

test("a transcript that another writer appended to in between is noticed, and read again", async () => {
  for (const text of ["one", "two", "three"]) await turn(text);
  const { target } = await begin();
  const entry = line("from elsewhere")({ ids, parentId: target.path.leafId, at: 0 });
  for (const text of ["four"]) await turn(text);
  const leaf = (await store.read("transcripts.get", { file: target.file }))!.leafId;
  await store.write("transcripts.append", { file: target.file, entries: [{ ...entry, parentId: leaf }] });
  const late = await begin();
  expect(reads).toEqual([]);
  await expect(late.committed).rejects.toMatchObject({ code: "CONFLICT", details: { file: target.file } });
  const again = await begin();
  await again.committed;
  expect(again.target.path.items.at(-1)?.entry.id).toBe(entry.id);
});

test("a message that tells nothing new of its session leaves it as it is; one that does changes it", async () => {
  for (const text of ["one", "two"]) await turn(text);
  const same = await begin({ entryFields: { lastChannel: "webchat", origin: undefined } });
  await same.committed;
  expect((await store.read("sessions.get", { key: KEY }))?.version).toBe(same.target.row.version);
  const moved = await begin({ entryFields: { lastChannel: "telegram", origin: { from: "me" } } });
  await moved.committed;
  const row = await store.read("sessions.get", { key: KEY });
  expect(row).toEqual(moved.target.row);
  expect([row?.version, row?.entry["origin"]]).toEqual([same.target.row.version + 1, { from: "me" }]);
});

test("what was put aside for a session is given to its next turn, and to no other", async () => {
  for (const text of ["one", "two"]) await turn(text);
  await deps.store.write("injections.add", { id: "i", sessionKey: KEY, pluginId: "p", placement: "system-event", text: "note" });
  const { committed } = await turn("three");
  expect((await committed).map(({ text }) => text)).toEqual(["note"]);
  expect(await (await turn("four")).committed).toEqual([]);
});

test("a second owner of the session writes as well: each finds what the other wrote, and both conversations are one", async () => {
  const other = { ...deps, session: openSession(KEY, deps.store) };
  const first = deps;
  for (const text of ["one", "two"]) await turn(text);
  deps = other;
  await turn("three");
  deps = first;
  const late = await begin();
  await expect(late.committed).rejects.toMatchObject({ code: "CONFLICT" });
  const { target } = await turn("four");
  expect([target.path.items.length, target.entry["said"]]).toEqual([3, "three"]);
  deps = other;
  await expect((await begin()).committed).rejects.toMatchObject({ code: "CONFLICT" });
  expect((await turn("five")).target.path.items).toHaveLength(4);
});

/** The same turns in a store that reports what is written: what they commit, and when. */
function reporting(): { readonly commits: (readonly string[])[]; turn(text: string): Promise<Begun> } {
  const commits: (readonly string[])[] = [];
  const counted = { ...deps.store, commit: (...args: Parameters<Store["commit"]>) => (commits.push(args[0].map(([kind]) => kind)), store.commit(...args)) };
  const reported = counted as unknown as Store;
  deps = { ...deps, store: reported, session: createOpenSessions({ store: reported }).get(KEY) };
  return {
    commits,
    async turn(text) {
      const begun = await begin();
      const { target, committed } = begun;
      await committed;
      const writes = [["sessions.merge", { key: KEY, patch: { said: text } }]] as const;
      const [[merged]] = (await Promise.all([createAppend(deps, target)([line(text)], writes), target.begun])) as unknown as [[{ version: number }]];
      await deps.session.path(target.file);
      deps.session.row = { ...target.row, version: merged.version, entry: patchedEntry(target.row.entry, { said: text }) };
      return begun;
    },
  };
}

test("a turn of a session that no one else touched begins with its first commit", async () => {
  const { commits, turn } = reporting();
  await turn("one");
  commits.length = 0;
  const { target } = await turn("two");
  expect(commits).toEqual([
    ["turns.start", "inbox.claim", "transcripts.expect", "sessions.expect"],
    ["transcripts.append", "sessions.merge"],
  ]);
  expect(await store.read("turns.get", { id: `t${turns}` })).toMatchObject({ state: "running", sessionKey: KEY });
  expect(target.path.items).toHaveLength(1);
});

test("where the store reports what is written, too, what was put aside is given to the next turn, and to no other", async () => {
  const { turn } = reporting();
  for (const text of ["one", "two"]) await turn(text);
  await deps.store.write("injections.add", { id: "j", sessionKey: KEY, pluginId: "p", placement: "system-event", text: "note" });
  const { committed } = await turn("three");
  expect((await committed).map(({ text }) => text)).toEqual(["note"]);
  expect(await (await turn("four")).committed).toEqual([]);
});

test("a turn notices what anyone in the process did to its session before it begins", async () => {
  const { commits, turn } = reporting();
  for (const text of ["one", "two"]) await turn(text);
  await deps.store.write("sessions.patch", { key: KEY, patch: { modelOverride: "other" } });
  const { committed } = await begin();
  await expect(committed).rejects.toMatchObject({ code: "CONFLICT", details: { key: KEY } });
  const { target } = await turn("three");
  expect(target.entry["modelOverride"]).toBe("other");
  const leaf = (await store.read("transcripts.get", { file: target.file }))!.leafId;
  await deps.store.write("transcripts.append", { file: target.file, entries: [line("from elsewhere")({ ids, parentId: leaf, at: 0 })] });
  await expect((await begin()).committed).rejects.toMatchObject({ code: "CONFLICT", details: { file: target.file } });
  await turn("four");
  commits.length = 0;
  expect((await turn("five")).target.path.items).toHaveLength(5);
  expect(commits[0]).toEqual(["turns.start", "inbox.claim", "transcripts.expect", "sessions.expect"]);
});

test("what another process did is noticed by the beginning that goes with the first commit", async () => {
  const { turn } = reporting();
  for (const text of ["one", "two"]) await turn(text);
  await using other = await openStore({ stateDir: folder, clock });
  await other.write("sessions.patch", { key: KEY, patch: { modelOverride: "other" } });
  const { target, committed } = await begin();
  await committed;
  await expect(target.begun).rejects.toMatchObject({ code: "CONFLICT", details: { key: KEY } });
  await expect(createAppend(deps, target)([line("lost")], [["turns.note", { id: `t${turns}`, detail: {} }]])).rejects.toBeInstanceOf(Error);
  expect((await turn("three")).target.entry["modelOverride"]).toBe("other");
});

test("a beginning that is refused is reported with the first commit", async () => {
  const { turn } = reporting();
  for (const text of ["one", "two"]) await turn(text);
  const { target, committed } = await begin({ inboxIds: [4711] });
  await committed;
  await expect(target.begun).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a beginning that is refused is reported with its commit", async () => {
  for (const text of ["one", "two"]) await turn(text);
  const { committed } = await begin({ inboxIds: [4711] });
  await expect(committed).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("fields are the same when they say the same", () => {
  const entry = { sessionId: "s", updatedAt: 1, origin: { from: "a" } };
  expect(holdsAlready(entry, { origin: { from: "a" }, label: null, updatedAt: 1 })).toBe(true);
  expect(holdsAlready(entry, { origin: { from: "b" } })).toBe(false);
  expect(holdsAlready(entry, { origin: null })).toBe(false);
  expect(patchedEntry(entry, { origin: null, label: "x" })).toEqual({ sessionId: "s", updatedAt: 1, label: "x" });
});
