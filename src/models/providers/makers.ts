import type { ModelCost } from "../entry.ts";
import { ANTHROPIC_MESSAGES, GOOGLE_GENERATIVE_AI, OPENAI_COMPLETIONS, OPENAI_RESPONSES, type KnownModel, type ProviderFacts } from "./provider.ts";

/** USD per million tokens; writing to the cache is free. */
const price = (input: number, output: number, cacheRead: number): ModelCost => ({ input, output, cacheRead, cacheWrite: 0 });

const codex = (id: string, name: string, cost: ModelCost): KnownModel => ({
  id,
  name,
  reasoning: true,
  input: ["text", "image"],
  contextWindow: 272_000,
  maxTokens: 128_000,
  cost,
});

const CODEX: readonly KnownModel[] = [
  codex("gpt-5.3-codex", "GPT-5.3 Codex", price(1.75, 14, 0.175)),
  { id: "gpt-5.3-codex-spark", name: "GPT-5.3 Codex Spark", reasoning: true, contextWindow: 128_000, maxTokens: 128_000 },
  codex("gpt-5.2-codex", "GPT-5.2 Codex", price(1.75, 14, 0.175)),
  codex("gpt-5.1-codex-max", "GPT-5.1 Codex Max", price(1.25, 10, 0.125)),
  codex("gpt-5.1-codex-mini", "GPT-5.1 Codex Mini", price(0.25, 2, 0.025)),
  codex("gpt-5.1", "GPT-5.1", price(1.25, 10, 0.125)),
];

/** Companies that make models and serve them under their own name. */
export const MAKERS: readonly ProviderFacts[] = [
  {
    id: "anthropic",
    env: ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"],
    baseUrl: "https://api.anthropic.com",
    api: ANTHROPIC_MESSAGES,
    presence: "catalog",
    defaultModel: "claude-opus-4-6",
    picksDefault: true,
    note: "takes a key or a setup-token",
  },
  {
    id: "openai",
    env: ["OPENAI_API_KEY"],
    baseUrl: "https://api.openai.com/v1",
    api: OPENAI_RESPONSES,
    presence: "catalog",
    models: [
      {
        id: "gpt-5.1-codex",
        name: "GPT-5.1 Codex",
        reasoning: true,
        input: ["text", "image"],
        contextWindow: 400_000,
        maxTokens: 128_000,
        cost: price(1.25, 10, 0.125),
      },
    ],
    defaultModel: "gpt-5.2",
    picksDefault: true,
  },
  {
    id: "openai-codex",
    env: [],
    baseUrl: "https://chatgpt.com/backend-api",
    api: "openai-codex-responses",
    presence: "catalog",
    models: CODEX,
    defaultModel: "gpt-5.3-codex",
    note: "signs in with OAuth; needs the package @earendil-works/pi-ai",
  },
  {
    id: "google",
    env: ["GEMINI_API_KEY"],
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    api: GOOGLE_GENERATIVE_AI,
    presence: "catalog",
    models: [
      {
        id: "gemini-3-pro-preview",
        name: "Gemini 3 Pro Preview",
        reasoning: true,
        input: ["text", "image"],
        contextWindow: 1_048_576,
        maxTokens: 65_536,
        cost: price(2, 12, 0.2),
      },
    ],
    defaultModel: "gemini-3-pro-preview",
    picksDefault: true,
  },
  {
    id: "google-gemini-cli",
    env: [],
    baseUrl: "https://cloudcode-pa.googleapis.com",
    api: "google-gemini-cli",
    presence: "config",
    defaultModel: "gemini-3-pro-preview",
    note: "signs in through a plugin, which also has to bring the wire format",
  },
  {
    id: "google-antigravity",
    env: [],
    baseUrl: "https://cloudcode-pa.googleapis.com",
    api: "google-gemini-cli",
    presence: "config",
    defaultModel: "claude-opus-4-6-thinking",
    note: "signs in through a plugin, which also has to bring the wire format",
  },
  {
    id: "xai",
    env: ["XAI_API_KEY"],
    baseUrl: "https://api.x.ai/v1",
    api: OPENAI_COMPLETIONS,
    presence: "catalog",
    models: [{ id: "grok-4", name: "Grok 4", reasoning: true, contextWindow: 256_000, maxTokens: 64_000, cost: price(3, 15, 0.75) }],
    defaultModel: "grok-4",
    picksDefault: true,
  },
  {
    id: "mistral",
    env: ["MISTRAL_API_KEY"],
    baseUrl: "https://api.mistral.ai/v1",
    api: OPENAI_COMPLETIONS,
    presence: "catalog",
    defaultModel: "mistral-large-latest",
    picksDefault: true,
  },
];
