import { ANTHROPIC_MESSAGES, OPENAI_COMPLETIONS, type KnownModel, type ProviderFacts } from "./provider.ts";

const kimi = (id: string, name: string, rest: Partial<KnownModel> = {}): KnownModel => ({ id, name, contextWindow: 256_000, maxTokens: 8192, ...rest });

/** Two services of one company; a key of one does not work for the other. */
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
