import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ModelMessage } from "../../../protocol/index.ts";
import type { ModelEntry } from "../../entry.ts";
import { encodeBody, type EncodedConversation, type WireRequest } from "../format.ts";
import { openAiCompletions } from "./index.ts";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { ...COST, total: 0 } };
const entry = (id: string): ModelEntry => ({
  provider: "p",
  id,
  name: id,
  api: "openai-completions",
  baseUrl: "http://x",
  reasoning: false,
  input: ["text"],
  cost: COST,
  contextWindow: 1,
  maxTokens: 1,
  source: "config",
});

const id = fc.constantFrom("a", "b", "c", "a strange id|with a bar", "x".repeat(60));
const step = fc.oneof(
  fc.record({ role: fc.constant("user" as const), text: fc.string() }),
  fc.record({
    role: fc.constant("assistant" as const),
    text: fc.string(),
    calls: fc.array(id, { maxLength: 2 }),
    stopReason: fc.constantFrom("stop", "error", "aborted"),
  }),
  fc.record({ role: fc.constant("toolResult" as const), id, text: fc.string() }),
);

function messageOf(made: { role: string; text: string; calls?: string[]; id?: string; stopReason?: string }): ModelMessage {
  const content = [{ type: "text" as const, text: made.text }];
  if (made.role === "user") return { role: "user", content, timestamp: 0 };
  if (made.role === "toolResult") return { role: "toolResult", toolCallId: made.id!, toolName: "t", content, isError: false, details: { a: 1 }, timestamp: 0 };
  const calls = made.calls!.map((call) => ({ type: "toolCall" as const, id: call, name: "t", arguments: { n: 1 } }));
  return {
    role: "assistant",
    content: [...content, ...calls],
    api: "openai-completions",
    provider: "p",
    model: "m",
    usage: USAGE,
    stopReason: made.stopReason as "stop",
    timestamp: 0,
  };
}

/** The same request with new objects. */
const fresh = (request: WireRequest): WireRequest => structuredClone(request);
const bytes = (request: WireRequest): string => Buffer.from(encodeBody(openAiCompletions, request)).toString("utf8");

test("a request is the same whatever was sent before", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 14 }), fc.array(fc.nat(3), { maxLength: 14 }), (steps, pauses) => {
      const messages: ModelMessage[] = [];
      const models = [entry("m"), entry("other")];
      const encoded: EncodedConversation = {};
      for (const [at, made] of steps.entries()) {
        messages.push(messageOf(made));
        // Now and then a conversation loses its end, or another model is used.
        if (pauses[at] === 0) messages.splice(Math.floor(messages.length / 2));
        const request: WireRequest = { model: models[pauses[at] === 1 ? 1 : 0]!, systemPrompt: "be kind", messages: [...messages], thinking: "off" };
        const sent = bytes({ ...request, encoded });
        expect(sent).toBe(bytes(fresh(request)));
        expect(sent).toBe(JSON.stringify(openAiCompletions.body(fresh(request))));
      }
    }),
    { numRuns: 300 },
  );
});

test("a session's earlier messages are encoded once", () => {
  const model = entry("m");
  const encoded: EncodedConversation = {};
  let looks = 0;
  const messages = Array.from({ length: 401 }, (_, n) => {
    const message = messageOf(n % 2 === 0 ? { role: "user", text: `q${n}` } : { role: "assistant", text: `a${n}`, calls: [], stopReason: "stop" });
    const { content } = message;
    return Object.defineProperty({ ...message }, "content", { enumerable: true, get: () => ((looks += 1), content) });
  });
  const ask = (count: number): void => void encodeBody(openAiCompletions, { model, encoded, messages: messages.slice(0, count), thinking: "off" });
  ask(399);
  expect(looks).toBeGreaterThan(398);
  looks = 0;
  ask(401);
  expect(looks).toBeLessThan(30);
});

test("sessions with the same tools hold their bytes once", () => {
  const tools = [{ name: "look", description: "looks", parameters: { type: "object" as const, properties: {} } }];
  const shared = new WeakMap<object, unknown>();
  const toolsOf = (model: ModelEntry, list = tools): unknown =>
    openAiCompletions.body({ model, encoded: { shared }, tools: list, messages: [], thinking: "off" })["tools"];
  const first = toolsOf(entry("m"));
  expect(toolsOf(entry("other"))).toBe(first);
  expect(toolsOf({ ...entry("m"), compat: { supportsStrictMode: false } })).not.toEqual(first);
  expect(toolsOf(entry("m"), [...tools, { ...tools[0]!, name: "listen" }])).not.toEqual(first);
});
