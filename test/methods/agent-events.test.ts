import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { loadAnswerChecks, type EventName } from "../../src/protocol/index.ts";
import { openAgentSurface, type AgentSurface } from "../harness/agent-surface.ts";
import type { Frame, RawClient } from "../harness/gateway-client.ts";

let gateway: AgentSurface;
/** Every test has a session of its own. */
let key: string;
beforeAll(async () => {
  gateway = await openAgentSurface();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  key = `agent:main:${crypto.randomUUID()}`;
});

const TOOL_EVENTS = { caps: ["tool-events"] };
const isFinal = (runId: string) => (frame: Frame) =>
  frame.event === "chat" && frame.payload?.["runId"] === `${key} ${runId}` && frame.payload["state"] === "final";
const say = (client: RawClient, message: string, idempotencyKey: string, more: object = {}) =>
  client.request("chat.send", { sessionKey: key, message, idempotencyKey: `${key} ${idempotencyKey}`, ...more });
const streams = (client: RawClient, runId: string) =>
  client.frames
    .filter((frame) => frame.event === "agent" && frame.payload?.["runId"] === `${key} ${runId}`)
    .map(({ payload, seq }) => ({ ...payload, frame: seq }));
type AgentEvent = { readonly stream: string; readonly seq: number; readonly frame?: number; readonly data: Record<string, unknown> };
const eventsOf = (client: RawClient, runId: string, stream: string) =>
  (streams(client, runId) as unknown as AgentEvent[]).filter((event) => event.stream === stream);

async function patch(fields: object): Promise<void> {
  const admin = await gateway.client();
  expect((await admin.request("sessions.patch", { key, ...fields })).ok).toBe(true);
}

/** Everything that was sent fits what is declared. */
async function checkEvents(client: RawClient): Promise<void> {
  const checks = await loadAnswerChecks();
  for (const frame of client.frames) {
    if (frame.type === "event")
      expect([frame.event, frame.payload, checks.event(frame.event as EventName, frame.payload)]).toEqual([frame.event, frame.payload, undefined]);
  }
}

test("who starts a run and asked for tool events gets them, numbered in the run and not in the connection; others do not", async () => {
  const [mine, plain, other] = await Promise.all([gateway.client(TOOL_EVENTS), gateway.client(), gateway.client(TOOL_EVENTS)]);
  await say(mine, "@tools hello", "r1");
  await Promise.all([mine, plain, other].map((client) => client.next(isFinal("r1"))));
  expect(eventsOf(mine, "r1", "tool")).toMatchObject([
    { seq: 2, data: { phase: "start", name: "read", toolCallId: "t1", args: { path: "a.txt" } } },
    { seq: 3, data: { phase: "update", name: "read", toolCallId: "t1" } },
    { seq: 4, data: { phase: "result", name: "read", toolCallId: "t1", isError: false } },
  ]);
  expect(eventsOf(mine, "r1", "tool").some(({ frame }) => frame !== undefined)).toBe(false);
  expect((streams(mine, "r1") as unknown as AgentEvent[]).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  expect([eventsOf(plain, "r1", "tool"), eventsOf(other, "r1", "tool")]).toEqual([[], []]);
  expect(eventsOf(plain, "r1", "assistant")).toHaveLength(1);
  for (const client of [mine, plain, other]) await checkEvents(client);
});

test("what tools answer is shown only in a session at full, and then bounded", async () => {
  const client = await gateway.client(TOOL_EVENTS);
  for (const [verboseLevel, shown] of [
    ["off", false],
    ["on", false],
    ["full", true],
  ] as const) {
    await patch({ verboseLevel });
    await say(client, "@tools hello", verboseLevel);
    await client.next(isFinal(verboseLevel));
    const [, update, result] = eventsOf(client, verboseLevel, "tool");
    expect([verboseLevel, "partialResult" in update!.data, "result" in result!.data]).toEqual([verboseLevel, shown, shown]);
    if (shown) expect(JSON.stringify(result!.data).length).toBeLessThan(9000);
  }
  await checkEvents(client);
});

test("who says something in a session meanwhile gets the tool events of the runs in it", async () => {
  const [first, second] = await Promise.all([gateway.client(TOOL_EVENTS), gateway.client(TOOL_EVENTS)]);
  const elsewhere = await gateway.client(TOOL_EVENTS);
  await say(first, "@hold @late @tools wait", "held");
  await say(second, "hello", "r2");
  await elsewhere.request("chat.send", { sessionKey: "other", message: "hello", idempotencyKey: crypto.randomUUID() });
  await first.request("chat.abort", { sessionKey: key, runId: `${key} held` });
  const aborted = (frame: Frame): boolean => frame.payload?.["state"] === "aborted";
  await Promise.all([first, second, elsewhere].map((client) => client.next(aborted)));
  expect([first, second, elsewhere].map((client) => eventsOf(client, "held", "tool").length)).toEqual([3, 3, 0]);
});

test("reasoning is sent in sessions that stream it", async () => {
  const client = await gateway.client();
  await say(client, "@thinking hello", "r1");
  await client.next(isFinal("r1"));
  expect(eventsOf(client, "r1", "thinking")).toEqual([]);
  await patch({ reasoningLevel: "stream" });
  await say(client, "@thinking hello", "r2");
  await client.next(isFinal("r2"));
  expect(eventsOf(client, "r2", "thinking")).toMatchObject([{ seq: 2, data: { text: "hm", delta: "hm" }, frame: expect.any(Number) }]);
  await checkEvents(client);
});

test("every client is notified that a session is compacted", async () => {
  const [client, watcher] = await Promise.all([gateway.client(), gateway.client({ scopes: ["operator.read"] })]);
  await say(client, "@compaction hello", "r1");
  await watcher.next(isFinal("r1"));
  expect(eventsOf(watcher, "r1", "compaction").map(({ data }) => data)).toEqual([{ phase: "start" }, { phase: "end", willRetry: false }]);
  await checkEvents(watcher);
});

const PNG = Buffer.from("\x89PNG\r\n\x1a\n-", "latin1").toString("base64");

test("images, the level of thinking and who asks reach the run", async () => {
  const [admin, writer] = await Promise.all([gateway.client(), gateway.client({ scopes: ["operator.write"] })]);
  const attachments = [
    { mimeType: "image/gif", content: `data:image/gif;base64,${PNG}` },
    { mimeType: "application/pdf", content: "JVBERi0x" },
  ];
  expect(await say(admin, "look", "r1", { attachments, thinking: "High" })).toMatchObject({ ok: true, payload: { status: "started" } });
  expect(gateway.responder.requests.at(-1)).toMatchObject({ images: [{ type: "image", mimeType: "image/png", data: PNG }], thinking: "high", owner: true });
  expect(await say(writer, "", "r2", { attachments })).toMatchObject({ ok: true });
  expect(gateway.responder.requests.at(-1)).toMatchObject({ message: "", owner: false });
  expect(await say(writer, "", "r3", { attachments: [{ mimeType: "image/png", content: "JVBERi0x" }] })).toMatchObject({ ok: true });
  expect(gateway.responder.requests.at(-1)).toMatchObject({ message: "", files: [{ mimeType: "application/pdf" }] });
  expect(gateway.responder.requests.at(-1)!.images).toBeUndefined();
  expect(await say(writer, "x", "r4", { thinking: "very" })).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
  const agent = await admin.request("agent", { message: "@usage look", sessionKey: key, attachments, thinking: "low", idempotencyKey: `${key} r5` });
  expect(gateway.responder.requests.at(-1)).toMatchObject({ images: [{ mimeType: "image/png" }], thinking: "low", owner: true });
  expect((agent.payload!["result"] as { meta: unknown }).meta).toMatchObject({
    aborted: false,
    agentMeta: { sessionId: "s", provider: "acme", model: "large", usage: { input: 100, total: 155 }, lastCallUsage: { input: 50 }, promptTokens: 85 },
  });
  const cut = await admin.request("agent", { message: "@length x", sessionKey: key, idempotencyKey: `${key} r6` });
  expect((cut.payload!["result"] as { meta: unknown }).meta).toMatchObject({ stopReason: "length" });
});

test("a session that is set to deny takes nothing, a rule for its kind of chat neither", async () => {
  await using ruled = await openAgentSurface({ config: { session: { sendPolicy: { rules: [{ action: "deny", match: { chatType: "channel" } }] } } } });
  const client = await ruled.client();
  const send = (sessionKey: string) => client.request("chat.send", { sessionKey, message: "x", idempotencyKey: crypto.randomUUID() });
  expect(await send("agent:main:slack:channel:c1")).toMatchObject({ ok: false, error: { message: "send blocked by session policy" } });
  expect(await send("agent:main:slack:group:g1")).toMatchObject({ ok: true });
});
