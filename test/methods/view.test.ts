import { afterEach, beforeEach, expect, test } from "vitest";
import * as fc from "fast-check";
import { line, said, seedSession, T0 } from "../harness/seeded-session.ts";
import { openMethods, type MethodFixture, type SentEvent } from "../harness/methods.ts";
import type { ChatEntry } from "../../src/protocol/index.ts";
import type { EntryInput } from "../../src/store/index.ts";

const KEY = "agent:main:main";
let fixture: MethodFixture;
beforeEach(async () => {
  fixture = await openMethods();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const note = { type: "custom", customType: "model-snapshot", data: {} };
const seed = (entries: readonly EntryInput[], key = KEY, sessionId = "s1") => seedSession(fixture.store, entries, key, sessionId);

const page = (params: object = {}) => fixture.call("chat.page", { sessionKey: "main", ...params });
const texts = (entries: readonly ChatEntry[] | Awaited<ReturnType<typeof page>>["entries"]) =>
  entries.map(({ content }) => (content[0] as { text?: string } | undefined)?.text);
const say = (message: string, idempotencyKey = "r1", more: object = {}) => fixture.call("chat.send", { sessionKey: "main", message, idempotencyKey, ...more });
const ended = (runId = "r1") => fixture.waitForEvent(({ event, payload }) => event === "chat" && payload["runId"] === runId && payload["state"] === "final");
const changed = () => fixture.events.filter(({ event }) => event === "chat.changed").map(({ payload }) => payload);

test("a session that is not there is an empty page, under its canonical key", async () => {
  expect(await page()).toEqual({ sessionKey: KEY, entries: [], more: false, last: 0, pending: [], runs: [] });
  await expect(page({ before: 1, after: 1 })).rejects.toThrow("not both");
  await expect(fixture.call("chat.page", { sessionKey: "agent:nobody:main" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("entries are shown with what they cost, what was called and what came of it; bookkeeping is not", async () => {
  const usage = { input: 10, output: 5, cacheRead: 1, cacheWrite: 0, totalTokens: 16, cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 0.25 } };
  const call = { type: "toolCall", id: "t1", name: "read", arguments: { path: "x".repeat(20_000) }, thoughtSignature: "s" };
  const png = Buffer.alloc(300, 7).toString("base64");
  await seed([
    line("a", null, said("[Sun 2026-01-05 16:26 UTC] hello"), 1),
    line("b", "a", note, 2),
    line(
      "c",
      "b",
      {
        message: {
          role: "assistant",
          content: [{ type: "thinking", thinking: "hm", thinkingSignature: "secret" }, call],
          provider: "p",
          model: "m",
          usage,
          stopReason: "toolUse",
        },
      },
      3,
    ),
    line(
      "d",
      "c",
      {
        message: {
          role: "toolResult",
          toolCallId: "t1",
          toolName: "read",
          isError: true,
          content: [{ type: "image", data: png, mimeType: "image/png" }],
          details: { big: "y".repeat(9000) },
        },
      },
      4,
    ),
    line(
      "e",
      "d",
      {
        message: {
          role: "assistant",
          content: [],
          provider: "p",
          model: "m",
          usage: { ...usage, input: 0, output: 0, cacheRead: 0 },
          stopReason: "error",
          errorMessage: "no",
        },
      },
      5,
    ),
    line("f", "e", { type: "compaction", summary: "all of it", firstKeptEntryId: "d" }, 6),
    line("g", "f", { type: "custom", customType: "openclaw:prompt-error", data: { runId: "r9", error: "it broke" } }, 7),
    line("h", "g", { message: { role: "user", content: Array.from({ length: 20 }, () => ({ type: "text", text: "z".repeat(12_000) })) } }, 8),
  ]);
  const { entries, last, more, sessionId, began } = await page();
  expect({ last, more, sessionId, began }).toEqual({ last: 8, more: false, sessionId: "s1", began: fixture.clock.now() });
  expect(entries.map(({ seq, kind, ts }) => [seq, kind, ts - T0])).toEqual([
    [1, "user", 1],
    [3, "assistant", 3],
    [4, "tool", 4],
    [5, "assistant", 5],
    [6, "compaction", 6],
    [7, "note", 7],
    [8, "user", 8],
  ]);
  const [hello, asked, result, failed, compaction, broken, large] = entries;
  expect(hello).toEqual({ seq: 1, id: "a", ts: T0 + 1, kind: "user", content: [{ type: "text", text: "hello" }] });
  expect(asked).toMatchObject({ provider: "p", model: "m", stopReason: "toolUse", cut: true, usage: { input: 10, output: 5, cacheRead: 1, cost: 0.25 } });
  expect(asked!.content[0]).toEqual({ type: "thinking", thinking: "hm" });
  expect(JSON.stringify(asked!.content[1]).length).toBeLessThan(13_000);
  expect(result).toMatchObject({
    toolCallId: "t1",
    toolName: "read",
    isError: true,
    content: [{ type: "image", mimeType: "image/png", omitted: true, bytes: 300 }],
  });
  expect(result!.cut).toBeUndefined();
  expect(JSON.stringify(result!.details).length).toBeLessThan(8200);
  expect(failed).toMatchObject({ error: "no", stopReason: "error" });
  expect(failed!.usage).toBeUndefined();
  expect(compaction!.content).toEqual([{ type: "text", text: "all of it" }]);
  expect(broken).toMatchObject({ error: "it broke", runId: "r9" });
  expect(large).toMatchObject({ cut: true, content: [{ type: "text", text: "[too large to be shown]" }] });
  expect(await fixture.call("chat.image", { sessionKey: "main", seq: 4, index: 0 })).toEqual({ mimeType: "image/png", data: png });
  for (const [seq, index] of [
    [4, 1],
    [3, 0],
    [99, 0],
    [0, 0],
  ] as const)
    await expect(fixture.call("chat.image", { sessionKey: "main", seq, index })).rejects.toThrow("no image");
});

test("all that a cut entry says comes in parts, as it was said", async () => {
  const long = `${"lorem ".repeat(50_000)}end`;
  const emoji = "🙂".repeat(600_000);
  await seed([
    line("a", null, said(`[Sun 2026-01-05 16:26 UTC] ${long}`), 1),
    line(
      "b",
      "a",
      {
        message: {
          role: "user",
          content: [
            { type: "text", text: "one" },
            { type: "image", data: "AA==", mimeType: "image/png" },
            { type: "text", text: `x${emoji}` },
          ],
        },
      },
      2,
    ),
    line("c", "b", note, 3),
    line("d", "c", { type: "compaction", summary: "all of it", firstKeptEntryId: "a" }, 4),
  ]);
  const whole = async (seq: number): Promise<readonly string[]> => {
    const parts: string[] = [];
    let from: number | undefined;
    do {
      const { text, next } = await fixture.call("chat.entry", { sessionKey: "main", seq, ...(from === undefined ? {} : { from }) });
      parts.push(text);
      from = next;
    } while (from !== undefined);
    return parts;
  };
  expect((await page()).entries[0]).toMatchObject({ cut: true });
  expect(await whole(1)).toEqual([long]);
  const parts = await whole(2);
  expect([parts.length, parts.join("") === `one\n\nx${emoji}`, parts.every((part) => part.isWellFormed())]).toEqual([2, true, true]);
  expect(await whole(4)).toEqual(["all of it"]);
  for (const seq of [0, 3, 99]) await expect(whole(seq)).rejects.toThrow("no entry");
});

test("whatever the page size and the direction, no entry comes twice or is missing, branches and bookkeeping or not", async () => {
  let sessions = 0;
  const shape = fc.record({
    // Which entry each hangs below, counted backwards; 0 is the one before.
    parents: fc.array(fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 20 }) }), { minLength: 1, maxLength: 60 }),
    hidden: fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
    sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
    flat: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(shape, async ({ parents, hidden, sizes, flat }) => {
      sessions += 1;
      const sessionKey = `agent:main:s${sessions}`;
      const entries = parents.map((back, n) => {
        const parent = n === 0 ? null : `e${Math.max(0, n - 1 - back)}`;
        return line(flat ? undefined : `e${n}`, parent, hidden[n] ? note : said(String(n)), n);
      });
      const file = await seed(entries, sessionKey, `id-${sessions}`);
      const way = flat ? await fixture.store.read("transcripts.tail", { file, limit: 1000 }) : await fixture.store.read("transcripts.path", { file });
      const expected = way.map(({ seq }) => seq).filter((seq) => !hidden[seq - 1]);
      const backwards: number[] = [];
      for (let turn = 0, before: number | undefined; ; turn += 1) {
        const got = await fixture.call("chat.page", { sessionKey, limit: sizes[turn % sizes.length]!, ...(before === undefined ? {} : { before }) });
        backwards.unshift(...got.entries.map(({ seq }) => seq));
        if (!got.more) break;
        before = got.entries[0]!.seq;
      }
      const forwards: number[] = [];
      for (let turn = 0; ; turn += 1) {
        const got = await fixture.call("chat.page", { sessionKey, limit: sizes[turn % sizes.length]!, after: forwards.at(-1) ?? 0 });
        forwards.push(...got.entries.map(({ seq }) => seq));
        if (!got.more) break;
      }
      expect([backwards, forwards]).toEqual([expected, expected]);
    }),
    { numRuns: 60 },
  );
});

test("a page is bounded in bytes, and says that there is more", async () => {
  const blocks = Array.from({ length: 9 }, () => ({ type: "text", text: "z".repeat(11_000) }));
  await seed(Array.from({ length: 80 }, (_, n) => line(`e${n}`, n ? `e${n - 1}` : null, { message: { role: "user", content: blocks } }, n)));
  const newest = await page({ limit: 200 });
  expect([newest.more, newest.entries.at(-1)!.seq]).toEqual([true, 80]);
  expect(JSON.stringify(newest).length).toBeLessThan(4.5 * 1024 * 1024);
  const rest = await page({ limit: 200, before: newest.entries[0]!.seq });
  expect([...rest.entries, ...newest.entries].map(({ seq }) => seq)).toEqual(Array.from({ length: 80 }, (_, n) => n + 1));
});

test("a message is pending from its acceptance until it is in the transcript, and its run shows what it said so far", async () => {
  await say("one @chunks=3 @gap=1000");
  await fixture.waitForEvent(({ event, payload }) => event === "agent" && payload["stream"] === "assistant");
  await say("two", "r2");
  const during = await page();
  expect(during.entries).toEqual([]);
  expect(during.pending.map(({ runId, text, images }) => [runId, text, images])).toEqual([
    ["r1", "one @chunks=3 @gap=1000", 0],
    ["r2", "two", 0],
  ]);
  expect(during.runs).toEqual([{ runId: "r1", startedAt: expect.any(Number), text: "one" }]);
  for (let n = 0; n < 2; n += 1) {
    const heard = fixture.events.length;
    fixture.clock.advance(1000);
    await fixture.waitForEvent((sent) => fixture.events.indexOf(sent) >= heard && sent.event === "agent");
  }
  await ended("r1");
  await ended("r2");
  const after = await page();
  expect(texts(after.entries)).toEqual(["one @chunks=3 @gap=1000", "one w1 w2", "two", "two"]);
  expect(after.entries.map(({ kind, runId }) => [kind, runId])).toEqual([
    ["user", "r1"],
    ["assistant", "r1"],
    ["user", "r2"],
    ["assistant", "r2"],
  ]);
  expect([after.pending, after.runs]).toEqual([[], []]);
});

test("messages of channels are shown with who wrote them and where", async () => {
  const payload = { kind: "channel", event: { sender: { name: "Ada" }, media: [{}] } };
  const row = {
    channel: "telegram",
    account: "default",
    conversation: "42",
    kind: "message",
    text: "hi",
    payload,
    sender: "7",
    sessionKey: KEY,
    agentId: "main",
  };
  const { id } = await fixture.store.write("inbox.accept", { ...row, messageId: "m1" });
  await fixture.store.write("inbox.accept", { ...row, messageId: "reaction:1", kind: "reaction" });
  expect((await page()).pending).toEqual([{ runId: `in:${id}`, ts: fixture.clock.now(), text: "hi", images: 1, from: "Ada", channel: "telegram" }]);
  await fixture.store.commit([
    ["turns.start", { id: "t1", sessionKey: KEY, agentId: "main" }],
    ["inbox.claim", { ids: [id], turnId: "t1" }],
  ]);
  expect((await page()).pending).toMatchObject([{ runId: "t1" }]);
  const file = await seed([]);
  const at = new Date(fixture.clock.now()).toISOString();
  const entry = { type: "message", id: "a", parentId: null, timestamp: at, message: { role: "user", content: "hi" } };
  await fixture.store.commit([
    ["transcripts.append", { file, entries: [{ id: "a", parentId: null, type: "message", line: JSON.stringify(entry) }] }],
    ["inbox.settle", { ids: [id], outcome: "answered" }],
    ["turns.end", { id: "t1", outcome: "answered" }],
  ]);
  expect(await page()).toMatchObject({ pending: [], entries: [{ kind: "user", runId: "t1", from: "Ada", channel: "telegram" }] });
});

const isChanged =
  (fits: (payload: Record<string, unknown>) => boolean) =>
  ({ event, payload }: SentEvent) =>
    event === "chat.changed" && fits(payload);

/** Moves the clock until an event comes. */
async function soon(fits: (payload: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
  const pump = setInterval(() => fixture.clock.advance(50), 2);
  try {
    return (await fixture.waitForEvent(isChanged(fits))).payload;
  } finally {
    clearInterval(pump);
  }
}

test("watchers are notified of messages, runs and entries, no matter who made them; others are not", async () => {
  await say("before");
  await ended();
  expect(changed()).toEqual([]);
  expect(await fixture.call("chat.watch", { sessionKey: "main" })).toEqual({ ok: true, sessionKey: KEY, watching: [KEY] });
  expect(changed()).toEqual([]);
  const { last, began, sessionId } = await page();
  await fixture.call("chat.inject", { sessionKey: "main", message: "a note" });
  expect(await soon(({ last: now }) => now === last + 1)).toEqual({ sessionKey: KEY, sessionId, began, last: last + 1, pending: 0, runs: 0 });
  await say("next @chunks=2 @gap=100000", "r2");
  expect(await soon(({ pending, runs }) => pending === 1 && runs === 1)).toMatchObject({ last: last + 1 });
  fixture.clock.advance(100_000);
  await ended("r2");
  expect(await soon(({ last: now, runs }) => now === last + 3 && runs === 0)).toMatchObject({ pending: 0 });
  await fixture.call("sessions.reset", { key: "main" });
  const reset = await soon(({ sessionId: now }) => now !== sessionId);
  expect(reset).toEqual({ sessionKey: KEY, sessionId: expect.any(String), last: 0, pending: 0, runs: 0 });
  await fixture.call("chat.watch", { sessionKey: "main", on: false });
  const before = changed().length;
  await say("unseen", "r3");
  await ended("r3");
  fixture.clock.advance(1000);
  expect(changed()).toHaveLength(before);
});

test("many changes at once are few events, and the last state is always among them", async () => {
  await say("first");
  await ended();
  await fixture.call("chat.watch", { sessionKey: "main" });
  const { last } = await page();
  for (let n = 0; n < 50; n += 1) await fixture.call("chat.inject", { sessionKey: "main", message: `note ${n}` });
  expect(changed()).toHaveLength(1);
  await soon(({ last: now }) => now === last + 50);
  expect(changed()).toHaveLength(2);
});

test("a connection watches 64 sessions at most", async () => {
  for (let n = 0; n < 64; n += 1) await fixture.call("chat.watch", { sessionKey: `agent:main:w${n}` });
  await expect(fixture.call("chat.watch", { sessionKey: "main" })).rejects.toThrow("watches 64 sessions");
  await fixture.call("chat.watch", { sessionKey: "agent:main:w3", on: false });
  expect((await fixture.call("chat.watch", { sessionKey: "main" })).watching).toHaveLength(64);
});
