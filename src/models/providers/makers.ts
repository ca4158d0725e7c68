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

/** First-party model providers. */
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
    note: "signs in through a plugin, which must also provide the wire format",
  },
  {
    id: "google-antigravity",
    env: [],
    baseUrl: "https://cloudcode-pa.googleapis.com",
    api: "google-gemini-cli",
    presence: "config",
    defaultModel: "claude-opus-4-6-thinking",
    note: "signs in through a plugin, which must also provide the wire format",
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

/**
 * GLM. The URL is that of the coding plan; the general one is https://api.z.ai/api/paas/v4, those in China start with https://open.bigmodel.cn/api.
 */
export const ZAI: ProviderFacts = {
  id: "zai",
  aliases: ["z.ai", "z-ai"],
  env: ["ZAI_API_KEY", "Z_AI_API_KEY"],
  baseUrl: "https://api.z.ai/api/coding/paas/v4",
  api: OPENAI_COMPLETIONS,
  presence: "catalog",
  models: [
    { id: "glm-5", name: "GLM-5", reasoning: true, contextWindow: 204_800, maxTokens: 131_072 },
    { id: "glm-4.7-flash", name: "GLM-4.7-Flash", reasoning: true, contextWindow: 200_000, maxTokens: 131_072 },
    { id: "glm-4.7-flashx", name: "GLM-4.7-FlashX", reasoning: true, contextWindow: 200_000, maxTokens: 131_072 },
    { id: "glm-4.6v", name: "GLM-4.6V", reasoning: true, input: ["text", "image"], contextWindow: 128_000, maxTokens: 32_768 },
  ],
  defaultModel: "glm-5",
  picksDefault: true,
};

const minimax = (id: string, rest: Partial<KnownModel> = {}): KnownModel => ({
  id,
  contextWindow: 200_000,
  maxTokens: 8192,
  cost: { input: 15, output: 60, cacheRead: 2, cacheWrite: 10 },
  ...rest,
});

const MINIMAX_MODELS = [
  minimax("MiniMax-M2.1"),
  minimax("MiniMax-M2.1-lightning"),
  minimax("MiniMax-VL-01", { input: ["text", "image"] }),
  minimax("MiniMax-M2.5", { reasoning: true }),
  minimax("MiniMax-M2.5-Lightning", { reasoning: true }),
];

/** Model ids are case-sensitive. */
export const MINIMAX: readonly ProviderFacts[] = [
  {
    id: "minimax",
    env: ["MINIMAX_API_KEY"],
    baseUrl: "https://api.minimax.io/anthropic",
    api: ANTHROPIC_MESSAGES,
    presence: "implied",
    models: MINIMAX_MODELS,
    defaultModel: "MiniMax-M2.1",
    picksDefault: true,
    note: "in China the address is https://api.minimaxi.com/anthropic",
  },
  { id: "minimax-cn", env: ["MINIMAX_CN_API_KEY"], baseUrl: "https://api.minimaxi.com/anthropic", api: ANTHROPIC_MESSAGES, presence: "catalog" },
  {
    id: "minimax-portal",
    env: ["MINIMAX_OAUTH_TOKEN", "MINIMAX_API_KEY"],
    baseUrl: "https://api.minimax.io/anthropic",
    api: ANTHROPIC_MESSAGES,
    presence: "implied",
    models: MINIMAX_MODELS.filter(({ id }) => id === "MiniMax-M2.1" || id === "MiniMax-M2.5"),
    defaultModel: "MiniMax-M2.1",
    note: "signs in with OAuth through a plugin",
  },
];

const kimi = (id: string, name: string, rest: Partial<KnownModel> = {}): KnownModel => ({ id, name, contextWindow: 256_000, maxTokens: 8192, ...rest });

/** Two services of one company; their keys are not interchangeable. */
export const KIMI: readonly ProviderFacts[] = [
  {
    id: "moonshot",
    env: ["MOONSHOT_API_KEY"],
    baseUrl: "https://api.moonshot.ai/v1",
    api: OPENAI_COMPLETIONS,
    presence: "implied",
    models: [
      kimi("kimi-k2.5", "Kimi K2.5", { cost: { input: 0.6, output: 3, cacheRead: 0.1, cacheWrite: 0 } }),
      kimi("kimi-k2-0905-preview", "Kimi K2 0905 Preview"),
      kimi("kimi-k2-turbo-preview", "Kimi K2 Turbo", { cost: { input: 2.4, output: 10, cacheRead: 0.6, cacheWrite: 0 } }),
      kimi("kimi-k2-thinking", "Kimi K2 Thinking", { reasoning: true, cost: { input: 0.6, output: 2.5, cacheRead: 0.15, cacheWrite: 0 } }),
      kimi("kimi-k2-thinking-turbo", "Kimi K2 Thinking Turbo", { reasoning: true }),
    ],
    table: "moonshotai",
    defaultModel: "kimi-k2.5",
    picksDefault: true,
    note: "in China the address is https://api.moonshot.cn/v1",
  },
  {
    id: "kimi-coding",
    aliases: ["kimi-code"],
    env: ["KIMI_API_KEY", "KIMICODE_API_KEY"],
    baseUrl: "https://api.kimi.com/coding",
    api: ANTHROPIC_MESSAGES,
    presence: "catalog",
    models: [
      { id: "k2p5", name: "Kimi K2.5", reasoning: true, input: ["text", "image"], contextWindow: 262_144, maxTokens: 32_768 },
      { id: "kimi-k2-thinking", name: "Kimi K2 Thinking", reasoning: true, contextWindow: 262_144, maxTokens: 32_768 },
    ],
    defaultModel: "k2p5",
    picksDefault: true,
  },
];
