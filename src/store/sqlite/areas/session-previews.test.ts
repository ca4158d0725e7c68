import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../../../base/clock.ts";
import { openStore } from "../../client/open-store.ts";
import type { Store } from "../../store.ts";

let folder = "";
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "shown-"));
  store = await openStore({ stateDir: folder, clock: manualClock() });
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const fileOf = (sessionId: string): string => `agents/main/sessions/${sessionId}.jsonl`;

async function session(key: string, sessionId: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await store.write("sessions.put", { key, agentId: "main", entry: { sessionId, updatedAt: 1, ...fields } });
}

/** Appends messages, each as a child of the one before it. */
async function say(sessionId: string, ...messages: readonly (readonly [role: string, text: string])[]): Promise<void> {
  const file = fileOf(sessionId);
  await store.write("transcripts.ensure", { file, agentId: "main", sessionId, header: "{}" });
  let { leafId: parentId, lines } = (await store.read("transcripts.get", { file }))!;
  for (const [role, text] of messages) {
    const id = `e${lines++}`;
    const line = JSON.stringify({ type: "message", id, parentId, message: { role, content: [{ type: "text", text }] } });
    await store.write("transcripts.append", { file, entries: [{ id, parentId, type: "message", line }] });
    parentId = id;
  }
}

const found = async (search: string, last = false) => (await store.read("sessions.shown", { search, last })).rows.map(({ key }) => key);

test("a session is shown with its name, its title and its last message", async () => {
  await session("agent:main:web:1", "s1");
  await say("s1", ["system", "be kind"], ["user", "[Sun 2026-01-05 16:26 UTC] How are\nyou?"], ["assistant", "Well."], ["toolResult", "42"]);
  await session("agent:main:irc:group:x", "s2");
  const { rows, total } = await store.read("sessions.shown", { limit: 5, last: true, order: "key" });
  expect(total).toBe(2);
  expect(rows).toMatchObject([
    { key: "agent:main:irc:group:x", name: "Irc group x", entry: { sessionId: "s2" } },
    { key: "agent:main:web:1", name: "How are you?", title: "How are you?", last: "Well." },
  ]);
});

test("the last message is shown as the user saw it: a rewritten answer as rewritten, a withheld one not at all", async () => {
  await session("agent:main:web:1", "s1");
  await say("s1", ["user", "How are you?"]);
  const file = fileOf("s1");
  const last = async () => (await store.read("sessions.shown", { limit: 5, last: true })).rows[0]!.last;
  const append = async (id: string, openclawShown: string) => {
    const { leafId: parentId } = (await store.read("transcripts.get", { file }))!;
    const message = { role: "assistant", content: [{ type: "text", text: "the secret is 42" }], openclawShown };
    await store.write("transcripts.append", {
      file,
      entries: [{ id, parentId, type: "message", line: JSON.stringify({ type: "message", id, parentId, message }) }],
    });
  };
  await append("r1", "the secret is [redacted]");
  expect(await last()).toBe("the secret is [redacted]");
  expect(await found("redacted", true)).toHaveLength(1);
  expect(await found("42", true)).toEqual([]);
  await append("r2", "");
  expect(await last()).toBe("the secret is [redacted]");
  expect(await found("42", true)).toEqual([]);
});

test("a pending first message already names the session, and is found by search", async () => {
  await session("agent:main:web:1", "s1");
  const message = { channel: "webchat", account: "a", conversation: "c", messageId: "m1", kind: "message", text: "Plan a trip to Rome" };
  await store.write("inbox.accept", { ...message, sessionKey: "agent:main:web:1" });
  expect(await store.read("sessions.names", { keys: ["agent:main:web:1"] })).toEqual([{ key: "agent:main:web:1", name: "Plan a trip to Rome" }]);
  expect(await found("rome")).toEqual(["agent:main:web:1"]);
});

test("letters with accents are found in composed and decomposed form", async () => {
  await session("agent:main:web:1", "s1");
  await say("s1", ["user", "Bäume".normalize("NFC")], ["assistant", "Cafés".normalize("NFD")]);
  for (const form of ["NFC", "NFD"]) {
    expect(await found("BÄUME".normalize(form)), form).toEqual(["agent:main:web:1"]);
    expect(await found("cafés".normalize(form), true), form).toEqual(["agent:main:web:1"]);
  }
});

test("a session that does not exist is named by its key", async () => {
  expect(await store.read("sessions.names", { keys: ["agent:main:web:gone", "agent:ops:main"] })).toEqual([
    { key: "agent:main:web:gone", name: "Chat gone" },
    { key: "agent:ops:main", name: "Main chat (ops)" },
  ]);
});

test("a cached preview is dropped when the session or its transcript changes", async () => {
  await session("agent:main:web:1", "s1", { label: "First" });
  await say("s1", ["user", "apples"]);
  expect([await found("apples"), await found("pears", true), await found("first")]).toEqual([["agent:main:web:1"], [], ["agent:main:web:1"]]);
  await say("s1", ["assistant", "or pears"]);
  expect(await found("pears", true)).toEqual(["agent:main:web:1"]);
  await store.write("transcripts.branch", { file: fileOf("s1"), leafId: "e1" });
  expect(await found("pears", true)).toEqual([]);
  await store.write("sessions.patch", { key: "agent:main:web:1", patch: { label: "Second" } });
  expect([await found("first"), await found("second")]).toEqual([[], ["agent:main:web:1"]]);
});

test("the total counts all matches, whatever page is read, without excluded ones", async () => {
  for (let n = 0; n < 7; n += 1) await session(`agent:main:web:${n}`, `s${n}`, { label: `Bread ${n}` });
  await session("global", "g", { label: "Bread for all" });
  const { rows, total } = await store.read("sessions.shown", { search: "bread", order: "key", limit: 2, offset: 3, except: ["global", "unknown"] });
  expect([total, rows.map(({ name }) => name)]).toEqual([7, ["Bread 3", "Bread 4"]]);
});

test("transcripts of the first format, without branches, and broken lines are read as far as they go", async () => {
  await session("agent:main:web:1", "s1");
  const file = fileOf("s1");
  await store.write("transcripts.ensure", { file, agentId: "main", sessionId: "s1", header: "{}" });
  const lines = [
    "not json with user in it",
    JSON.stringify({ message: { role: "user", content: "plain words" } }),
    JSON.stringify({ message: null, x: "user" }),
  ];
  await store.write("transcripts.append", { file, entries: lines.map((line) => ({ type: "message", line })) });
  expect((await store.read("sessions.shown", { limit: 1, last: true })).rows).toMatchObject([{ name: "plain words", last: "plain words" }]);
});
