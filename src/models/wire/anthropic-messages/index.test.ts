import { expect, test } from "vitest";
import type { ModelEntry, ModelSource } from "../../entry.ts";
import { anthropicMessages } from "./index.ts";

const model = (provider: string, id: string, source: ModelSource): ModelEntry =>
  ({
    provider,
    id,
    source,
    input: ["text"],
    baseUrl: provider === "anthropic" ? "https://api.anthropic.com" : "https://proxy.example",
  }) as unknown as ModelEntry;
function marked(entry: ModelEntry, params?: Readonly<Record<string, unknown>>): unknown {
  const { system } = anthropicMessages.body({ model: entry, systemPrompt: "be kind", messages: [], thinking: "off", ...(params ? { params } : {}) });
  return (system as readonly { readonly cache_control?: unknown }[])[0]!.cache_control;
}

test("Claude is cached wherever it runs, and so are models that the user configured with this format", () => {
  const short = { type: "ephemeral" };
  expect(marked(model("anthropic", "claude-opus-4-6", "catalogue"))).toEqual(short);
  expect(marked(model("my-proxy", "my-model", "config"))).toEqual(short);
  expect(marked(model("my-proxy", "my-model", "generic"))).toEqual(short);
  expect(marked(model("vercel-ai-gateway", "anthropic/claude-opus-4.6", "catalogue"))).toEqual(short);
  expect(marked(model("minimax", "MiniMax-M2.1", "catalogue"))).toBeUndefined();
});

test("the model's params decide, and one hour is only requested from Anthropic", () => {
  expect(marked(model("my-proxy", "my-model", "config"), { cacheRetention: "none" })).toBeUndefined();
  expect(marked(model("minimax", "MiniMax-M2.1", "catalogue"), { cacheRetention: "short" })).toEqual({ type: "ephemeral" });
  expect(marked(model("anthropic", "claude-opus-4-6", "catalogue"), { cacheRetention: "long" })).toEqual({ type: "ephemeral", ttl: "1h" });
  expect(marked(model("my-proxy", "my-model", "config"), { cacheControlTtl: "1h" })).toEqual({ type: "ephemeral" });
});
