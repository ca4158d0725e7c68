import type { OpenClawConfig } from "../schema/index.ts";

type Agents = NonNullable<OpenClawConfig["agents"]>;
type Defaults = NonNullable<Agents["defaults"]>;
type Providers = NonNullable<NonNullable<OpenClawConfig["models"]>["providers"]>;
type Model = NonNullable<Providers[string]["models"]>[number];

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
  return Object.fromEntries(Object.entries(providers).map(([id, provider]) => [id, { ...provider, models: (provider.models ?? []).map(modelWithDefaults) }]));
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

type Models = NonNullable<Defaults["models"]>;
type AuthMode = "api_key" | "oauth";

const PROVIDER = "anthropic";

/** How requests to Anthropic will be paid for: a subscription (oauth, token) or a key. Undefined when unknown. */
function authMode(config: OpenClawConfig, env: Readonly<Record<string, string | undefined>>): AuthMode | undefined {
  const profiles = config.auth?.profiles ?? {};
  const ordered = (config.auth?.order?.[PROVIDER] ?? []).map((id) => profiles[id]);
  const first = [...ordered, ...Object.values(profiles)].find((profile) => profile?.provider === PROVIDER);
  if (first) return first.mode === "api_key" ? "api_key" : "oauth";
  if (env["ANTHROPIC_OAUTH_TOKEN"]?.trim()) return "oauth";
  return env["ANTHROPIC_API_KEY"]?.trim() ? "api_key" : undefined;
}

function cached(models: Models, primary: string | undefined): Models {
  const refs = new Set(Object.keys(models));
  if (primary?.startsWith(`${PROVIDER}/`) && refs.size > 0) refs.add(primary);
  const next: Models = { ...models };
  for (const ref of refs) {
    if (!ref.startsWith(`${PROVIDER}/`)) continue;
    const entry = models[ref] ?? {};
    next[ref] = { ...entry, params: { cacheRetention: "short", ...entry.params } };
  }
  return next;
}

/** Pruning, heartbeats and cache times that fit how Anthropic's prompt cache is billed. */
function anthropicDefaults(config: OpenClawConfig, env: Readonly<Record<string, string | undefined>>): OpenClawConfig {
  const mode = authMode(config, env);
  if (mode === undefined) return config;
  const given = config.agents?.defaults ?? {};
  const pruning = given.contextPruning;
  const defaults: Defaults = {
    ...given,
    contextPruning: { ...pruning, mode: pruning?.mode ?? "cache-ttl", ...(pruning?.mode === "off" ? {} : { ttl: pruning?.ttl ?? "1h" }) },
    heartbeat: { ...given.heartbeat, every: given.heartbeat?.every ?? (mode === "oauth" ? "1h" : "30m") },
    ...(mode === "api_key" && given.models ? { models: cached(given.models, given.model?.primary) } : {}),
  };
  return { ...config, agents: { ...config.agents, defaults } };
}
