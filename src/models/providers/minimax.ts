import { ANTHROPIC_MESSAGES, type KnownModel, type ProviderFacts } from "./provider.ts";

const model = (id: string, rest: Partial<KnownModel> = {}): KnownModel => ({
  id,
  contextWindow: 200_000,
  maxTokens: 8192,
  cost: { input: 15, output: 60, cacheRead: 2, cacheWrite: 10 },
  ...rest,
});

const MODELS = [
  model("MiniMax-M2.1"),
  model("MiniMax-M2.1-lightning"),
  model("MiniMax-VL-01", { input: ["text", "image"] }),
  model("MiniMax-M2.5", { reasoning: true }),
  model("MiniMax-M2.5-Lightning", { reasoning: true }),
];

/** Ids are case-sensitive there. */
export const MINIMAX: readonly ProviderFacts[] = [
  {
    id: "minimax",
    env: ["MINIMAX_API_KEY"],
    baseUrl: "https://api.minimax.io/anthropic",
    api: ANTHROPIC_MESSAGES,
    presence: "implied",
    models: MODELS,
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
    models: MODELS.filter(({ id }) => id === "MiniMax-M2.1" || id === "MiniMax-M2.5"),
    defaultModel: "MiniMax-M2.1",
    note: "signs in with OAuth through a plugin",
  },
];
