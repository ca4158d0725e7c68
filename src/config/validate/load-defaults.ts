import type { OpenClawConfig } from "../schema/index.ts";
import { anthropicDefaults } from "./anthropic-defaults.ts";

type Agents = NonNullable<OpenClawConfig["agents"]>;
type Defaults = NonNullable<Agents["defaults"]>;
type Providers = NonNullable<NonNullable<OpenClawConfig["models"]>["providers"]>;
type Model = Providers[string]["models"][number];

const ALIASES: Readonly<Record<string, string>> = {
  "anthropic/claude-opus-4-6": "opus",
  "anthropic/claude-sonnet-4-6": "sonnet",
  "openai/gpt-5.2": "gpt",
  "openai/gpt-5-mini": "gpt-mini",
  "google/gemini-3-pro-preview": "gemini",
  "google/gemini-3-flash-preview": "gemini-flash",
};

const CONTEXT_WINDOW = 200_000;
const MAX_TOKENS = 8192;

function modelWithDefaults(model: Model): Model {
  const contextWindow = model.contextWindow ?? CONTEXT_WINDOW;
  return {
    ...model,
    reasoning: model.reasoning ?? false,
    input: model.input ?? ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...model.cost },
    contextWindow,
    maxTokens: Math.min(model.maxTokens ?? MAX_TOKENS, contextWindow),
  };
}

function providersWithDefaults(providers: Providers): Providers {
  return Object.fromEntries(Object.entries(providers).map(([id, provider]) => [id, { ...provider, models: provider.models.map(modelWithDefaults) }]));
}

function aliased(models: NonNullable<Defaults["models"]>): NonNullable<Defaults["models"]> {
  const entries = Object.entries(models).map(([ref, entry]) => {
    const alias = ALIASES[ref];
    return [ref, entry.alias === undefined && alias !== undefined ? { ...entry, alias } : entry] as const;
  });
  return Object.fromEntries(entries);
}

function agentDefaults(given: Defaults | undefined): Defaults {
  return {
    ...given,
    maxConcurrent: given?.maxConcurrent ?? 4,
    subagents: { ...given?.subagents, maxConcurrent: given?.subagents?.maxConcurrent ?? 8 },
    ...(given?.models ? { models: aliased(given.models) } : {}),
    // Only where the user set up agents: an empty file keeps the plain mode.
    ...(given ? { compaction: { ...given.compaction, mode: given.compaction?.mode ?? "safeguard" } } : {}),
  };
}

/**
 * What a running gateway assumes where a valid configuration says nothing. These values are never written to the file.
 * Changes nothing of the argument.
 */
export function applyLoadDefaults(config: OpenClawConfig, env: Readonly<Record<string, string | undefined>>): OpenClawConfig {
  const next: OpenClawConfig = {
    ...config,
    messages: { ...config.messages, ackReactionScope: config.messages?.ackReactionScope ?? "group-mentions" },
    agents: { ...config.agents, defaults: agentDefaults(config.agents?.defaults) },
  };
  if (config.session) next.session = { ...config.session, mainKey: "main" };
  if (config.logging) next.logging = { ...config.logging, redactSensitive: config.logging.redactSensitive ?? "tools" };
  if (config.models?.providers) next.models = { ...config.models, providers: providersWithDefaults(config.models.providers) };
  return anthropicDefaults(next, env);
}
