import { CHANNELS_LISTED_FIRST, type OpenClawConfig } from "../../config/index.ts";
import { IN_SANDBOX, NOT_FOR_DEEPEST, NOT_FOR_SUBAGENTS, NOT_IN_SANDBOX, toolName, type ProfileName } from "../catalog.ts";
import { profileTools } from "./names.ts";

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

/** One entry of a list, and where it stands in the configuration. */
export interface PolicyEntry {
  readonly entry: string;
  /** `tools.deny[1]`. Of an entry that nobody wrote: the path of the list that would replace or extend it. */
  readonly at: string;
  /** Nobody wrote it: the reason that it is there. */
  readonly why?: string;
}

/** One step of the decision. Each can only take tools away. */
export interface Layer {
  /** For people: `profile`, `global`, `agent`, … */
  readonly name: string;
  readonly allow?: readonly PolicyEntry[];
  /** Where the allow list stands, and what it means not to be in it. */
  readonly allowAt: string;
  readonly missing: string;
  readonly deny?: readonly PolicyEntry[];
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

export const SANDBOX_ALLOW = IN_SANDBOX;
export const SANDBOX_DENY: readonly string[] = [...NOT_IN_SANDBOX, ...CHANNELS_LISTED_FIRST];

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
    profileLayer("profile", { policy: own, at: place }, { policy: all, at: "tools" }),
    profileLayer("provider profile", ownProvider, provider),
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

interface PlacedPolicy {
  readonly policy: ScopedPolicy;
  readonly at: string;
}

const entriesOf = (list: readonly string[] | undefined, at: string): readonly PolicyEntry[] =>
  (list ?? []).map((entry, index) => ({ entry, at: `${at}[${index}]` }));

/** The agent's own profile stands before the general one, and so does its `alsoAllow`. */
function profileLayer(name: string, ...policies: readonly (PlacedPolicy | undefined)[]): Layer | undefined {
  const chosen = policies.find((placed) => placed?.policy.profile !== undefined);
  const profile = chosen?.policy.profile;
  const allow = profile === undefined ? undefined : profileTools(profile);
  if (!chosen || !allow) return undefined;
  const at = `${chosen.at}.profile`;
  const added = policies.find((placed) => placed?.policy.alsoAllow !== undefined);
  return {
    name,
    allow: [...allow.map((entry) => ({ entry, at, why: `part of the profile ${profile}` })), ...entriesOf(added?.policy.alsoAllow, `${added?.at}.alsoAllow`)],
    allowAt: at,
    missing: `not part of the profile ${profile} (${at})`,
    lenient: true,
  };
}

/** `alsoAllow` by itself adds to everything. */
function listLayer(name: string, at: string, { allow, alsoAllow, deny }: ToolPolicy): Layer | undefined {
  const added = entriesOf(alsoAllow, `${at}.alsoAllow`);
  const allowed =
    allow && allow.length > 0
      ? [...entriesOf(allow, `${at}.allow`), ...added]
      : added.length > 0
        ? [...added, { entry: "*", at: `${at}.alsoAllow`, why: "no policy list applies" }]
        : undefined;
  if (!allowed && !deny?.length) return undefined;
  return {
    name,
    ...(allowed ? { allow: allowed } : {}),
    allowAt: `${at}.allow`,
    missing: `not in the list ${at}.allow`,
    ...(deny?.length ? { deny: entriesOf(deny, `${at}.deny`) } : {}),
    lenient: true,
  };
}

/** The entry of `provider/model`, else of `provider`, whatever their case. */
function byProvider({ byProvider: policies }: PolicySettings, at: string, { provider, modelId }: LayerFacts): PlacedPolicy | undefined {
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
  const policies = [
    { policy: own.sandbox?.tools, at: `${place}.sandbox.tools` },
    { policy: all.sandbox?.tools, at: "tools.sandbox.tools" },
  ];
  const pick = (list: "allow" | "deny", standard: readonly string[]): readonly PolicyEntry[] => {
    const found = policies.find(({ policy }) => policy?.[list]);
    if (found) return entriesOf(found.policy?.[list], `${found.at}.${list}`);
    const why = list === "allow" ? "available in a sandbox unless a list denies it" : "not available in a sandbox unless a list allows it";
    return standard.map((entry) => ({ entry, at: `tools.sandbox.tools.${list}`, why }));
  };
  const allow = pick("allow", SANDBOX_ALLOW);
  const deny = pick("deny", SANDBOX_DENY);
  const isThere = [...allow, ...deny].some(({ entry }) => toolName(entry) === "image");
  const image = { entry: "image", at: "tools.sandbox.tools.deny", why: "available in a sandbox unless denied" };
  const at = policies.find(({ policy }) => policy?.allow)?.at ?? "tools.sandbox.tools";
  return {
    name: "sandbox",
    ...(allow.length > 0 ? { allow: isThere ? allow : [...allow, image] } : {}),
    allowAt: `${at}.allow`,
    missing: `not in the sandbox tools (${at}.allow)`,
    deny,
    lenient: false,
  };
}

function subagentLayer(all: PolicySettings, { depth, maxDepth }: { readonly depth: number; readonly maxDepth: number }): Layer {
  const at = "tools.subagents.tools";
  const { allow, deny } = all.subagents?.tools ?? {};
  const never = NOT_FOR_SUBAGENTS.map((entry) => ({ entry, at: `${at}.deny`, why: "never available to subagents" }));
  const deepest = NOT_FOR_DEEPEST.map((entry) => ({
    entry,
    at: "agents.defaults.subagents.maxSpawnDepth",
    why: `not available to subagents at depth ${depth}`,
  }));
  return {
    name: "subagent",
    ...(allow && allow.length > 0 ? { allow: entriesOf(allow, `${at}.allow`) } : {}),
    allowAt: `${at}.allow`,
    missing: `not in the list ${at}.allow`,
    deny: [...never, ...(depth >= maxDepth ? deepest : []), ...entriesOf(deny, `${at}.deny`)],
    lenient: false,
  };
}
