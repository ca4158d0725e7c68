import type { OpenClawConfig } from "../../config/index.ts";
import { PROFILES, type ProfileName } from "./names.ts";

/** One list of allowed and one of denied tools. */
export interface ToolPolicy {
  readonly allow?: readonly string[] | undefined;
  readonly alsoAllow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

interface ScopedPolicy extends ToolPolicy {
  readonly profile?: ProfileName | undefined;
}

interface PolicySettings extends ScopedPolicy {
  readonly byProvider?: Readonly<Record<string, ScopedPolicy>> | undefined;
  readonly sandbox?: { readonly tools?: ToolPolicy | undefined } | undefined;
  readonly subagents?: { readonly tools?: ToolPolicy | undefined } | undefined;
}

/** One step of the decision. Each can only take tools away. */
export interface Layer {
  /** For people: what it is and where it stands in the configuration. */
  readonly name: string;
  readonly at: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** An allow list here that names no tool of ours is a mistake rather than a wish for none. */
  readonly lenient: boolean;
}

export interface LayerFacts {
  readonly config: OpenClawConfig;
  readonly agentId: string;
  readonly provider?: string | undefined;
  readonly modelId?: string | undefined;
  /** Of the group this came from, with where it was found. */
  readonly group?: (ToolPolicy & { readonly at: string }) | undefined;
  readonly sandboxed: boolean;
  /** Of a subagent: how deep it is, and how deep one may be. */
  readonly subagent?: { readonly depth: number; readonly maxDepth: number } | undefined;
}

export const SANDBOX_ALLOW = [
  "exec",
  "process",
  "read",
  "write",
  "edit",
  "apply_patch",
  "grep",
  "find",
  "ls",
  "image",
  "sessions_list",
  "sessions_history",
  "sessions_send",
  "sessions_spawn",
  "subagents",
  "session_status",
];
const SANDBOX_DENY = ["browser", "canvas", "nodes", "cron", "gateway", "telegram", "whatsapp", "discord", "irc", "googlechat", "slack", "signal", "imessage"];
const SUBAGENT_DENY = ["gateway", "agents_list", "whatsapp_login", "session_status", "cron", "memory_search", "memory_get", "sessions_send"];
const LEAF_DENY = ["sessions_list", "sessions_history", "sessions_spawn"];

/** All layers that have something to say, in the order in which they are asked. */
export function policyLayers(facts: LayerFacts): readonly Layer[] {
  const { config, agentId, group, sandboxed, subagent } = facts;
  const all = (config.tools ?? {}) as PolicySettings;
  const index = config.agents?.list?.findIndex((agent) => agent.id.toLowerCase() === agentId.toLowerCase()) ?? -1;
  const own = (config.agents?.list?.[index]?.tools ?? {}) as PolicySettings;
  const place = `agents.list[${index}].tools`;
  const provider = byProvider(all, "tools", facts);
  const ownProvider = byProvider(own, place, facts);
  const layers = [
    profileLayer("profile", own.profile ? { ...own, at: place } : { ...all, at: "tools" }, own.alsoAllow ?? all.alsoAllow),
    profileLayer(
      "provider profile",
      ownProvider?.policy.profile ? { ...ownProvider.policy, at: ownProvider.at } : { ...provider?.policy, at: provider?.at ?? "" },
      ownProvider?.policy.alsoAllow ?? provider?.policy.alsoAllow,
    ),
    listLayer("global", "tools", all),
    provider && listLayer("provider", provider.at, provider.policy),
    listLayer("agent", place, own),
    ownProvider && listLayer("agent's provider", ownProvider.at, ownProvider.policy),
    group && listLayer("group", group.at, group),
    sandboxed ? sandboxLayer(all, own, place) : undefined,
    subagent && subagentLayer(all, subagent),
  ];
  return layers.filter((layer) => layer !== undefined);
}

function profileLayer(name: string, { profile, at }: ScopedPolicy & { readonly at: string }, alsoAllow: readonly string[] | undefined): Layer | undefined {
  const allow = profile === undefined ? undefined : PROFILES[profile];
  return allow && { name, at: `${at}.profile`, allow: [...allow, ...(alsoAllow ?? [])], lenient: true };
}

/** `alsoAllow` by itself adds to everything. */
function listLayer(name: string, at: string, { allow, alsoAllow, deny }: ToolPolicy): Layer | undefined {
  const allowed = allow && allow.length > 0 ? [...allow, ...(alsoAllow ?? [])] : alsoAllow && alsoAllow.length > 0 ? ["*", ...alsoAllow] : undefined;
  if (!allowed && !deny?.length) return undefined;
  return { name, at, ...(allowed ? { allow: allowed } : {}), ...(deny?.length ? { deny } : {}), lenient: true };
}

/** The entry of `provider/model`, else of `provider`, whatever their case. */
function byProvider(
  { byProvider: policies }: PolicySettings,
  at: string,
  { provider, modelId }: LayerFacts,
): { readonly policy: ScopedPolicy; readonly at: string } | undefined {
  if (!policies || provider === undefined) return undefined;
  const wanted = [modelId === undefined ? undefined : `${provider}/${modelId}`, provider].map((name) => name?.toLowerCase());
  for (const name of wanted) {
    const found = Object.entries(policies).find(([key]) => key.trim().toLowerCase() === name);
    if (found) return { policy: found[1], at: `${at}.byProvider[${JSON.stringify(found[0])}]` };
  }
  return undefined;
}

/** Each list on its own: the agent's, else the general one, else the default. An empty allow list means everything that is not denied. */
function sandboxLayer(all: PolicySettings, own: PolicySettings, place: string): Layer {
  const policies = [own.sandbox?.tools, all.sandbox?.tools];
  const allow = policies.find((policy) => policy?.allow)?.allow ?? SANDBOX_ALLOW;
  const deny = policies.find((policy) => policy?.deny)?.deny ?? SANDBOX_DENY;
  const at = policies[0] ? `${place}.sandbox.tools` : "tools.sandbox.tools";
  const withImage = allow.length > 0 && !deny.includes("image") && !allow.includes("image") ? [...allow, "image"] : allow;
  return { name: "sandbox", at, ...(withImage.length > 0 ? { allow: withImage } : {}), deny, lenient: false };
}

function subagentLayer(all: PolicySettings, { depth, maxDepth }: { readonly depth: number; readonly maxDepth: number }): Layer {
  const { allow, deny = [] } = all.subagents?.tools ?? {};
  return {
    name: "subagent",
    at: "tools.subagents.tools",
    ...(allow && allow.length > 0 ? { allow } : {}),
    deny: [...SUBAGENT_DENY, ...(depth >= maxDepth ? LEAF_DENY : []), ...deny],
    lenient: false,
  };
}
