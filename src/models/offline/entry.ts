import type { ModelEntry } from "../entry.ts";

/** The model that is always available: free, text only, without key or network. */
export const OFFLINE_MODEL: ModelEntry = {
  provider: "builtin",
  id: "offline",
  name: "Built-in offline model",
  api: "builtin-offline",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 8192,
  source: "builtin",
};
