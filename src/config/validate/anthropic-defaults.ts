import type { OpenClawConfig } from "../schema/index.ts";

type Defaults = NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>;
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
export function anthropicDefaults(config: OpenClawConfig, env: Readonly<Record<string, string | undefined>>): OpenClawConfig {
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
