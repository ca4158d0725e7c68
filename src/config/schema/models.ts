import { advanced, amount, choice, count, flag, group, list, map, number, secret, secretMap, text, texts } from "./pieces.ts";

const api = (description: string) =>
  choice(description, [
    "openai-completions",
    "openai-responses",
    "anthropic-messages",
    "google-generative-ai",
    "github-copilot",
    "bedrock-converse-stream",
    "ollama",
  ]);

const compat = group(
  "Where this model differs from its wire format.",
  {
    supportsStore: flag("Takes the store field."),
    supportsDeveloperRole: flag("Takes the developer role."),
    supportsReasoningEffort: flag("Takes a reasoning effort."),
    supportsUsageInStreaming: flag("Reports usage while streaming."),
    supportsStrictMode: flag("Takes strict tool schemas."),
    maxTokensField: choice("Name of the output limit.", ["max_completion_tokens", "max_tokens"]),
    thinkingFormat: choice("How reasoning is asked for.", ["openai", "zai", "qwen"]),
    requiresToolResultName: flag("Tool results must name their tool."),
    requiresAssistantAfterToolResult: flag("A tool result must be followed by an assistant message."),
    requiresThinkingAsText: flag("Reasoning must be sent back as text."),
    requiresMistralToolIds: flag("Tool call ids must have Mistral's form."),
  },
  [],
  advanced,
);

const cost = group("Price in USD per million tokens.", {
  input: number("Input."),
  output: number("Output."),
  cacheRead: number("Input read from the cache."),
  cacheWrite: number("Input written to the cache."),
});

const model = group(
  "One model.",
  {
    id: text("Id that the provider knows.", { minLength: 1 }),
    name: text("Name shown to people.", { minLength: 1 }),
    api: api("Wire format, when it differs from the provider's."),
    reasoning: flag("Can reason before it answers."),
    input: list("What it takes.", choice("A kind of input.", ["text", "image"])),
    cost,
    contextWindow: number("Tokens it can see.", { exclusiveMinimum: 0 }),
    maxTokens: number("Tokens it can write.", { exclusiveMinimum: 0 }),
    headers: secretMap("Extra request headers.", advanced),
    compat,
  },
  ["id", "name"],
);

const provider = group(
  "One provider.",
  {
    baseUrl: text("Address of its interface.", { minLength: 1 }),
    apiKey: secret("Its key."),
    auth: choice("How requests are signed.", ["api-key", "aws-sdk", "oauth", "token"]),
    api: api("Wire format."),
    headers: secretMap("Extra request headers.", advanced),
    authHeader: flag("Send the key as a bearer token.", advanced),
    models: list("Its models; a built-in provider keeps its own without it.", model),
  },
  ["baseUrl"],
);

export const models = group("Model providers beyond the built-in ones.", {
  mode: choice("merge also uses what is in an agent's models.json, replace leaves that file aside; the built-in models stay in both.", ["merge", "replace"]),
  providers: map("Providers by id.", provider),
  bedrockDiscovery: group("Finds the models of Amazon Bedrock.", {
    enabled: flag("Discover them; on when AWS credentials are available."),
    region: text("AWS region."),
    providerFilter: texts("Only models of these makers."),
    refreshInterval: amount("Seconds between two checks."),
    defaultContextWindow: count("Context window of models that do not report one."),
    defaultMaxTokens: count("Output limit of models that do not report one."),
  }),
});
