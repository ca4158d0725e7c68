import { afterEach, beforeEach, expect, test } from "vitest";
import { openMethods, type MethodFixture, type SentEvent } from "../harness/methods.ts";

const KEY = "agent:main:main";
let fixture: MethodFixture;
beforeEach(async () => {
  fixture = await openMethods({ config: { agents: { list: [{ id: "main" }, { id: "ops", name: "Ops" }] } } });
});
afterEach(() => fixture[Symbol.asyncDispose]());

const run = (params: Partial<Parameters<typeof fixture.call<"agent">>[1]> = {}) =>
  fixture.call("agent", { message: "hello", sessionKey: "main", idempotencyKey: "r1", ...params });
const said = ({ event, payload }: SentEvent) => event === "agent" && payload["stream"] === "assistant";

test("a run is accepted at once and answered again with its result", async () => {
  const final = await run();
  expect(fixture.accepted).toEqual([{ runId: "r1", status: "accepted", acceptedAt: expect.any(Number) }]);
  expect(final).toEqual({
    runId: "r1",
    status: "ok",
    summary: "completed",
    result: {
      payloads: [{ text: "hello", mediaUrl: null }],
      meta: expect.objectContaining({
        durationMs: 0,
        agentMeta: expect.objectContaining({ sessionId: expect.stringMatching(/-/), provider: "test", model: "echo" }),
        aborted: false,
      }),
    },
  });
  expect(fixture.events.map(({ event, payload }) => [event, payload["sessionKey"]])).toEqual(
    Array.from({ length: 5 }, (_, n) => [n === 2 || n === 4 ? "chat" : "agent", KEY]),
  );
});

test("a repeated call gets the same final answer, without a second turn", async () => {
  const first = await run();
  expect(await run()).toEqual(first);
  expect((await fixture.call("chat.history", { sessionKey: "main" })).messages).toHaveLength(2);
  await expect(run({ message: "other" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("the session is chosen by key, by id, or by agent", async () => {
  await run();
  const { sessionId } = (await fixture.store.read("sessions.get", { key: KEY }))!.entry;
  const byId: Partial<Parameters<typeof run>[0]> = { sessionId, idempotencyKey: "r2" };
  await fixture.call("agent", { message: "by id", ...byId } as Parameters<typeof fixture.call<"agent">>[1]);
  await fixture.call("agent", { message: "by agent", agentId: "OPS", idempotencyKey: "r3" });
  expect((await fixture.call("chat.history", { sessionKey: "main" })).messages).toHaveLength(4);
  expect((await fixture.call("chat.history", { sessionKey: "agent:ops:main" })).messages).toHaveLength(2);
});

test.each([
  [{ agentId: "nobody" }, 'invalid agent params: unknown agent id "nobody"'],
  [{ sessionKey: "agent:nope:main" }, 'invalid agent params: unknown agent id "nope"'],
  [{ sessionKey: "agent:nope:main", agentId: "ops" }, 'invalid agent params: unknown agent id "nope"'],
  [{ channel: "pigeon" }, "invalid agent params: unknown channel: pigeon"],
  [{ sessionKey: "agent:" }, 'invalid agent params: malformed session key "agent:"'],
  [{ sessionKey: "agent:main:x", agentId: "ops" }, 'invalid agent params: agent "ops" does not match session key agent "main"'],
])("%j is refused before anything is accepted", async (params, message) => {
  await expect(run(params)).rejects.toThrow(message);
  expect(await fixture.store.read("inbox.find", { messageId: "r1" })).toEqual([]);
});

test("a known channel is accepted whether or not it is configured, for everything but sending there", async () => {
  expect(await run({ channel: "whatsapp" })).toMatchObject({ status: "ok" });
  expect(await fixture.call("agent", { message: "hello", to: "+15550100", channel: "whatsapp", idempotencyKey: "r2" })).toMatchObject({ status: "ok" });
  await expect(run({ channel: "whatsapp", to: "+15550100", deliver: true, idempotencyKey: "r3" })).rejects.toThrow(
    "invalid agent params: deliver needs a channel that is configured, and whatsapp is not: run `openclaw channels add --channel whatsapp`, or leave deliver out",
  );
  expect(await fixture.store.read("inbox.find", { messageId: "r3" })).toEqual([]);
});

test("a call that names no session is refused", async () => {
  await expect(fixture.call("agent", { message: "x", idempotencyKey: "r1" })).rejects.toThrow(
    "invalid agent params: set one of sessionKey, agentId, sessionId or to",
  );
});

test("a run past its time ends with what was said", async () => {
  const answer = run({ message: "long @chunks=2 @gap=60000", timeout: 5 });
  await fixture.waitForEvent(said);
  fixture.clock.advance(5000);
  expect(await answer).toMatchObject({ status: "ok", result: { payloads: [{ text: "long" }], meta: { aborted: true } } });
  expect(fixture.events.slice(-2).map(({ payload }) => payload)).toMatchObject([{ data: { phase: "end", aborted: true } }, { state: "final" }]);
  expect(await fixture.call("agent.wait", { runId: "r1" })).toEqual({ runId: "r1", status: "timeout" });
});

test("chat.abort does not reach a run of agent", async () => {
  const answer = run({ message: "long @chunks=2 @gap=1000" });
  await fixture.waitForEvent(said);
  expect(await fixture.call("chat.abort", { sessionKey: "main" })).toMatchObject({ aborted: false });
  expect(await fixture.call("chat.abort", { sessionKey: "main", runId: "r1" })).toMatchObject({ aborted: false });
  fixture.clock.advance(1000);
  expect(await answer).toMatchObject({ result: { meta: { aborted: false } } });
});

test("agent.wait tells how a run of any kind ended, as soon as it has", async () => {
  await fixture.call("chat.send", { sessionKey: "main", message: "slow @chunks=2 @gap=1000", idempotencyKey: "c1" });
  await fixture.waitForEvent(said);
  const waiting = fixture.call("agent.wait", { runId: "c1" });
  fixture.clock.advance(1000);
  const done = await waiting;
  expect(done).toEqual({ runId: "c1", status: "ok", startedAt: expect.any(Number), endedAt: done.startedAt! + 1000 });
  expect(await fixture.call("agent.wait", { runId: "c1", timeoutMs: 0 })).toEqual(done);
});

test("agent.wait gives up after its time, for runs that last and for those that nobody knows", async () => {
  await fixture.call("chat.send", { sessionKey: "main", message: "slow @chunks=2 @gap=60000", idempotencyKey: "c1" });
  await fixture.waitForEvent(said);
  for (const runId of ["c1", "nobody"]) {
    const waiting = fixture.call("agent.wait", { runId, timeoutMs: 50 });
    await Promise.resolve();
    fixture.clock.advance(50);
    expect(await waiting).toEqual({ runId, status: "timeout" });
  }
});

test("a run that failed is an error with its reason next to it", async () => {
  fixture.echo.accept = async ({ runId }) => ({ runId, duplicate: true, ended: { status: "error", error: "the model is gone" } });
  await expect(run()).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "the model is gone",
    details: { payload: { runId: "r1", status: "error", summary: "the model is gone" } },
  });
});
