import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { seededRandom } from "../base/random.ts";
import { openStore, transcriptFile, type ReadInput, type ReadKind, type Store, type Write } from "../store/index.ts";
import {
  compactionEntry,
  createOpenSessions,
  headerLine,
  messageEntry,
  thinkingLevelEntry,
  view,
  type NewEntry,
  type HeldPath,
  type OpenSession,
  type SessionPath,
} from "./index.ts";

type Memory = Pick<OpenSession, "path" | "appended"> & { held(file: string): HeldPath | undefined; readonly bytes: number };

/** Sessions by their transcripts. */
function memoryOf(options: Parameters<typeof createOpenSessions>[0]): Memory {
  const sessions = createOpenSessions(options);
  return {
    path: (file, row) => sessions.get(file).path(file, row),
    held: (file) => sessions.get(file).held,
    appended: (file, ...args) => sessions.get(file).appended(file, ...args),
    get bytes() {
      return sessions.bytes;
    },
  };
}

const MODEL = { provider: "test", id: "m", contextWindow: 200_000 };

const clock = manualClock();
const ids = createIds(seededRandom(1));
let folder: string;
let store: Store;
let memory: Memory;
let reads: string[];

let session = 0;
let FILE: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "session-memory-"));
  store = await openStore({ stateDir: folder, clock });
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
/** Each test has a session of its own. */
beforeEach(async () => {
  session += 1;
  FILE = transcriptFile("main", `s${session}`);
  reads = [];
  memory = memoryOf({ store: counted(store) });
  await ensure();
});

/** The store, with a list of what it was asked. */
function counted(inner: Store): Pick<Store, "read"> {
  return {
    read: (kind: ReadKind, input: ReadInput<ReadKind>) => {
      reads.push(kind);
      return inner.read(kind, input);
    },
  };
}

const ensure = (file = FILE, sessionId = `s${session}`) =>
  store.write("transcripts.ensure", { file, agentId: "main", sessionId, header: headerLine({ sessionId, at: clock.now() }) });
const said = (text: string, parentId: string | null): NewEntry =>
  messageEntry({ ids, parentId, at: clock.now() }, { role: "user", content: text, timestamp: clock.now() });

/** Commits lines one below the other; `tell` as the owner of the conversation does. */
async function append(texts: readonly string[], from: string | null, { tell = false, file = FILE } = {}): Promise<string | null> {
  let leaf = from;
  const entries = texts.map((text) => {
    const entry = said(text, leaf);
    leaf = entry.id;
    return entry;
  });
  const done = await store.write("transcripts.append", { file, entries });
  if (tell) memory.appended(file, from, entries, done);
  return leaf;
}

const texts = ({ items }: Pick<SessionPath, "items">): string[] =>
  view({ path: items, model: MODEL, now: 0 }).messages.map(({ content }) => (content as unknown as { text: string }[])[0]!.text);
/** What a reader sees who remembers nothing. */
const afresh = async (file = FILE): Promise<string[]> => texts(await memoryOf({ store }).path(file));

test("a conversation is read once; what its owner appends is known without reading", async () => {
  const first = await append(["one", "two"], null);
  expect(texts(await memory.path(FILE))).toEqual(["one", "two"]);
  reads = [];
  const leaf = await append(["three"], first, { tell: true });
  const path = await memory.path(FILE);
  expect([texts(path), path.leafId, reads]).toEqual([["one", "two", "three"], leaf, ["transcripts.get"]]);
});

test("with the transcript's row at hand nothing is asked", async () => {
  await append(["one"], null);
  await memory.path(FILE);
  reads = [];
  expect(texts(await memory.path(FILE, await store.read("transcripts.get", { file: FILE })))).toEqual(["one"]);
  expect(reads).toEqual([]);
});

test("what is kept comes with what has to hold for it", async () => {
  expect(memory.held(FILE)).toBeUndefined();
  const first = await append(["one"], null);
  await memory.path(FILE);
  await append(["two"], first, { tell: true });
  reads = [];
  const { path, standing } = memory.held(FILE)!;
  expect([texts(path), reads]).toEqual([["one", "two"], []]);
  await store.write("transcripts.expect", standing);
  await append(["three"], path.leafId);
  await expect(store.write("transcripts.expect", standing)).rejects.toMatchObject({ code: "CONFLICT", details: { file: FILE } });
  expect(await store.read("transcripts.get", { file: FILE })).toMatchObject({ lines: standing.lines + 1 });
});

test("what another writer appended is added, and only that is read", async () => {
  const leaf = await append(["one"], null);
  await memory.path(FILE);
  await append(["two", "three"], leaf);
  reads = [];
  expect(texts(await memory.path(FILE))).toEqual(["one", "two", "three"]);
  expect(reads).toEqual(["transcripts.get", "transcripts.page"]);
});

test("a branch taken elsewhere is read again", async () => {
  const one = await append(["one"], null);
  await append(["two"], one);
  await memory.path(FILE);
  await append(["other"], one);
  expect(texts(await memory.path(FILE))).toEqual(["one", "other"]);
  await store.write("transcripts.branch", { file: FILE, leafId: one });
  expect(texts(await memory.path(FILE))).toEqual(["one"]);
});

test("an owner who was overtaken is not believed", async () => {
  const one = await append(["one"], null);
  await memory.path(FILE);
  await append(["theirs"], one);
  await append(["mine"], one, { tell: true });
  expect(texts(await memory.path(FILE))).toEqual(await afresh());
});

test("a transcript that was put away and begun again under the same name is another one", async () => {
  await append(["one", "two"], null);
  await memory.path(FILE);
  clock.advance(5);
  await store.write("transcripts.archive", { file: FILE, reason: "reset" });
  await ensure();
  await append(["three", "four"], null);
  expect(texts(await memory.path(FILE))).toEqual(["three", "four"]);
});

test("even when its lines have the ids and the length of those before", async () => {
  const entry = said("before", null);
  await store.write("transcripts.append", { file: FILE, entries: [entry] });
  await memory.path(FILE);
  clock.advance(5);
  await store.write("transcripts.archive", { file: FILE, reason: "reset" });
  await ensure();
  await store.write("transcripts.append", { file: FILE, entries: [{ ...entry, line: entry.line.replace("before", "behind") }] });
  expect(texts(await memory.path(FILE))).toEqual(["behind"]);
});

test("a transcript that is not there is empty", async () => {
  expect(await memory.path("agents/main/sessions/none.jsonl")).toMatchObject({ leafId: null, items: [] });
});

test("what a compaction put away is not kept, whether it is appended or read; the state of the way is", async () => {
  const level = thinkingLevelEntry({ ids, parentId: null, at: clock.now() }, "high");
  await store.write("transcripts.append", { file: FILE, entries: [level] });
  const old = await append(["x".repeat(5_000)], level.id);
  const kept = await append(["kept"], old);
  await memory.path(FILE);
  const before = memory.bytes;
  const summary = compactionEntry({ ids, parentId: kept, at: clock.now() }, { summary: "short", firstKeptEntryId: kept!, tokensBefore: 9 });
  memory.appended(FILE, kept, [summary], await store.write("transcripts.append", { file: FILE, entries: [summary] }));
  const appended = await memory.path(FILE);
  expect(memory.bytes).toBeLessThan(before);
  expect([appended.items.length, appended.state.thinkingLevel]).toEqual([2, "high"]);
  const fresh = await memoryOf({ store }).path(FILE);
  expect(fresh).toMatchObject({ leafId: appended.leafId, items: appended.items, state: appended.state });
});

test("after a compaction only what it kept is read, however long the conversation was before", async () => {
  const long = Array.from({ length: 3_000 }, (_, n) => `m${n}`);
  let leaf: string | null = null;
  for (let n = 0; n < long.length; n += 500) leaf = await append(long.slice(n, n + 500), leaf);
  const answer = messageEntry(
    { ids, parentId: leaf, at: clock.now() },
    {
      role: "assistant",
      content: [{ type: "text", text: "so it is" }],
      provider: "test",
      model: "m",
      api: "openai-completions",
      usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
      stopReason: "stop",
      timestamp: clock.now(),
    },
  );
  await store.write("transcripts.append", { file: FILE, entries: [answer] });
  const kept = await append(["kept"], answer.id);
  const summary = compactionEntry({ ids, parentId: kept, at: clock.now() }, { summary: "short", firstKeptEntryId: kept!, tokensBefore: 9 });
  await store.write("transcripts.append", { file: FILE, entries: [summary] });
  await append(["after"], summary.id);
  let rows = 0;
  const counting = {
    read: async (kind: ReadKind, input: ReadInput<ReadKind>) => {
      const read = await store.read(kind, input);
      if (kind === "transcripts.path") rows += (read as readonly unknown[]).length;
      return read;
    },
  } as Pick<Store, "read">;
  const fresh = await memoryOf({ store: counting }).path(FILE);
  expect(texts(fresh).slice(1)).toEqual(["kept", "after"]);
  expect(fresh.items).toHaveLength(3);
  expect(fresh.state.model).toEqual({ provider: "test", id: "m" });
  expect(rows).toBeLessThan(600);
  // Kept entries may stand in a part above that of the compaction, and a second compaction counts alone.
  const many = await append(
    Array.from({ length: 700 }, (_, n) => `n${n}`),
    (await store.read("transcripts.get", { file: FILE }))!.leafId,
  );
  const far = compactionEntry({ ids, parentId: many, at: clock.now() }, { summary: "longer", firstKeptEntryId: kept!, tokensBefore: 9 });
  await store.write("transcripts.append", { file: FILE, entries: [far] });
  const second = await memoryOf({ store }).path(FILE);
  expect(texts(second).slice(1)).toEqual(["kept", "after", ...Array.from({ length: 700 }, (_, n) => `n${n}`)]);
});

test("memory is bounded: the conversation that was not used for the longest time goes, one that is far too large is not kept", async () => {
  const small = memoryOf({ store: counted(store), maxBytes: 10_000 });
  const files = ["a", "b", "c"].map((id) => transcriptFile("main", id));
  for (const [at, file] of files.entries()) {
    await ensure(file, ["a", "b", "c"][at]);
    await append(["y".repeat(3_000)], null, { file });
    await small.path(file);
    if (at === 1) await small.path(files[0]!);
  }
  expect(small.bytes).toBeLessThanOrEqual(10_000);
  reads = [];
  for (const file of [files[2]!, files[0]!, files[1]!]) await small.path(file);
  expect(reads.filter((kind) => kind === "transcripts.path")).toHaveLength(1);
  const large = await append(["z".repeat(20_000)], null);
  expect(texts(await small.path(FILE))).toHaveLength(1);
  // Alone, so that its next turn does not read it again.
  expect(small.bytes).toBeGreaterThan(20_000);
  expect(small.bytes).toBeLessThanOrEqual(30_000);
  await append(["z".repeat(20_000)], large);
  expect(texts(await small.path(FILE))).toHaveLength(2);
  expect(small.bytes).toBeLessThanOrEqual(10_000);
});

test("an earlier value does not change when the conversation goes on", async () => {
  const one = await append(["one"], null);
  const before = await memory.path(FILE);
  await append(["two"], one, { tell: true });
  expect(texts(before)).toEqual(["one"]);
});

test("however a transcript grows, memory and a fresh reading agree", async () => {
  const random = seededRandom(42);
  const known: (string | null)[] = [null];
  for (let step = 0; step < 60; step += 1) {
    const leaf = (await store.read("transcripts.get", { file: FILE }))!.leafId;
    const from = random.float() < 0.7 ? leaf : known[Math.floor(random.float() * known.length)]!;
    known.push(await append(random.float() < 0.5 ? [`${step}`] : [`${step}a`, `${step}b`], from, { tell: random.float() < 0.6 }));
    if (random.float() < 0.5) expect(texts(await memory.path(FILE))).toEqual(await afresh());
  }
  expect(texts(await memory.path(FILE))).toEqual(await afresh());
});

test("a long branch is read in parts and is the same as in one", async () => {
  const said = Array.from({ length: 4_500 }, (_, n) => `m${n}`);
  let leaf: string | null = null;
  for (let n = 0; n < said.length; n += 500) leaf = await append(said.slice(n, n + 500), leaf);
  expect(texts(await memory.path(FILE))).toEqual(said);
  expect(reads.filter((kind) => kind === "transcripts.path")).toHaveLength(4);
});

test("a long circle of parents is walked once", async () => {
  const entries = Array.from({ length: 4_100 }, (_, n) => {
    const [id, parentId] = [`c${n}`, `c${(n + 4_099) % 4_100}`];
    return { id, parentId, type: "message", line: JSON.stringify({ type: "message", id, parentId, message: { role: "user", content: `m${n}` } }) };
  });
  await store.write("transcripts.append", { file: FILE, entries });
  expect(texts(await memory.path(FILE))).toEqual(entries.map((_, n) => `m${n}`));
});

test("a transcript that is put away while it is read is not taken for its beginning", async () => {
  let leaf: string | null = null;
  for (let n = 0; n < 5; n += 1)
    leaf = await append(
      Array.from({ length: 500 }, (_, m) => `old ${n * 500 + m}`),
      leaf,
    );
  const interrupted = memoryOf({
    store: {
      read: async (kind: ReadKind, input: ReadInput<ReadKind>) => {
        const rows = await store.read(kind, input);
        if (kind === "transcripts.path" && reads.length === 0) {
          reads.push(kind);
          await store.write("transcripts.archive", { file: FILE, reason: "reset" });
          await ensure(FILE, `s${session}-new`);
          await append(["fresh"], null);
        }
        return rows;
      },
    } as Pick<Store, "read">,
  });
  expect(texts(await interrupted.path(FILE))).toEqual(["fresh"]);
});

test("what is held of an entry is what a model reads of it, once: the stored text and its objects are not", async () => {
  await append(["a long text ".repeat(50)], null);
  const [item] = (await memory.path(FILE)).items;
  expect(Object.keys(item!.entry).toSorted()).toEqual(["id", "type"]);
  expect(item).toMatchObject({ byUser: true, message: { role: "user" } });
});

test("of a summary everything is held: the next one goes on from it", async () => {
  const leaf = await append(["one", "two"], null);
  const [first] = (await memory.path(FILE)).items;
  const place = { ids, parentId: leaf, at: clock.now() };
  const entry = compactionEntry(place, { summary: "both", firstKeptEntryId: first!.entry.id!, tokensBefore: 10, details: { files: ["a"] } });
  await store.write("transcripts.append", { file: FILE, entries: [entry] });
  const { items } = await memory.path(FILE);
  expect(items.at(-1)!.entry).toMatchObject({ type: "compaction", summary: "both", details: { files: ["a"] } });
});

test("a session is marked when another one's turn writes to it, and not by its own", async () => {
  const sessions = createOpenSessions({ store });
  const [own, other] = [sessions.get("agent:main:one"), sessions.get("agent:main:two")];
  for (const session of [own, other]) session.isTouched = false;
  await store.commit(
    ["agent:main:one", "agent:main:two"].map((sessionKey, at): Write => [
      "injections.add",
      { id: `i${at}`, sessionKey, pluginId: "test", placement: "system-event", text: "x" },
    ]),
    { by: own },
  );
  expect([own.isTouched, other.isTouched]).toEqual([false, true]);
});

test("a prompt of the same facts is built once for all sessions", () => {
  const sessions = createOpenSessions({ store });
  const build = (key: string, ...facts: readonly unknown[]): { readonly text: string } => sessions.get(key).prompt(facts, () => ({ text: facts.join(" ") }));
  const first = build("agent:main:one", "model", "channel");
  expect([build("agent:main:two", "model", "channel") === first, build("agent:main:two", "model", "other").text]).toEqual([true, "model other"]);
});
