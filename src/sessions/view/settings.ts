import { isRecord } from "../../base/records.ts";
import { parseDuration, type OpenClawConfig } from "../../config/index.ts";

/** When and how old tool results are shortened. */
export interface PruningSettings {
  /** Age of the prompt cache, in milliseconds, after which pruning costs nothing. 0: never. */
  readonly ttlMs: number;
  readonly keepLastAssistants: number;
  readonly softTrimRatio: number;
  readonly hardClearRatio: number;
  readonly minPrunableToolChars: number;
  readonly tools: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly softTrim: { readonly maxChars: number; readonly headChars: number; readonly tailChars: number };
  readonly hardClear: { readonly enabled: boolean; readonly placeholder: string };
}

/** What the view depends on besides the transcript and the model. */
export interface ViewSettings {
  /** Cap on the model's window, in tokens. */
  readonly contextTokens?: number | undefined;
  /** User turns shown; 0 or none: all. */
  readonly historyLimit?: number | undefined;
  /** Images sent at most; the newest stay. */
  readonly maxImages?: number | undefined;
  /** Absent: off. */
  readonly pruning?: PruningSettings | undefined;
}

type Pruning = NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["contextPruning"]>;

const DEFAULT_TTL_MS = 5 * 60_000;

/** The documented defaults under what is configured. Undefined when pruning is off. */
export function pruningSettings(configured: Pruning | undefined): PruningSettings | undefined {
  if (configured?.mode !== "cache-ttl") return undefined;
  return {
    ttlMs: configured.ttl === undefined ? DEFAULT_TTL_MS : (parseDuration(configured.ttl, "m") ?? DEFAULT_TTL_MS),
    keepLastAssistants: configured.keepLastAssistants ?? 3,
    softTrimRatio: configured.softTrimRatio ?? 0.3,
    hardClearRatio: configured.hardClearRatio ?? 0.5,
    minPrunableToolChars: configured.minPrunableToolChars ?? 50_000,
    tools: { allow: configured.tools?.allow ?? [], deny: configured.tools?.deny ?? [] },
    softTrim: { maxChars: 4_000, headChars: 1_500, tailChars: 1_500, ...configured.softTrim },
    hardClear: { enabled: configured.hardClear?.enabled ?? true, placeholder: configured.hardClear?.placeholder ?? "[Old tool result content cleared]" },
  };
}

const KINDS = new Set(["direct", "dm", "group", "channel"]);

const count = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined);

/** A section of the configuration by its key: of a channel, an account or a peer. */
function section(value: unknown, key: string | undefined): Readonly<Record<string, unknown>> | undefined {
  const found = key !== undefined && isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return isRecord(found) ? found : undefined;
}

/** User turns that a session's channel lets through: `dms.<peer>.historyLimit`, else `dmHistoryLimit`; in groups `historyLimit`. An account's setting comes first. */
export function historyLimit(config: OpenClawConfig, sessionKey: string): number | undefined {
  const parts = sessionKey.split(":").slice(sessionKey.startsWith("agent:") ? 2 : 0);
  const kindAt = KINDS.has(parts[1] ?? "") ? 1 : KINDS.has(parts[2] ?? "") ? 2 : -1;
  const channel = kindAt > 0 ? section(config.channels, parts[0]) : undefined;
  if (!channel) return undefined;
  const account = kindAt === 2 ? section(channel["accounts"], parts[1]) : undefined;
  const direct = parts[kindAt] === "direct" || parts[kindAt] === "dm";
  if (!direct) return count(account?.["historyLimit"]) ?? count(channel["historyLimit"]);
  const peer = parts
    .slice(kindAt + 1)
    .join(":")
    .replace(/:(?:thread|topic):.*$/, "");
  const ofPeer = count(section(account?.["dms"], peer)?.["historyLimit"]) ?? count(section(channel["dms"], peer)?.["historyLimit"]);
  return ofPeer ?? count(account?.["dmHistoryLimit"]) ?? count(channel["dmHistoryLimit"]);
}

/** The settings for one session. */
export function viewSettings(config: OpenClawConfig, sessionKey: string): ViewSettings {
  const defaults = config.agents?.defaults;
  return {
    contextTokens: defaults?.contextTokens,
    historyLimit: historyLimit(config, sessionKey),
    pruning: defaults?.contextPruning && pruningSettings(defaults.contextPruning),
  };
}
