import type { ModelEntry, WireCompat } from "../../entry.ts";

const NO_STORE = ["cerebras", "xai", "mistral", "chutes", "deepseek", "zai", "opencode"];
const NO_EFFORT = ["xai", "zai"];

/** Providers are recognized by their id or, with a custom one, by their host. */
function knower({ provider, baseUrl }: ModelEntry): (names: readonly string[]) => boolean {
  const host = hostOf(baseUrl);
  return (names) => names.some((name) => provider === name || host.includes(name === "zai" ? "z.ai" : name === "xai" ? "x.ai" : name));
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    return "";
  }
}

/** The server's capabilities: derived from the provider, overridden by the configuration. */
export function compatOf(model: ModelEntry): Required<WireCompat> {
  const isOne = knower(model);
  const mistral = isOne(["mistral"]);
  const store = !isOne(NO_STORE);
  return {
    supportsStore: store,
    supportsDeveloperRole: store,
    supportsReasoningEffort: !isOne(NO_EFFORT),
    supportsUsageInStreaming: true,
    supportsStrictMode: true,
    requiresToolResultName: mistral,
    requiresAssistantAfterToolResult: false,
    requiresThinkingAsText: mistral,
    requiresMistralToolIds: mistral,
    maxTokensField: isOne(["mistral", "chutes"]) ? "max_tokens" : "max_completion_tokens",
    thinkingFormat: isOne(["zai"]) ? "zai" : "openai",
    ...model.compat,
  };
}
