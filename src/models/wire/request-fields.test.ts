import { describe, expect, test } from "vitest";
import type { ModelEntry } from "../entry.ts";
import { anthropicMessages } from "./anthropic-messages/index.ts";
import { encodeBody, type WireFormat } from "./format.ts";
import { googleGenerativeAi } from "./google-generative-ai/index.ts";
import { ollama } from "./ollama/index.ts";
import { openAiCompletions } from "./openai-completions/index.ts";
import { openAiResponses } from "./openai-responses/index.ts";

const FORMATS: readonly WireFormat[] = [anthropicMessages, googleGenerativeAi, ollama, openAiCompletions, openAiResponses];

const entry = (api: string, more: Partial<ModelEntry> = {}): ModelEntry => ({
  provider: "custom",
  id: "m",
  name: "m",
  api,
  baseUrl: "https://models.example",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 64_000,
  source: "config",
  ...more,
});

function sent(format: WireFormat, params: Readonly<Record<string, unknown>>, more: Partial<ModelEntry> = {}): Record<string, unknown> {
  const request = { model: entry(format.api, more), messages: [], thinking: "off" as const, params };
  return JSON.parse(Buffer.from(encodeBody(format, request)).toString("utf8")) as Record<string, unknown>;
}

/** Where a format keeps the choice of words. */
const sampling = (body: Record<string, unknown>): Record<string, unknown> => (body["generationConfig"] ?? body["options"] ?? body) as Record<string, unknown>;

describe.each(FORMATS.map((format) => [format.api, format] as const))("%s", (_api, format) => {
  test("temperature, the longest answer and the share of likely words reach the request", () => {
    const body = sampling(sent(format, { temperature: 0.3, maxTokens: 777, topP: 0.8 }));
    expect(body).toMatchObject({ temperature: 0.3 });
    expect(Object.values(body)).toContain(777);
    expect(body["top_p"] ?? body["topP"]).toBe(0.8);
  });

  test("fields of the provider's own go into the body as they are", () => {
    expect(sent(format, { extraBody: { provider_only: { a: [1] } } })).toMatchObject({ provider_only: { a: [1] } });
  });

  test("nothing is added where nothing is asked for", () => {
    const plain = { model: entry(format.api), messages: [], thinking: "off" as const };
    expect(Buffer.from(encodeBody(format, plain))).toEqual(Buffer.from(encodeBody(format, { ...plain, params: {} })));
  });
});

test("what a call asks for goes before the model's own length of answers", () => {
  const request = { model: entry("openai-responses"), messages: [], thinking: "off" as const, params: { maxTokens: 777 }, maxTokens: 5 };
  expect(openAiResponses.body(request)).toMatchObject({ max_output_tokens: 5 });
});

test("a service tier is named, or asked for as fast mode", () => {
  expect(sent(openAiResponses, { serviceTier: "flex" })).toMatchObject({ service_tier: "flex" });
  expect(sent(openAiResponses, { fastMode: true })).toMatchObject({ service_tier: "priority" });
  expect(sent(openAiCompletions, { fast_mode: true })).toMatchObject({ service_tier: "priority" });
  expect(sent(anthropicMessages, { fastMode: true })).toMatchObject({ service_tier: "auto" });
  expect(sent(openAiResponses, { fastMode: false })).not.toHaveProperty("service_tier");
});

test("OpenAI keeps prompts for a day when the model's parameters say so, whatever the call's default is", () => {
  expect(sent(openAiResponses, { cacheRetention: "long" })).toMatchObject({ prompt_cache_retention: "24h" });
  const request = { model: entry("openai-responses"), messages: [], thinking: "off" as const, cacheRetention: "long" as const };
  expect(openAiResponses.body({ ...request, params: { cacheRetention: "short" } })).not.toHaveProperty("prompt_cache_retention");
});

test("each format has its own names", () => {
  expect(sent(openAiCompletions, { seed: 7, stop: ["x"], frequency_penalty: 0.1, parallelToolCalls: false, provider: { order: ["a"] } })).toMatchObject({
    seed: 7,
    stop: ["x"],
    frequency_penalty: 0.1,
    parallel_tool_calls: false,
    provider: { order: ["a"] },
  });
  expect(sent(openAiResponses, { textVerbosity: "low", parallel_tool_calls: true })).toMatchObject({ text: { verbosity: "low" }, parallel_tool_calls: true });
  expect(sent(anthropicMessages, { topK: 40, stop: ["x"] })).toMatchObject({ top_k: 40, stop_sequences: ["x"] });
  expect(sent(googleGenerativeAi, { topK: 40, stop: ["x"], seed: 1 })).toMatchObject({ generationConfig: { topK: 40, stopSequences: ["x"], seed: 1 } });
  expect(sent(ollama, { numCtx: 4096, topK: 40 })).toMatchObject({ options: { num_ctx: 4096, top_k: 40 } });
});

test("Anthropic refuses another choice of words while it reasons, so it gets none", () => {
  const model = entry("anthropic-messages", { reasoning: true });
  const body = anthropicMessages.body({ model, messages: [], thinking: "low", params: { temperature: 0.1, topP: 0.5, topK: 4, serviceTier: "auto" } });
  expect(body).toMatchObject({ service_tier: "auto" });
  expect(body).not.toHaveProperty("temperature");
  expect(body).not.toHaveProperty("top_p");
  expect(body).not.toHaveProperty("top_k");
});
