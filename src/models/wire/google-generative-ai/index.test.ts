import { expect, test } from "vitest";
import type { AssistantMessage, ModelMessage } from "../../../protocol/index.ts";
import type { ModelEntry } from "../../entry.ts";
import { googleGenerativeAi } from "./index.ts";

const PRICES = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const USAGE = { ...PRICES, totalTokens: 0, cost: { ...PRICES, total: 0 } };
const model = (id: string): ModelEntry => ({
  provider: "google",
  id,
  name: id,
  api: "google-generative-ai",
  baseUrl: "",
  reasoning: true,
  input: ["text"],
  cost: PRICES,
  contextWindow: 1000,
  maxTokens: 100,
  source: "catalogue",
});

/** Two calls in one step, with the provider's signature, from this model. */
function history(from: string, provider: string, thoughtSignature?: string): readonly ModelMessage[] {
  const answer: AssistantMessage = {
    role: "assistant",
    content: [
      { type: "toolCall", id: "a", name: "read", arguments: {}, ...(thoughtSignature === undefined ? {} : { thoughtSignature }) },
      { type: "toolCall", id: "b", name: "read", arguments: {} },
    ],
    api: "google-generative-ai",
    provider,
    model: from,
    usage: USAGE,
    stopReason: "toolUse",
    timestamp: 0,
  };
  return [{ role: "user", content: "hi", timestamp: 0 }, answer];
}

function signatures(id: string, messages: readonly ModelMessage[]): unknown[] {
  const { contents } = googleGenerativeAi.body({ model: model(id), messages, thinking: "off" });
  return (contents as readonly { readonly parts: readonly Record<string, unknown>[] }[]).flatMap(({ parts }) =>
    parts.flatMap((part) => (part["functionCall"] ? [part["thoughtSignature"]] : [])),
  );
}

test("Gemini 3 gets its own signatures back, and the documented placeholder on the first call without one", () => {
  expect(signatures("gemini-3-pro-preview", history("gemini-3-pro-preview", "google", "c2lnbg=="))).toEqual(["c2lnbg==", undefined]);
  expect(signatures("gemini-3-pro-preview", history("gemini-3-pro-preview", "google"))).toEqual(["skip_thought_signature_validator", undefined]);
  expect(signatures("gemini-3.5-flash", history("claude-opus-4-6", "anthropic", "not base64!"))).toEqual(["skip_thought_signature_validator", undefined]);
});

test("models before Gemini 3 get no placeholder", () => {
  expect(signatures("gemini-2.5-pro", history("claude-opus-4-6", "anthropic"))).toEqual([undefined, undefined]);
});
