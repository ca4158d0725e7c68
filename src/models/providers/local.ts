import { OPENAI_COMPLETIONS, type ProviderFacts } from "./provider.ts";

/** Servers on this machine. They are discovered on demand, never at the start. */
export const LOCAL: readonly ProviderFacts[] = [
  { id: "ollama", env: ["OLLAMA_API_KEY"], baseUrl: "http://127.0.0.1:11434", api: "ollama", presence: "local", anyKey: true, listing: "ollama" },
  { id: "vllm", env: ["VLLM_API_KEY"], baseUrl: "http://127.0.0.1:8000/v1", api: OPENAI_COMPLETIONS, presence: "local", anyKey: true, listing: "openai" },
  { id: "lmstudio", env: [], baseUrl: "http://127.0.0.1:1234/v1", api: OPENAI_COMPLETIONS, presence: "local", anyKey: true, listing: "openai" },
  { id: "llamacpp", env: [], baseUrl: "http://127.0.0.1:8080/v1", api: OPENAI_COMPLETIONS, presence: "local", anyKey: true, listing: "openai" },
];

/** The model that needs nothing: no key, no network, no weights. */
export const BUILTIN: ProviderFacts = {
  id: "builtin",
  env: [],
  baseUrl: "",
  api: "builtin-offline",
  presence: "catalog",
  anyKey: true,
  models: [{ id: "offline", name: "Built-in offline model", contextWindow: 200_000, maxTokens: 8192 }],
};

/** Keys that other modules use; these providers offer no chat. */
export const SENSES: readonly ProviderFacts[] = [
  {
    id: "voyage",
    env: ["VOYAGE_API_KEY"],
    baseUrl: "https://api.voyageai.com/v1",
    api: "",
    presence: "config",
    defaultModel: "voyage-4-large",
    note: "embeddings",
  },
  { id: "deepgram", env: ["DEEPGRAM_API_KEY"], baseUrl: "https://api.deepgram.com/v1", api: "", presence: "config", defaultModel: "nova-3", note: "speech" },
];
