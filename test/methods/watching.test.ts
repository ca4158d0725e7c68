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

const watch = async (client: RawClient, on = true): Promise<void> => expect((await client.request("chat.watch", { sessionKey: key, on })).ok).toBe(true);
const say = (client: RawClient, message: string, id: string) => client.request("chat.send", { sessionKey: key, message, idempotencyKey: `${key} ${id}` });
const isFinal = (id: string) => (frame: Frame) => frame.event === "chat" && frame.payload?.["runId"] === `${key} ${id}` && frame.payload["state"] === "final";
const eventsOf = (client: RawClient, stream: string) =>
  client.frames
    .filter((frame) => frame.event === "agent" && frame.payload?.["sessionKey"] === key && frame.payload["stream"] === stream)
    .map(({ payload }) => payload!["data"]);
const changes = (client: RawClient) => client.frames.filter((frame) => frame.event === "chat.changed").map(({ payload }) => payload!);

async function checkEvents(client: RawClient): Promise<void> {
  const checks = await loadAnswerChecks();
  for (const frame of client.frames)
    if (frame.type === "event") expect([frame, checks.event(frame.event as EventName, frame.payload)]).toEqual([frame, undefined]);
}

test("a run that one tab starts shows its tools with their results in another that watches, and to nobody else", async () => {
  const [mine, other, plain] = await Promise.all([gateway.client({ caps: ["tool-events"] }), gateway.client(), gateway.client()]);
  await watch(other);
  await say(mine, "@tools hello", "r1");
  await Promise.all([mine, other, plain].map((client) => client.next(isFinal("r1"))));
  expect(eventsOf(other, "tool")).toMatchObject([
    { phase: "start", name: "read", toolCallId: "t1", args: { path: "a.txt" } },
    { phase: "update", name: "read", toolCallId: "t1", partialResult: expect.anything() },
    { phase: "result", name: "read", toolCallId: "t1", isError: false, result: expect.anything() },
  ]);
  expect(eventsOf(mine, "tool")).toEqual([
    expect.anything(),
    { phase: "update", name: "read", toolCallId: "t1" },
    expect.not.objectContaining({ result: expect.anything() }),
  ]);
  expect(eventsOf(plain, "tool")).toEqual([]);
  for (const client of [mine, other, plain]) await checkEvents(client);
});

test("who watches and started the run gets each tool event once, with its result", async () => {
  const mine = await gateway.client({ caps: ["tool-events"] });
  await watch(mine);
  await say(mine, "@tools hello", "r1");
  await mine.next(isFinal("r1"));
  expect(eventsOf(mine, "tool")).toHaveLength(3);
  expect(eventsOf(mine, "tool")[2]).toMatchObject({ result: expect.anything() });
});

test.each([
  ["off", 0],
  ["on", 1],
])("reasoning is sent to watchers when the session shows it: %s", async (reasoningLevel, events) => {
  const [mine, other, plain] = await Promise.all([gateway.client(), gateway.client(), gateway.client()]);
  expect((await mine.request("sessions.patch", { key, reasoningLevel })).ok).toBe(true);
  await watch(other);
  await say(mine, "@thinking hello", "r1");
  await Promise.all([mine, other, plain].map((client) => client.next(isFinal("r1"))));
  expect(eventsOf(other, "thinking")).toHaveLength(events);
  expect([...eventsOf(mine, "thinking"), ...eventsOf(plain, "thinking")]).toEqual([]);
});

test("runs begin and end for who watches, from whichever tab; a tab that comes in the middle finds the beginning of the answer", async () => {
  const [one, two] = await Promise.all([gateway.client(), gateway.client()]);
  await Promise.all([watch(one), watch(two)]);
  await say(one, "@hold hello", "r1");
  await Promise.all([one, two].map((client) => client.next(({ event, payload }) => event === "chat.changed" && payload?.["runs"] === 1)));
  const late = await gateway.client();
  const { payload } = await late.request("chat.page", { sessionKey: key });
  expect(payload!["runs"]).toMatchObject([{ runId: `${key} r1` }]);
  await two.request("chat.abort", { sessionKey: key });
  gateway.clock.advance(50);
  await Promise.all(
    [one, two].map((client) => client.next((frame) => frame.event === "chat.changed" && changes(client).length > 1 && frame.payload?.["runs"] === 0)),
  );
  expect(changes(one)).toEqual(changes(two));
  expect(changes(late)).toEqual([]);
  for (const client of [one, two]) await checkEvents(client);
});

test("a connection that is closed is forgotten; one that stops watching hears no more", async () => {
  const [gone, stays, admin] = await Promise.all([gateway.client(), gateway.client(), gateway.client()]);
  await admin.request("sessions.reset", { key });
  await Promise.all([watch(gone), watch(stays)]);
  await gone[Symbol.asyncDispose]();
  await admin.request("chat.inject", { sessionKey: key, message: "one" });
  await stays.next(({ event, payload }) => event === "chat.changed" && payload?.["last"] === 1);
  await watch(stays, false);
  const heard = changes(stays).length;
  gateway.clock.advance(1000);
  await admin.request("chat.inject", { sessionKey: key, message: "two" });
  gateway.clock.advance(1000);
  await stays.request("health", {});
  expect(changes(stays)).toHaveLength(heard);
});

test("watching takes the right to read", async () => {
  const stranger = await gateway.client({ scopes: ["operator.pairing"] });
  expect(await stranger.request("chat.watch", { sessionKey: key })).toMatchObject({ ok: false, error: { message: "missing scope: operator.read" } });
});
