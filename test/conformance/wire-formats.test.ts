import * as fc from "fast-check";
import { expect, test, describe } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createDrivers } from "../../src/models/call/driver.ts";
import type { ModelEntry } from "../../src/models/entry.ts";
import { failureOf } from "../../src/models/failure.ts";
import { streamCall } from "../../src/models/transport/index.ts";
import { encodeRequest, loadWire, WIRE_APIS, type ModelEvent, type WireRequest } from "../../src/models/wire/index.ts";
import type { AssistantMessage, ModelMessage, ToolSchema } from "../../src/protocol/index.ts";
import { startModelServer, STREAMS, type Behaviour, type ModelServer, type ScriptedAnswer } from "../fakes/model-server/index.ts";

const model = (api: string, baseUrl: string): ModelEntry => ({
  provider: "test",
  id: "scripted",
  name: "Scripted",
  api,
  baseUrl,
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 3 },
  contextWindow: 100_000,
  maxTokens: 8_000,
  source: "config",
});

const TOOL: ToolSchema = {
  name: "read",
  description: "Reads a file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};
const CALL = { id: "call_1", name: "read", arguments: ['{"pa', 'th":"a.txt"}'] } as const;

async function call(
  server: ModelServer,
  api: string,
  request: Partial<WireRequest> = {},
  options: { progressMs?: number; headersMs?: number; signal?: AbortSignal } = {},
): Promise<ModelEvent[]> {
  const format = await loadWire(api);
  const whole: WireRequest = {
    model: model(api, server.url),
    apiKey: "key-of-the-test",
    messages: [{ role: "user", content: "hello", timestamp: 1 }],
    thinking: "low",
    ...request,
  };
  const events: ModelEvent[] = [];
  for await (const event of streamCall(format, whole, encodeRequest(format, whole), { clock: systemClock, headersMs: 5_000, progressMs: 5_000, ...options }))
    events.push(event);
  return events;
}

async function failureFrom(promise: Promise<unknown>): Promise<ReturnType<typeof failureOf>> {
  return promise.then(
    () => undefined,
    (error: unknown) => failureOf(error) ?? Promise.reject(error as Error),
  );
}

const messageIn = (events: readonly ModelEvent[]): AssistantMessage => {
  const last = events.at(-1);
  if (last?.type !== "end") throw new Error("the stream did not end with a message");
  return last.message;
};
const streamed = (api: string, answer: ScriptedAnswer, rest: Partial<Extract<Behaviour, { kind: "stream" }>> = {}): Behaviour => ({
  kind: "stream",
  frames: STREAMS[api]!(answer),
  ...rest,
});

describe.each(WIRE_APIS)("%s", (api) => {
  test("a streamed text arrives piece by piece and as one message with its usage and cost", async () => {
    await using server = await startModelServer(
      streamed(api, { text: ["Hel", "lo ", "wörld 🦞"], usage: { input: 100, output: 20, cacheRead: api === "ollama" ? 0 : 50 } }),
    );
    const events = await call(server, api);
    expect(events.filter((event) => event.type === "text").map((event) => event.delta)).toEqual(["Hel", "lo ", "wörld 🦞"]);
    const message = messageIn(events);
    expect(message).toMatchObject({
      role: "assistant",
      content: [{ type: "text", text: "Hello wörld 🦞" }],
      stopReason: "stop",
      provider: "test",
      model: "scripted",
      api,
    });
    expect(message.usage).toMatchObject({ input: 100, output: 20, cacheRead: api === "ollama" ? 0 : 50 });
    expect(message.usage.cost.total).toBeCloseTo((100 * 1 + 20 * 2 + (api === "ollama" ? 0 : 50) * 0.5) / 1e6);
  });

  test("reasoning, text and tool calls come in order, and the calls have their arguments", async () => {
    await using server = await startModelServer(
      streamed(api, { thinking: ["let ", "me see"], text: ["I will read it."], toolCalls: [CALL, { ...CALL, id: "call_2", arguments: ['{"path":"b"}'] }] }),
    );
    const message = messageIn(await call(server, api, { tools: [TOOL] }));
    expect(message.stopReason).toBe("toolUse");
    expect(message.content.map((part) => part.type)).toEqual(["thinking", "text", "toolCall", "toolCall"]);
    expect(message.content.filter((part) => part.type === "toolCall").map((part) => [part.name, part.arguments])).toEqual([
      ["read", { path: "a.txt" }],
      ["read", { path: "b" }],
    ]);
    expect(new Set(message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []))).size).toBe(2);
  });

  test("arguments that are no JSON object come with the call as what is wrong with it", async () => {
    const whole = api === "google-generative-ai" || api === "ollama";
    for (const given of ['["a.txt"]', '"a.txt"', ...(whole ? [] : ['{"path":"a.t', "read a.txt", '{"path":"a"}}'])]) {
      await using server = await startModelServer(streamed(api, { toolCalls: [{ ...CALL, arguments: [given] }] }));
      const [part] = messageIn(await call(server, api, { tools: [TOOL] })).content.filter(({ type }) => type === "toolCall");
      expect(part).toMatchObject({ name: "read", arguments: {}, argumentsError: `the arguments are not a JSON object: ${given}` });
    }
  });

  test("what the model thinks between tags in its text is thinking", async () => {
    await using server = await startModelServer(streamed(api, { text: ["<thi", "nk>hm", "</think>", "\n\nYes", "."] }));
    const drivers = createDrivers({ other: () => Promise.reject(new Error("none")) });
    const request: WireRequest = { model: model(api, server.url), messages: [{ role: "user", content: "hello", timestamp: 1 }], thinking: "off" };
    const events: ModelEvent[] = [];
    for await (const event of drivers.stream(request, new Map(), { clock: systemClock, headersMs: 5_000, progressMs: 5_000 })) events.push(event);
    expect(events.map((event) => ("delta" in event ? `${event.type} ${event.delta}` : event.type))).toEqual(["thinking hm", "text Yes", "text .", "end"]);
    expect(messageIn(events).content).toMatchObject([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "Yes." },
    ]);
  });

  test("arguments that are packed into a JSON text once more are read", async () => {
    const packed = JSON.stringify(JSON.stringify({ path: "a.txt" }));
    for (const given of [packed, JSON.stringify(packed)]) {
      await using server = await startModelServer(streamed(api, { toolCalls: [{ ...CALL, arguments: [given] }] }));
      const [part] = messageIn(await call(server, api, { tools: [TOOL] })).content.filter(({ type }) => type === "toolCall");
      expect(part).toMatchObject({ name: "read", arguments: { path: "a.txt" } });
      expect(part).not.toHaveProperty("argumentsError");
    }
  });

  test("a call in which the answer reached its length limit is not made, and the model is notified", async () => {
    // The others give the arguments whole.
    if (api === "google-generative-ai" || api === "ollama") return;
    const whole = { ...CALL, id: "call_0", arguments: ['{"path":"b"}'] };
    for (const cut of ['{"path":"a.t', ""]) {
      await using server = await startModelServer(streamed(api, { toolCalls: [whole, { ...CALL, arguments: [cut] }], stop: "length" }));
      const calls = messageIn(await call(server, api, { tools: [TOOL] })).content.filter((part) => part.type === "toolCall");
      expect(calls.map(({ arguments: args, argumentsError }) => [args, argumentsError?.slice(0, 36)])).toEqual([
        [{ path: "b" }, undefined],
        [{}, "the answer reached its length limit "],
      ]);
    }
  });

  test("an answer at its length limit says so", async () => {
    await using server = await startModelServer(streamed(api, { text: ["and so on"], stop: "length" }));
    expect(messageIn(await call(server, api)).stopReason).toBe("length");
  });

  test("the same answer comes out however the bytes are split", async () => {
    const answer: ScriptedAnswer = { thinking: ["hm 🤔"], text: ["é", "🦞 ok"], toolCalls: [CALL] };
    await using server = await startModelServer();
    const whole = withoutIds(await whenPlayed(server, api, streamed(api, answer)));
    for (const bytes of [1, 2, 3, 7, 64]) expect(withoutIds(await whenPlayed(server, api, streamed(api, answer, { bytes })))).toEqual(whole);
  });

  test("a stream that ends in the middle, is reset, or holds no JSON is a failure that says so", async () => {
    const frames = STREAMS[api]!({ text: ["half an ", "answer"] });
    await using server = await startModelServer();
    server.play({ kind: "cut", after: frames.slice(0, 2) });
    expect(await failureFrom(call(server, api))).toMatchObject({ malformed: true, text: "the stream ended before the response was complete" });
    server.play({ kind: "reset", after: frames.slice(0, 2) });
    expect(await failureFrom(call(server, api))).toMatchObject({ phase: "stream" });
    server.play({ kind: "reset" });
    expect(await failureFrom(call(server, api))).toMatchObject({ phase: "connect" });
    server.play({ kind: "cut", after: [api === "ollama" ? "{oops\n" : "data: {oops\n\n"] });
    expect(await failureFrom(call(server, api))).toMatchObject({ malformed: true });
  });

  test.each([429, 401, 402, 500, 503])("status %i keeps its number, the provider's words and when to come back", async (status) => {
    await using server = await startModelServer({
      kind: "status",
      status,
      body: { error: { message: "no luck today", type: "some_error" } },
      headers: { "retry-after": "7", "x-request-id": "req_9" },
    });
    expect(await failureFrom(call(server, api))).toMatchObject({
      phase: "headers",
      status,
      text: "no luck today",
      code: "some_error",
      retryAfterMs: 7_000,
      requestId: "req_9",
    });
  });

  test("a server that says nothing, and one that only keeps the line alive, are hung after their budgets", async () => {
    await using server = await startModelServer({ kind: "silent" });
    expect(await failureFrom(call(server, api, {}, { headersMs: 30 }))).toMatchObject({ hung: true, phase: "connect" });
    if (api === "ollama") return;
    server.play({ kind: "stall", after: STREAMS[api]!({ text: ["one", "two"] }).slice(0, 2) });
    expect(await failureFrom(call(server, api, {}, { progressMs: 60 }))).toMatchObject({ hung: true, phase: "stream" });
  });

  test("an abort ends the request at the provider too", async () => {
    await using server = await startModelServer({ kind: "stall", after: STREAMS[api]!({ text: ["one", "two"] }).slice(0, 4), keepAliveMs: 1_000 });
    const controller = new AbortController();
    const format = await loadWire(api);
    const request: WireRequest = { model: model(api, server.url), messages: [{ role: "user", content: "hello", timestamp: 1 }], thinking: "off" };
    const stream = streamCall(format, request, encodeRequest(format, request), {
      clock: systemClock,
      headersMs: 5_000,
      progressMs: 5_000,
      signal: controller.signal,
    });
    await stream.next();
    controller.abort();
    expect(await failureFrom(stream.next())).toMatchObject({ aborted: true, afterContent: true });
    await server.aborted;
  });

  test("whatever the history looks like, a request is made in which every call has one result", async () => {
    const format = await loadWire(api);
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { maxLength: 12 }), async (messages) => {
        const encoded = encodeRequest(format, { model: model(api, "http://127.0.0.1:9"), messages, thinking: "low", tools: [TOOL] });
        const { calls, results } = pairs(JSON.parse(Buffer.from(encoded.body).toString("utf8")));
        expect(results).toBe(calls);
      }),
      { numRuns: 150, seed: 7 },
    );
  });

  test("the bytes of a longer conversation begin with those of the shorter one", async () => {
    const format = await loadWire(api);
    const messages: ModelMessage[] = Array.from({ length: 6 }, (_, n) => ({ role: "user", content: `message ${n}`, timestamp: n }));
    const bytes = (count: number): string =>
      Buffer.from(
        encodeRequest(format, { model: model(api, "http://x"), systemPrompt: "be brief", tools: [TOOL], messages: messages.slice(0, count), thinking: "low" })
          .body,
      ).toString("utf8");
    const [short, long] = [bytes(4), bytes(6)];
    const upTo = short.indexOf("message 3");
    expect(long.slice(0, upTo)).toBe(short.slice(0, upTo));
  });
});

async function whenPlayed(server: ModelServer, api: string, behaviour: Behaviour): Promise<AssistantMessage> {
  server.play(behaviour);
  return messageIn(await call(server, api, { tools: [TOOL] }));
}

/** Providers without ids get some from the time of the answer. */
function withoutIds(message: AssistantMessage): unknown {
  return { ...message, timestamp: 0, content: message.content.map((part) => (part.type === "toolCall" ? { ...part, id: "" } : part)) };
}

const assistant = (content: AssistantMessage["content"], stopReason: AssistantMessage["stopReason"]): AssistantMessage => ({
  role: "assistant",
  content,
  api: "x",
  provider: "test",
  model: "scripted",
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
  stopReason,
  timestamp: 1,
});
const id = fc.constantFrom("a", "b", "call|item", "ünï", "x".repeat(90));
const anyMessage: fc.Arbitrary<ModelMessage> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), content: fc.string(), timestamp: fc.constant(1) }),
  fc.record({
    role: fc.constant("toolResult" as const),
    toolCallId: id,
    toolName: fc.constant("read"),
    content: fc.constant([{ type: "text" as const, text: "x" }]),
    isError: fc.boolean(),
    timestamp: fc.constant(1),
  }),
  fc
    .tuple(
      fc.array(
        fc.oneof(
          fc.record({ type: fc.constant("text" as const), text: fc.string() }),
          fc.record({ type: fc.constant("thinking" as const), thinking: fc.string() }),
          fc.record({ type: fc.constant("toolCall" as const), id, name: fc.constant("read"), arguments: fc.constant({ path: "x" }) }),
        ),
        { maxLength: 4 },
      ),
      fc.constantFrom("stop" as const, "toolUse" as const, "error" as const, "aborted" as const),
    )
    .map(([content, stop]) => assistant(content, stop)),
);

/** Counts calls and results in a request of any format. */
function pairs(body: unknown): { calls: number; results: number } {
  const text = JSON.stringify(body);
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  return {
    calls: count(
      /"type":"function","function":\{"name":"read","arguments"|"type":"function_call",|"type":"tool_use"|"functionCall":|\{"function":\{"name":"read","arguments"/g,
    ),
    results: count(/"role":"tool"|"type":"function_call_output"|"type":"tool_result"|"functionResponse":/g),
  };
}
