import { expect, test } from "vitest";
import { loadChoice } from "../models/index.ts";
import { AUTH_CHOICES, choiceOfFlag, findChoice, KEY_FLAGS } from "./auth-choices.ts";
import { providerLabel } from "./providers.ts";
import { choiceFromFlags } from "./steps/model/choice.ts";

const DOCUMENTED =
  "token setup-token oauth claude-cli codex-cli apiKey openai-api-key openai-codex openrouter-api-key litellm-api-key ai-gateway-api-key cloudflare-ai-gateway-api-key moonshot-api-key moonshot-api-key-cn kimi-code-api-key gemini-api-key google-antigravity google-gemini-cli zai-api-key zai-coding-global zai-coding-cn zai-global zai-cn xai-api-key qianfan-api-key xiaomi-api-key minimax-api minimax-api-key-cn minimax-api-lightning minimax-portal qwen-portal copilot-proxy github-copilot synthetic-api-key venice-api-key together-api-key huggingface-api-key opencode-zen vllm chutes custom-api-key skip".split(
    " ",
  );

test("every documented choice is there, under a name of its own", () => {
  const ids = AUTH_CHOICES.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(DOCUMENTED.filter((id) => findChoice(id) === undefined)).toEqual([]);
});

test("every choice names a provider that is known, with a label", async () => {
  const { providerFacts } = await loadChoice();
  const named = AUTH_CHOICES.flatMap(({ provider }) => provider ?? []);
  expect(named.filter((provider) => providerFacts(provider) === undefined || providerLabel(provider) === provider)).toEqual([]);
});

test("every key flag means one choice by itself", () => {
  expect(KEY_FLAGS.filter((flag) => choiceOfFlag(flag) === undefined)).toEqual([]);
  expect(choiceFromFlags({ keys: { zai: "k" } })?.id).toBe("zai-api-key");
  expect(choiceFromFlags({ keys: {} })).toBeUndefined();
  expect(choiceFromFlags({ token: { value: "t" } })?.id).toBe("token");
  expect(choiceFromFlags({ authChoice: "zai-cn", keys: { zai: "k", openai: "k" } })?.id).toBe("zai-cn");
  expect(() => choiceFromFlags({ keys: { zai: "k" }, custom: { baseUrl: "http://x" } })).toThrow("--zai-api-key and --custom-base-url");
});
