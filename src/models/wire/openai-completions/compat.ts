import type { ModelEntry, WireCompat } from "../../entry.ts";

const NO_STORE = ["cerebras", "xai", "mistral", "chutes", "deepseek", "zai", "opencode"];
const NO_EFFORT = ["xai", "zai"];

/** Providers are known by their id or, when they hide behind a custom one, by the host they are asked at. */
function isOne(model: ModelEntry, names: readonly string[]): boolean {
  const host = hostOf(model.baseUrl);
  return names.some((name) => model.provider === name || host.includes(name === "zai" ? "z.ai" : name === "xai" ? "x.ai" : name));
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    return "";
  }
}

/** What this server takes: found out from who it is, changed by what the configuration says. */
export function compatOf(model: ModelEntry): Required<WireCompat> {
  const mistral = isOne(model, ["mistral"]);
  const store = !isOne(model, NO_STORE);
  return {
    supportsStore: store,
    supportsDeveloperRole: store,
    supportsReasoningEffort: !isOne(model, NO_EFFORT),
    supportsUsageInStreaming: true,
    supportsStrictMode: true,
    requiresToolResultName: mistral,
    requiresAssistantAfterToolResult: false,
    requiresThinkingAsText: mistral,
    requiresMistralToolIds: mistral,
    maxTokensField: isOne(model, ["mistral", "chutes"]) ? "max_tokens" : "max_completion_tokens",
    thinkingFormat: isOne(model, ["zai"]) ? "zai" : "openai",
    ...model.compat,
  };
}
