import { afterAll, beforeAll, expect, test } from "vitest";
import { loadAnswerChecks, loadNodeClient } from "../../src/protocol/index.ts";
import { openAgentSurface, type AgentSurface } from "../harness/agent-surface.ts";
import type { Frame, RawClient } from "../harness/gateway-client.ts";

let gateway: AgentSurface;
beforeAll(async () => {
  gateway = await openAgentSurface();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const DELTAS = { caps: ["text-deltas"] };
const WORDS = "Some words of an answer. ".repeat(300);

const isFinal = (runId: string) => (frame: Frame) => frame.event === "chat" && frame.payload?.["runId"] === runId && frame.payload["state"] === "final";
const ofRun = ({ frames }: RawClient, runId: string) => frames.filter(({ payload }) => payload?.["runId"] === runId);
const bytesOf = (client: RawClient, runId: string): number => ofRun(client, runId).reduce((sum, frame) => sum + Buffer.byteLength(JSON.stringify(frame)), 0);
const pieces = (client: RawClient, runId: string) =>
  ofRun(client, runId).flatMap(({ payload }) =>
    payload?.["stream"] === "assistant" ? [payload["data"] as { readonly text?: string; readonly delta: string; readonly at?: number }] : [],
  );

test("an answer in many pieces costs each client a bounded number of bytes, and every client has all of it", async () => {
  const [asking, plain, joining] = await Promise.all([gateway.client(), gateway.client(), gateway.client(DELTAS)]);
  const sent = await asking.request("chat.send", { sessionKey: "agent:main:many", message: `@chunks=2500 ${WORDS}`, idempotencyKey: "many" });
  expect(sent.ok).toBe(true);
  await Promise.all([asking, plain, joining].map((client) => client.next(isFinal("many"))));
  const answer = `Echo: ${WORDS.trim()}`;
  for (const client of [asking, plain]) {
    expect(bytesOf(client, "many") / answer.length).toBeLessThanOrEqual(60);
    expect(pieces(client, "many").at(-1)!.text).toBe(answer);
  }
  expect(bytesOf(joining, "many") / answer.length).toBeLessThanOrEqual(12);
  for (const client of [asking, plain, joining]) {
    const received = pieces(client, "many");
    expect(received.map(({ delta }) => delta).join("")).toBe(answer);
    const { message } = (await client.next(isFinal("many"))).payload as unknown as { message: { content: { text: string }[] } };
    expect(message.content[0]!.text).toBe(answer);
  }
  const checks = await loadAnswerChecks();
  for (const { payload, event } of ofRun(joining, "many"))
    expect([event, payload, checks.event(event as "agent", payload)]).toEqual([event, payload, undefined]);
});

test("programs on the client package see whole texts and deltas of the chat, whatever was sent", async () => {
  const { connect } = await loadNodeClient();
  const client = await connect({ url: gateway.url, client: { id: "test", mode: "test", version: "1", platform: "linux" }, scopes: ["operator.admin"] });
  const texts: string[] = [];
  const joined: string[] = [];
  const shown: string[] = [];
  client.on("agent", (event) => {
    if (event.stream !== "assistant") return;
    texts.push(event.data.text);
    joined.push(event.data.delta);
  });
  const final = Promise.withResolvers<void>();
  client.on("chat", ({ state, message }) => {
    if (state === "delta") shown.push((message!.content[0] as { text: string }).text);
    if (state === "final") final.resolve();
  });
  await client.request("chat.send", { sessionKey: "agent:main:client", message: `@chunks=400 ${WORDS}`, idempotencyKey: "client" });
  await final.promise;
  const answer = `Echo: ${WORDS.trim()}`;
  expect(joined.join("")).toBe(answer);
  expect(texts).toEqual(texts.map((_, at) => joined.slice(0, at + 1).join("")));
  expect(shown).toEqual(texts);
  client.close();
});
