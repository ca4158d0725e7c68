/** US dollars per million tokens. */
export interface ModelCost {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** What an OpenAI-compatible server does differently; missing fields are derived from the provider and its URL. */
export interface WireCompat {
  readonly supportsStore?: boolean;
  readonly supportsDeveloperRole?: boolean;
  readonly supportsReasoningEffort?: boolean;
  readonly supportsUsageInStreaming?: boolean;
  readonly supportsStrictMode?: boolean;
  readonly requiresToolResultName?: boolean;
  readonly requiresAssistantAfterToolResult?: boolean;
  readonly requiresThinkingAsText?: boolean;
  readonly requiresMistralToolIds?: boolean;
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens";
  readonly thinkingFormat?: "openai" | "zai" | "qwen";
}

/** Source of the facts about a model, most specific last. */
export type ModelSource = "catalogue" | "predecessor" | "generic" | "models.json" | "config" | "plugin" | "discovery" | "builtin";

/** One model of one provider, with everything needed to call it except the credential. */
export interface ModelEntry {
  /** Lower case. */
  readonly provider: string;
  /** As the provider writes it. */
  readonly id: string;
  readonly name: string;
  /** Wire format: `openai-completions`, `anthropic-messages`, … */
  readonly api: string;
  readonly baseUrl: string;
  readonly reasoning: boolean;
  readonly input: readonly ("text" | "image")[];
  readonly cost: ModelCost;
  readonly contextWindow: number;
  readonly maxTokens: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly compat?: WireCompat;
  /** The key is sent as a bearer token, whatever the format does by default. */
  readonly authHeader?: boolean;
  readonly source: ModelSource;
}
