import type { ModelEntry, WireCompat } from "../../entry.ts";

const NO_STORE = ["cerebras", "xai", "mistral", "chutes", "deepseek", "zai", "opencode"];
const NO_EFFORT = ["xai", "zai"];

/** Providers are known by their id or, when they hide behind a custom one, by the host they are asked at. */
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

/** What this server takes: found out from who it is, changed by what the configuration says. */
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
