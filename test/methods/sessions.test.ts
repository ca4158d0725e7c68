import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMethods, type MethodFixture } from "../harness/methods.ts";

const KEY = "agent:main:main";
let fixture: MethodFixture;
beforeEach(async () => {
  fixture = await openMethods({ config: { agents: { defaults: { model: "anthropic/claude-x", contextTokens: 1000 } } } });
});
afterEach(() => fixture[Symbol.asyncDispose]());

async function say(message: string, sessionKey = "main", idempotencyKey = `${sessionKey}:${message}`): Promise<void> {
  await fixture.call("chat.send", { sessionKey, message, idempotencyKey });
  await fixture.echo.outcome(idempotencyKey);
}
const keys = async (params: Parameters<typeof fixture.call<"sessions.list">>[1] = {}) =>
  (await fixture.call("sessions.list", params)).sessions.map((row) => row.key);
const entryOf = async (key = KEY) => (await fixture.store.read("sessions.get", { key }))?.entry;

test("sessions are listed newest first, with the documented row", async () => {
  await say("hello there");
  fixture.clock.advance(1000);
  await say("second", "work");
  const { sessions, count, defaults, path } = await fixture.call("sessions.list", {});
  expect(count).toBe(2);
  expect(path).toBe(join(fixture.folder, "openclaw.db"));
  expect(defaults).toEqual({ modelProvider: "anthropic", model: "claude-x", contextTokens: 1000 });
  expect(sessions.map((row) => row.key)).toEqual(["agent:main:work", KEY]);
  expect(sessions[1]).toMatchObject({
    kind: "direct",
    sessionId: expect.stringMatching(/-/),
    updatedAt: expect.any(Number),
    systemSent: true,
    totalTokensFresh: false,
    modelProvider: "test",
    model: "echo",
    contextTokens: 200_000,
    lastChannel: "webchat",
  });
});

test("a row shows how the session was set, where it was", async () => {
  await say("hello");
  expect((await fixture.call("sessions.list", {})).sessions[0]).not.toHaveProperty("execHost");
  const set = { groupActivation: "always", execHost: "node", execSecurity: "allowlist", execAsk: "on-miss", execNode: "mac" } as const;
  await fixture.call("sessions.patch", { key: KEY, ...set });
  expect((await fixture.call("sessions.list", {})).sessions[0]).toMatchObject(set);
});

test("titles come from the first thing said, the last message from the last", async () => {
  await say("how do I bake bread in a very small oven without a stone or any other special equipment?");
  await say("thanks a lot");
  const { sessions } = await fixture.call("sessions.list", { includeDerivedTitles: true, includeLastMessage: true });
  expect(sessions[0]).toMatchObject({ derivedTitle: "how do I bake bread in a very small oven without a stone or…", lastMessagePreview: "thanks a lot" });
  expect((await fixture.call("sessions.list", {})).sessions[0]).not.toHaveProperty("derivedTitle");
});

test("lists can be narrowed by label, age, agent, parent, text and number; global and unknown only when asked for", async () => {
  await say("old", "old");
  fixture.clock.advance(3_600_000);
  await say("new", "new");
  await fixture.call("sessions.patch", { key: "old", label: "Archive" });
  await fixture.store.write("sessions.put", { key: "global", agentId: "main", entry: { sessionId: "g", updatedAt: 1 } });
  await fixture.store.write("sessions.put", { key: "agent:other:subagent:x", agentId: "other", entry: { sessionId: "s", updatedAt: 2, spawnedBy: KEY } });
  expect(await keys({ label: "Archive" })).toEqual(["agent:main:old"]);
  expect(await keys({ agentId: "other" })).toEqual(["agent:other:subagent:x"]);
  expect(await keys({ spawnedBy: "main" })).toEqual(["agent:other:subagent:x"]);
  expect(await keys({ search: "ARCH" })).toEqual(["agent:main:old"]);
  expect(await keys({ limit: 1 })).toHaveLength(1);
  expect(await keys({ activeMinutes: 30 })).not.toContain("agent:other:subagent:x");
  expect(await keys()).not.toContain("global");
  expect(await keys({ includeGlobal: true })).toContain("global");
});

test("a session has one name: its label, how it began, or its key in words; the main one keeps its own", async () => {
  await say("hello");
  await say("bake bread", "web:k3");
  await say("count stars", "web:k4");
  await fixture.call("sessions.patch", { key: "web:k4", label: "Sky" });
  await fixture.call("sessions.patch", { key: "web:k5", thinkingLevel: "low" });
  const { sessions } = await fixture.call("sessions.list", { includeDerivedTitles: true });
  expect(Object.fromEntries(sessions.map(({ key, name }) => [key, name]))).toEqual({
    [KEY]: "Main chat",
    "agent:main:web:k3": "bake bread",
    "agent:main:web:k4": "Sky",
    "agent:main:web:k5": "New chat",
  });
});

test("a search finds words in names, beginnings and, when they are asked for, last messages of all sessions, in any script", async () => {
  for (let n = 0; n < 30; n += 1) await say(`question ${n} about ${n % 10 === 0 ? "ÄPFEL" : "bread"}`, `web:s${n}`);
  const { sessions, count, total } = await fixture.call("sessions.list", { search: "äpfel question", limit: 2, includeDerivedTitles: true });
  expect([count, total, sessions.length]).toEqual([2, 3, 2]);
  expect(sessions[0]).toMatchObject({ name: expect.stringContaining("ÄPFEL") });
  await say("and what of pears", "web:s1");
  expect(await keys({ search: "pears" })).toEqual([]);
  expect(await keys({ search: "PEARS what", includeLastMessage: true })).toEqual(["agent:main:web:s1"]);
  // The answer to a search is not kept longer than it holds.
  await say("never mind", "web:s1");
  expect(await keys({ search: "pears", includeLastMessage: true })).toEqual([]);
  await fixture.call("sessions.patch", { key: "web:s2", label: "Orchard" });
  expect(await keys({ search: "orchard" })).toEqual(["agent:main:web:s2"]);
  expect(await keys({ search: "agent:main:web:s2" })).toEqual(expect.arrayContaining(["agent:main:web:s2", "agent:main:web:s29"]));
  expect((await fixture.call("sessions.list", { limit: 1 })).total).toBe(30);
});

test("a list comes in pages, with a default and a most", async () => {
  const entry = (n: number) => ({ key: `agent:main:web:p${n}`, agentId: "main", entry: { sessionId: `p${n}`, updatedAt: n } });
  await fixture.store.commit(Array.from({ length: 520 }, (_, n) => ["sessions.put", entry(n)] as const));
  expect(await fixture.call("sessions.list", {})).toMatchObject({ count: 200, total: 520, limitApplied: 200, hasMore: true, nextOffset: 200 });
  const first = await fixture.call("sessions.list", { limit: 100_000 });
  expect(first).toMatchObject({ count: 500, limitApplied: 500, nextOffset: 500 });
  const rest = await fixture.call("sessions.list", { limit: 100_000, offset: first.nextOffset! });
  expect(rest).toMatchObject({ count: 20, total: 520, hasMore: false });
  expect(rest).not.toHaveProperty("nextOffset");
  expect(new Set([...first.sessions, ...rest.sessions].map(({ key }) => key)).size).toBe(520);
  expect(await fixture.call("sessions.list", { search: "web:p", limit: 3, offset: 518 })).toMatchObject({ count: 2, total: 520, hasMore: false });
  // What a turn needs and no list shows is not read for one.
  await fixture.store.write("sessions.patch", { key: "agent:main:web:p519", patch: { systemPromptReport: { text: "x".repeat(5000) } } });
  const { rows } = await fixture.store.read("sessions.list", { limit: 1 });
  expect(JSON.stringify(rows).length).toBeLessThan(1000);
});

test("a preview shows the last lines of each session asked for", async () => {
  await say("hello");
  await fixture.call("sessions.patch", { key: "empty", label: "Empty" });
  const { previews } = await fixture.call("sessions.preview", { keys: ["main", "empty", "nobody"], limit: 1, maxChars: 20 });
  expect(previews).toEqual([
    { key: "main", status: "ok", items: [{ role: "assistant", text: "hello" }] },
    { key: "empty", status: "empty", items: [] },
    { key: "nobody", status: "missing", items: [] },
  ]);
});

test("a session is found by key, session id or label, and by one of them only", async () => {
  await say("hello");
  await fixture.call("sessions.patch", { key: "main", label: "Home" });
  const { sessionId } = (await entryOf())!;
  for (const params of [{ key: "MAIN" }, { sessionId }, { label: "Home" }])
    expect(await fixture.call("sessions.resolve", params)).toEqual({ ok: true, key: KEY });
  await expect(fixture.call("sessions.resolve", { key: "nobody" })).rejects.toThrow("No session found: nobody");
  await expect(fixture.call("sessions.resolve", { label: "Home", agentId: "other" })).rejects.toThrow("No session found: Home");
  await expect(fixture.call("sessions.resolve", { key: "main", label: "Home" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("a patch changes settings, null clears them, and a missing session is made", async () => {
  const made = await fixture.call("sessions.patch", { key: "Fresh", thinkingLevel: "HIGH", execHost: "node", execNode: " box ", label: "Mine" });
  expect(made).toMatchObject({ key: "agent:main:fresh", entry: { thinkingLevel: "high", execHost: "node", execNode: "box", label: "Mine" } });
  expect(made.resolved).toEqual({ modelProvider: "anthropic", model: "claude-x" });
  const { entry } = await fixture.call("sessions.patch", { key: "fresh", thinkingLevel: null, execNode: null });
  expect(entry).toMatchObject({ label: "Mine", execHost: "node", sessionId: made.entry.sessionId });
  expect(Object.keys(entry)).not.toContain("thinkingLevel");
});

test.each([
  ["execHost", "moon", 'invalid execHost (use "sandbox"|"gateway"|"node")'],
  ["thinkingLevel", "max", 'invalid thinkingLevel (use "off"|"minimal"|"low"|"medium"|"high"|"xhigh")'],
  ["execAsk", "never", 'invalid execAsk (use "off"|"on-miss"|"always")'],
  ["spawnedBy", "agent:main:main", "spawnedBy is only supported for subagent:* sessions"],
  ["model", "nonsense", "invalid model: nonsense (use provider/model or an alias)"],
])("a patch with a bad %s says what is known", async (field, value, message) => {
  await expect(fixture.call("sessions.patch", { key: "main", [field]: value })).rejects.toThrow(message);
  expect(await entryOf()).toBeUndefined();
});

test("a label belongs to one session", async () => {
  await fixture.call("sessions.patch", { key: "a", label: "Same" });
  await expect(fixture.call("sessions.patch", { key: "b", label: "Same" })).rejects.toThrow("label already in use: Same");
  expect(await fixture.call("sessions.patch", { key: "a", label: "Same" })).toMatchObject({ ok: true });
});

test("a chosen model is kept for the session, the default is not", async () => {
  const { entry, resolved } = await fixture.call("sessions.patch", { key: "main", model: "openai/gpt-x" });
  expect([entry["providerOverride"], entry["modelOverride"], resolved]).toEqual(["openai", "gpt-x", { modelProvider: "openai", model: "gpt-x" }]);
  const back = await fixture.call("sessions.patch", { key: "main", model: "anthropic/claude-x" });
  expect(back.entry["modelOverride"]).toBeUndefined();
});

test("what a sub-agent's session says of its parent is set once", async () => {
  await fixture.call("sessions.patch", { key: "agent:main:subagent:1", spawnedBy: KEY, spawnDepth: 1 });
  await expect(fixture.call("sessions.patch", { key: "agent:main:subagent:1", spawnedBy: "agent:main:other" })).rejects.toThrow(
    "spawnedBy cannot be changed once set",
  );
});

test("pages that only chat may neither change nor delete sessions", async () => {
  const webchat = { client: { id: "webchat-ui", mode: "webchat", version: "1", platform: "web" } };
  await expect(fixture.call("sessions.patch", { key: "main", label: "x" }, webchat)).rejects.toThrow(
    "webchat clients cannot patch sessions; use chat.send for session-scoped updates",
  );
  await expect(fixture.call("sessions.delete", { key: "other" }, webchat)).rejects.toThrow(/^webchat clients cannot delete sessions/);
});

test("a reset stops the run, puts the transcript away, and starts a new session with the settings kept", async () => {
  await say("hello");
  await fixture.call("sessions.patch", { key: "main", label: "Home", thinkingLevel: "low", model: "openai/gpt-x" });
  const before = (await entryOf())!;
  await fixture.call("chat.send", { sessionKey: "main", message: "long @chunks=2 @gap=60000", idempotencyKey: "long" });
  await fixture.waitForEvent(({ event, payload }) => event === "chat" && payload["runId"] === "long");
  const { entry, key } = await fixture.call("sessions.reset", { key: "main", reason: "new" });
  expect(key).toBe(KEY);
  expect(entry).toMatchObject({ label: "Home", thinkingLevel: "low", lastChannel: "webchat", systemSent: false, compactionCount: 0 });
  expect(entry.sessionId).not.toBe(before.sessionId);
  for (const field of ["modelOverride", "totalTokens", "inputTokens"]) expect(Object.keys(entry)).not.toContain(field);
  expect(await fixture.echo.outcome("long")).toMatchObject({ status: "aborted" });
  expect((await fixture.call("chat.history", { sessionKey: "main" })).messages).toEqual([]);
  const [old] = await fixture.store.read("transcripts.ofSession", { agentId: "main", sessionId: before.sessionId });
  expect(old!.file).toMatch(/\.jsonl\.reset\./);
  await say("again");
  expect((await entryOf())!.sessionId).toBe(entry.sessionId);
});

test("a session that does not stop cannot be reset yet", async () => {
  await say("hello");
  fixture.echo.abort = () => ["stuck"];
  fixture.echo.outcome = () => new Promise(() => {});
  const reset = fixture.call("sessions.reset", { key: "main" });
  let isOver = false;
  const over = (): void => void (isOver = true);
  reset.then(over, over);
  // It begins to wait once it has read what there is.
  await expect.poll(() => (fixture.clock.advance(15_000), isOver)).toBe(true);
  await expect(reset).rejects.toMatchObject({ code: "UNAVAILABLE", message: "Session main is still active; try again in a moment." });
});

test("a deleted session is gone and its transcript put away; the main session stays", async () => {
  await say("hello", "work");
  await expect(fixture.call("sessions.delete", { key: "main" })).rejects.toThrow(`Cannot delete the main session (${KEY}).`);
  const { deleted, archived } = await fixture.call("sessions.delete", { key: "work" });
  expect(deleted).toBe(true);
  expect(archived).toEqual([expect.stringMatching(/\.jsonl\.deleted\./)]);
  expect(await entryOf("agent:main:work")).toBeUndefined();
  expect(await fixture.call("sessions.delete", { key: "work" })).toMatchObject({ deleted: false, archived: [] });
});

test("with deleteTranscript false the transcript stays where it is", async () => {
  await say("hello", "work");
  const { sessionId } = (await entryOf("agent:main:work"))!;
  expect(await fixture.call("sessions.delete", { key: "work", deleteTranscript: false })).toMatchObject({ deleted: true, archived: [] });
  expect(await fixture.store.read("transcripts.get", { file: `agents/main/sessions/${sessionId}.jsonl` })).toMatchObject({ archivedAt: null });
});

test("compacting keeps the last lines, in the same session, and puts the whole away", async () => {
  for (const n of [1, 2, 3]) await say(`message ${n}`);
  const { kept: whole, ...before } = await fixture.call("sessions.compact", { key: "main" });
  expect([before.compacted, whole! >= 7]).toEqual([false, true]);
  const { compacted, kept, archived } = await fixture.call("sessions.compact", { key: "main", maxLines: 2 });
  expect([compacted, kept]).toEqual([true, 2]);
  const { messages } = await fixture.call("chat.history", { sessionKey: "main" });
  expect(JSON.stringify(messages)).toContain("message 3");
  expect(messages).toHaveLength(2);
  await say("after");
  expect((await fixture.call("chat.history", { sessionKey: "main" })).messages).toHaveLength(4);
  await fixture.store[Symbol.asyncDispose]();
  expect(
    readFileSync(archived as string, "utf8")
      .trimEnd()
      .split("\n"),
  ).toHaveLength(whole!);
  expect(existsSync(join(fixture.folder, "agents/main/sessions"))).toBe(true);
});

test("compacting what is not there says so", async () => {
  expect(await fixture.call("sessions.compact", { key: "nobody" })).toMatchObject({ compacted: false, reason: "no session" });
});

test("a malformed key is refused", async () => {
  await expect(fixture.call("sessions.patch", { key: "agent:" })).rejects.toThrow('malformed session key "agent:"');
});

test("messages that come while a session is reset leave no transcript behind that nobody reads", async () => {
  await say("hello");
  for (let round = 0; round < 5; round += 1) {
    await Promise.all([fixture.call("sessions.reset", { key: "main" }), say(`meanwhile ${round}`), say(`and ${round}`)]);
    const live = await fixture.store.read("transcripts.list", { archived: false });
    const { sessionId } = (await entryOf())!;
    expect(live.map((transcript) => transcript.sessionId).filter((id) => id !== sessionId)).toEqual([]);
  }
  expect(await fixture.store.read("inbox.counts", {})).toMatchObject({ pending: 0, claimed: 0 });
});

test("20 resets of one session at once each start a new session", async () => {
  await say("hello");
  const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.call("sessions.reset", { key: "main" })));
  expect(new Set(answers.map(({ entry }) => entry.sessionId)).size).toBe(20);
  expect((await entryOf())!.sessionId).toBe(answers.at(-1)!.entry.sessionId);
});

test("20 changes of one session at once are all made", async () => {
  const fields = ["thinkingLevel", "verboseLevel", "reasoningLevel", "elevatedLevel"] as const;
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => fixture.call("sessions.patch", { key: "main", [fields[n % fields.length]!]: n < 16 ? "off" : "on" })).map((call) =>
      call.catch((error: Error) => error.message),
    ),
  );
  // The level of thinking has no "on": that change alone is refused, as it would be by itself.
  expect(answers.filter((answer) => typeof answer === "string")).toEqual([expect.stringContaining("invalid thinkingLevel")]);
  expect(await entryOf()).toMatchObject({ thinkingLevel: "off", verboseLevel: "on", reasoningLevel: "on", elevatedLevel: "on" });
});

test("whatever is done to one session at once, and while it answers: each call gets an answer of its own", async () => {
  for (let n = 0; n < 8; n += 1) await say(`line ${n}`, "work");
  const said = Promise.all(Array.from({ length: 10 }, (_, n) => say(`meanwhile ${n}`, "work")));
  const calls = Array.from({ length: 6 }, (_, n) => [
    fixture.call("sessions.patch", { key: "work", thinkingLevel: "low" }),
    fixture.call("sessions.compact", { key: "work", maxLines: 2 }),
    fixture.call("sessions.reset", { key: "work" }),
    fixture.call("agent", { sessionKey: "work", message: `/new and ${n}`, idempotencyKey: `new-${n}` }),
    fixture.call("sessions.delete", { key: "work" }),
  ]).flat();
  // A transcript is put away under the time of day: it goes on, or two of a session's would have one name.
  const time = setInterval(() => fixture.clock.advance(1), 1);
  const answers = await Promise.allSettled(calls);
  clearInterval(time);
  expect(answers.flatMap((answer) => (answer.status === "rejected" ? [String(answer.reason)] : []))).toEqual([]);
  await said;
});

test("of two sessions that ask for one label at once only one gets it", async () => {
  const asked = ["a", "b", "c"].map((key) => fixture.call("sessions.patch", { key, label: "Mine" }));
  const answers = await Promise.allSettled(asked);
  expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(await keys({ label: "Mine" })).toHaveLength(1);
});

test("compacting a session twice at once shortens it once", async () => {
  for (let n = 0; n < 5; n += 1) await say(`line ${n}`);
  const answers = await Promise.all([1, 2, 3].map(() => fixture.call("sessions.compact", { key: "main", maxLines: 4 })));
  expect(answers.filter(({ compacted }) => compacted)).toHaveLength(1);
});

test.each(["sessions.patch", "sessions.reset", "sessions.delete", "sessions.compact"] as const)(
  "%s of an agent that is not there is refused",
  async (method) => {
    await expect(fixture.call(method, { key: "agent:nope:main" })).rejects.toMatchObject({ code: "INVALID_INPUT", message: 'unknown agent id "nope"' });
    expect(await keys()).toEqual([]);
  },
);

test("what is left of an agent that is gone can be looked at and removed", async () => {
  const key = "agent:gone:main";
  await fixture.store.write("sessions.put", { key, agentId: "gone", entry: { sessionId: "g", updatedAt: 1 } });
  expect(await fixture.call("sessions.resolve", { key })).toEqual({ ok: true, key });
  expect(await fixture.call("chat.history", { sessionKey: key })).toMatchObject({ sessionId: "g" });
  expect(await fixture.call("sessions.delete", { key })).toMatchObject({ deleted: true });
  expect(await keys()).toEqual([]);
});
