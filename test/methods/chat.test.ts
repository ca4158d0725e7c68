import { setImmediate } from "node:timers/promises";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMethods, type MethodFixture, type SentEvent } from "../harness/methods.ts";

const KEY = "agent:main:main";
let fixture: MethodFixture;
beforeEach(async () => {
  fixture = await openMethods();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const say = (message: string, idempotencyKey = "r1", more: object = {}) => fixture.call("chat.send", { sessionKey: "main", message, idempotencyKey, ...more });
const chat =
  (runId: string, state: string) =>
  ({ event, payload }: SentEvent) =>
    event === "chat" && payload["runId"] === runId && payload["state"] === state;
const ended = (runId = "r1") => fixture.waitForEvent(chat(runId, "final"));
const text = ({ payload }: SentEvent) => (payload["message"] as { content: { text: string }[] } | undefined)?.content[0]?.text;
const shape = ({ event, payload }: SentEvent) => [
  event,
  payload["state"] ?? (payload["data"] as { phase?: string }).phase ?? payload["stream"],
  payload["seq"],
];

test("a message is answered with started, and then with events under its key", async () => {
  expect(await say("hello")).toEqual({ runId: "r1", status: "started" });
  const final = await ended();
  expect(final.payload).toMatchObject({ sessionKey: KEY, message: { role: "assistant", content: [{ type: "text", text: "hello" }] } });
  expect(fixture.events.map(shape)).toEqual([
    ["agent", "start", 1],
    ["agent", "assistant", 2],
    ["chat", "delta", 2],
    ["agent", "end", 3],
    ["chat", "final", 3],
  ]);
});

test("deltas are cumulative and come at most every 150 ms, each after a piece of the run; together the pieces are the answer", async () => {
  await say("one @chunks=50 @gap=20");
  while (!fixture.events.some(chat("r1", "final"))) {
    fixture.clock.advance(10);
    await setImmediate();
  }
  const whole = ["one", ...Array.from({ length: 49 }, (_, at) => `w${at + 1}`)].join(" ");
  expect(text(await ended())).toBe(whole);
  const deltas = fixture.events.filter(({ event, payload }) => event === "chat" && payload["state"] === "delta");
  const times = deltas.map(({ payload }) => (payload["message"] as { timestamp: number }).timestamp);
  expect(deltas.length).toBeGreaterThan(3);
  for (const [at, delta] of deltas.entries()) {
    expect(whole.startsWith(text(delta)!)).toBe(true);
    if (at > 0) expect(times[at]! - times[at - 1]!).toBeGreaterThanOrEqual(150);
    expect(fixture.events[fixture.events.indexOf(delta) - 1]).toMatchObject({ event: "agent", payload: { stream: "assistant", data: { text: text(delta) } } });
  }
  const pieces = fixture.events.flatMap(({ payload }) => (payload["stream"] === "assistant" ? [payload["data"] as { text: string; delta: string }] : []));
  expect(pieces.map(({ delta }) => delta).join("")).toBe(whole);
  expect(pieces.at(-1)!.text).toBe(whole);
});

test("the same key and message is the same run, running or ended; another message under it is refused", async () => {
  await say("slow @chunks=2 @gap=1000");
  expect(await say("slow @chunks=2 @gap=1000")).toEqual({ runId: "r1", status: "in_flight" });
  await expect(say("other")).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await fixture.waitForEvent(chat("r1", "delta"));
  fixture.clock.advance(1000);
  await ended();
  expect(await say("slow @chunks=2 @gap=1000")).toEqual({ runId: "r1", status: "ok" });
  await expect(say("other")).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect((await fixture.call("chat.history", { sessionKey: "main" })).messages).toHaveLength(2);
});

test("after a restart the key still stands for its run", async () => {
  const folder = mkdtempSync(join(tmpdir(), "restart-"));
  try {
    for (const status of ["started", "ok"]) {
      await using life = await openMethods({ folder, seed: status.length });
      expect(await life.call("chat.send", { sessionKey: "main", message: "once", idempotencyKey: "k" })).toEqual({ runId: "k", status });
      await life.echo.outcome("k");
      expect((await life.call("chat.history", { sessionKey: "main" })).messages).toHaveLength(2);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("chat.abort ends the runs of a session: the event with what was said comes before the answer", async () => {
  await say("long @chunks=9 @gap=1000");
  await fixture.waitForEvent(chat("r1", "delta"));
  expect(await fixture.call("chat.abort", { sessionKey: KEY })).toEqual({ ok: true, aborted: true, runIds: ["r1"] });
  const last = fixture.events.at(-1)!;
  expect(last.payload).toMatchObject({ state: "aborted", stopReason: "rpc", runId: "r1", sessionKey: "main" });
  expect(text(last)).toBe("long");
  expect(fixture.events.some((event) => chat("r1", "final")(event) || shape(event)[1] === "end")).toBe(false);
  expect(await fixture.store.read("inbox.find", { messageId: "r1" })).toMatchObject([{ outcome: "cancelled" }]);
});

test("chat.abort of one run: unknown ones are nobody's, those of another session are refused", async () => {
  await say("long @chunks=9 @gap=1000");
  await fixture.waitForEvent(chat("r1", "delta"));
  expect(await fixture.call("chat.abort", { sessionKey: "main", runId: "nobody" })).toEqual({ ok: true, aborted: false, runIds: [] });
  await expect(fixture.call("chat.abort", { sessionKey: "other", runId: "r1" })).rejects.toThrow("runId does not match sessionKey");
  expect(await fixture.call("chat.abort", { sessionKey: "main", runId: "r1" })).toMatchObject({ runIds: ["r1"] });
});

test.each(["/stop", "stop", " ESC ", "abort", "wait", "exit", "interrupt"])("%j alone stops what runs", async (word) => {
  await say("long @chunks=9 @gap=1000");
  await fixture.waitForEvent(chat("r1", "delta"));
  expect(await say(word, "r2")).toEqual({ ok: true, aborted: true, runIds: ["r1"] });
  expect(fixture.events.at(-1)!.payload).toMatchObject({ state: "aborted", stopReason: "stop" });
});

test.each([
  ["chat.abort", () => fixture.call("chat.abort", { sessionKey: "main" })],
  ["chat.abort of the run", () => fixture.call("chat.abort", { sessionKey: "main", runId: "r1" })],
  ["a stop word", () => say("stop", "s1")],
])("%s right behind a message reaches it, and not the message behind", async (_name, stop) => {
  const answers = await Promise.all([say("long @chunks=9 @gap=1000"), stop(), say("next", "r2")]);
  expect(answers).toEqual([
    { runId: "r1", status: "started" },
    { ok: true, aborted: true, runIds: ["r1"] },
    { runId: "r2", status: "started" },
  ]);
  expect(text(await ended("r2"))).toBe("next");
  expect(await fixture.store.read("inbox.find", { messageId: "r1" })).toMatchObject([{ outcome: "cancelled" }]);
});

test("a stop word right behind a message that is refused reaches what runs", async () => {
  await say("long @chunks=9 @gap=1000");
  const [refused, stopped] = await Promise.allSettled([say("another"), say("stop", "s1")]);
  expect(refused.status).toBe("rejected");
  expect(stopped).toMatchObject({ value: { aborted: true, runIds: ["r1"] } });
});

test("a word that only begins like a stop word is a message", async () => {
  expect(await say("stop the car")).toEqual({ runId: "r1", status: "started" });
});

test("a run past its time is aborted with the reason timeout", async () => {
  await say("long @chunks=2 @gap=60000", "r1", { timeoutMs: 5000 });
  await fixture.waitForEvent(chat("r1", "delta"));
  fixture.clock.advance(5000);
  expect((await fixture.waitForEvent(chat("r1", "aborted"))).payload).toMatchObject({ stopReason: "timeout" });
});

test("a run that nobody gave a time has the configured one", async () => {
  await fixture.echo.accept({ runId: "r1", sessionKey: KEY, message: "long @chunks=2 @gap=999999", channel: "internal" });
  await fixture.waitForEvent(chat("r1", "delta"));
  fixture.clock.advance(600_000);
  expect(await fixture.echo.outcome("r1")).toMatchObject({ status: "aborted", abortedBy: "timeout" });
});

test("NO_REPLY is silence: no delta, and a final without a message", async () => {
  await say("NO_REPLY");
  expect((await ended()).payload["message"]).toBeUndefined();
  expect(fixture.events.some(chat("r1", "delta"))).toBe(false);
});

test("texts are cleaned: composed form, no control characters, no null byte", async () => {
  await say("e\u0301\u0007a\tb");
  expect(text(await ended())).toBe("\u00e9a\tb");
  await expect(say("a\0b", "r2")).rejects.toThrow("message must not contain null bytes");
});

test("an empty message without an attachment is refused", async () => {
  await expect(say("  ")).rejects.toThrow("message or attachment required");
  await expect(say("", "r1", { attachments: [] })).rejects.toThrow("message or attachment required");
});

test("attachments: broken base64 and large ones fail, what is no image is kept as a file", async () => {
  await expect(say("x", "r1", { attachments: [{ mimeType: "image/png", content: "%%%" }] })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  const large = Buffer.alloc(5_000_001).toString("base64");
  await expect(say("x", "r1", { attachments: [{ mimeType: "image/png", content: large }] })).rejects.toThrow("5000001 bytes");
  const file = Buffer.alloc(5 * 1024 * 1024 + 1).toString("base64");
  await expect(say("x", "r1", { attachments: [{ mimeType: "text/plain", content: file }] })).rejects.toThrow("the limit is 5242880");
  const many = Array.from({ length: 21 }, () => ({ mimeType: "text/plain", content: "aGk=" }));
  await expect(say("x", "r1", { attachments: many })).rejects.toThrow("21 files; one message may have at most 20");
  const media = join(fixture.folder, "media");
  expect(existsSync(media)).toBe(false);
  const attachments = [
    { mimeType: "image/png", content: "JVBERi0x" },
    { type: "file", fileName: "../../etc/pass wd.txt", mimeType: "text/plain", content: "aGk=" },
  ];
  expect(await say("", "r1", { attachments })).toMatchObject({ status: "started" });
  const lines = (text(await ended()) ?? "").split("\n\n");
  const paths = lines.map((line) => /^\[media attached: (.+) \((.+)\)\]$/.exec(line)!);
  expect(paths.map(([, path]) => dirname(path!))).toEqual([join(media, "inbound"), join(media, "inbound")]);
  expect(paths.map(([, path]) => readFileSync(path!, "utf8"))).toEqual(["%PDF-1", "hi"]);
  expect(paths.map(([, , type]) => type)).toEqual(["application/pdf", "text/plain"]);
  // The same message once more is the same message: nothing of it is stored twice.
  expect(await say("", "r1", { attachments })).toMatchObject({ status: "ok" });
  expect(readdirSync(join(media, "inbound"))).toHaveLength(2);
});

test("a session that may not be written to refuses", async () => {
  await fixture.call("sessions.patch", { key: "main", sendPolicy: "deny" });
  await expect(say("hello")).rejects.toThrow("send blocked by session policy");
});

test.each(["chat.send", "chat.history", "chat.inject"] as const)("%s to an agent that is not there is refused, and nothing is kept of it", async (method) => {
  const sessionKey = "agent:nope:main";
  const params = { sessionKey, ...(method === "chat.history" ? {} : { message: "hello" }), ...(method === "chat.send" ? { idempotencyKey: "r1" } : {}) };
  await expect(fixture.call(method, params as never)).rejects.toMatchObject({ code: "INVALID_INPUT", message: 'unknown agent id "nope"' });
  expect(await fixture.store.read("inbox.find", { messageId: "r1" })).toEqual([]);
  expect(await fixture.store.read("sessions.get", { key: sessionKey })).toBeUndefined();
});

test("the history has what was said, without what only the model sees", async () => {
  await say("hello");
  await ended();
  const { sessionId, messages } = await fixture.call("chat.history", { sessionKey: "main" });
  expect(sessionId).toMatch(/-/);
  expect(messages).toEqual([
    { role: "user", content: [{ type: "text", text: "hello" }], timestamp: expect.any(Number) },
    expect.objectContaining({ role: "assistant", content: [{ type: "text", text: "hello" }], provider: "test", model: "echo", stopReason: "stop" }),
  ]);
  expect(JSON.stringify(messages)).not.toContain("usage");
  expect(await fixture.call("chat.history", { sessionKey: "nobody" })).toEqual({ sessionKey: "nobody", messages: [] });
});

async function store(messages: readonly object[]): Promise<void> {
  await fixture.call("sessions.patch", { key: "main", thinkingLevel: "high" });
  const { entry } = (await fixture.store.read("sessions.get", { key: KEY }))!;
  const file = `agents/main/sessions/${entry.sessionId}.jsonl`;
  const header = JSON.stringify({ type: "session", version: 3, id: entry.sessionId });
  const id = (index: number): string => String(index).padStart(8, "0");
  const entries = messages.map((message, index) => {
    const parentId = index === 0 ? null : id(index - 1);
    const type = "summary" in message ? "compaction" : "message";
    return {
      id: id(index),
      parentId,
      type,
      line: JSON.stringify({ type, id: id(index), parentId, timestamp: "2026-01-05T16:26:00.000Z", ...(type === "message" ? { message } : message) }),
    };
  });
  await fixture.store.commit([
    ["transcripts.ensure", { file, agentId: "main", sessionId: entry.sessionId, header }],
    ["transcripts.append", { file, entries }],
  ]);
}

test("the history cuts what is too long, leaves out images and details, and says so", async () => {
  const long = "x".repeat(12_001);
  await store([
    { role: "user", content: "[Sun 2026-01-05 16:26 UTC] hi", timestamp: 1 },
    { role: "user", content: [{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: long, thinkingSignature: "s" },
        { type: "toolCall", id: "t", name: "read", arguments: { path: long } },
      ],
    },
    { role: "toolResult", toolCallId: "t", toolName: "read", content: [{ type: "text", text: long }], details: { secret: 1 }, isError: false },
    { summary: "what was", firstKeptEntryId: "00000000", tokensBefore: 1 },
    { role: "assistant", content: Array.from({ length: 20 }, () => ({ type: "text", text: "y".repeat(10_000) })), timestamp: 7 },
  ]);
  const { messages, thinkingLevel } = await fixture.call("chat.history", { sessionKey: "main" });
  const cut = `${"x".repeat(12_000)}\n...(truncated)...`;
  expect(thinkingLevel).toBe("high");
  expect(messages).toEqual([
    { role: "user", content: [{ type: "text", text: "hi" }], timestamp: 1 },
    { role: "user", content: [{ type: "image", mimeType: "image/png", omitted: true, bytes: 5 }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: cut },
        { type: "toolCall", id: "t", name: "read", arguments: { path: cut } },
      ],
    },
    { role: "toolResult", toolCallId: "t", toolName: "read", content: [{ type: "text", text: cut }], isError: false },
    expect.objectContaining({ role: "system", __openclaw: { kind: "compaction", id: "00000004" } }),
    {
      role: "assistant",
      timestamp: 7,
      content: [{ type: "text", text: "[chat.history omitted: message too large]" }],
      __openclaw: { truncated: true, reason: "oversized" },
    },
  ]);
  expect((await fixture.call("chat.history", { sessionKey: "main", limit: 2 })).messages).toHaveLength(2);
});

test("a history over 6 MiB loses its oldest messages", async () => {
  const block = { type: "text", text: "z".repeat(11_000) };
  await store(Array.from({ length: 70 }, (_, n) => ({ role: "user", content: Array.from({ length: 11 }, () => block), timestamp: n })));
  const { messages } = await fixture.call("chat.history", { sessionKey: "main" });
  expect(messages.length).toBeLessThan(70);
  expect(Buffer.byteLength(JSON.stringify(messages))).toBeLessThanOrEqual(6 * 1024 * 1024);
  expect(messages.at(-1)).toMatchObject({ timestamp: 69 });
});

test("chat.inject puts a message into an existing session and tells it", async () => {
  await expect(fixture.call("chat.inject", { sessionKey: "main", message: "note" })).rejects.toThrow("session not found");
  await say("hello");
  await ended();
  const { messageId } = await fixture.call("chat.inject", { sessionKey: "main", message: "note", label: "Info" });
  expect(fixture.events.at(-1)!.payload).toMatchObject({ runId: `inject-${messageId}`, seq: 0, state: "final", sessionKey: KEY });
  const { messages } = await fixture.call("chat.history", { sessionKey: "main" });
  expect(messages.at(-1)).toMatchObject({
    role: "assistant",
    content: [{ text: "[Info]\n\nnote" }],
    provider: "openclaw",
    model: "gateway-injected",
    api: "openai-responses",
  });
});
