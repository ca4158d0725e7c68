/**
 * The configuration as a plugin sees it: the sections that published plugins read are typed, everything else is there as `unknown`.
 * What the gateway itself works with is the checked type of the `config` module; it fits into this one.
 */

/** A part of the configuration whose keys are defined elsewhere. */
export type ConfigSection = Record<string, unknown>;

export type DmPolicy = "pairing" | "allowlist" | "open" | "disabled";
export type GroupPolicy = "open" | "disabled" | "allowlist";
export type ChatType = "direct" | "group" | "channel";
/** Older name of {@link ChatType}. */
export type RoutePeerKind = ChatType;
export type ChunkMode = "length" | "newline";
export type ReplyToMode = "off" | "first" | "all";
export type MarkdownTableMode = "off" | "bullets" | "code";

export interface MarkdownConfig {
  /** How tables are shown where a platform has none. */
  tables?: MarkdownTableMode | undefined;
}

export interface DmConfig {
  historyLimit?: number | undefined;
}

export interface BlockStreamingCoalesceConfig {
  minChars?: number | undefined;
  maxChars?: number | undefined;
  idleMs?: number | undefined;
}

/** Which tools a group may use. */
export interface GroupToolPolicyConfig {
  allow?: string[] | undefined;
  alsoAllow?: string[] | undefined;
  deny?: string[] | undefined;
}

/** The same by sender: id, name, user name or phone number; `*` for everybody else. */
export type GroupToolPolicyBySenderConfig = Record<string, GroupToolPolicyConfig>;

/** The keys that channels share; a channel adds its own. */
export interface ChannelSection {
  enabled?: boolean | undefined;
  name?: string | undefined;
  dmPolicy?: DmPolicy | undefined;
  groupPolicy?: GroupPolicy | undefined;
  allowFrom?: (string | number)[] | undefined;
  groupAllowFrom?: (string | number)[] | undefined;
  requireMention?: boolean | undefined;
  textChunkLimit?: number | undefined;
  chunkMode?: ChunkMode | undefined;
  mediaMaxMb?: number | undefined;
  historyLimit?: number | undefined;
  blockStreaming?: boolean | undefined;
  responsePrefix?: string | undefined;
  markdown?: MarkdownConfig | undefined;
  accounts?: Record<string, ConfigSection> | undefined;
  [key: string]: unknown;
}

export interface AgentEntry {
  id: string;
  name?: string | undefined;
  default?: boolean | undefined;
  identity?: { name?: string | undefined; emoji?: string | undefined; avatar?: string | undefined; theme?: string | undefined } | undefined;
  [key: string]: unknown;
}

export interface HostConfig {
  agents?: { defaults?: ConfigSection | undefined; list?: AgentEntry[] | undefined; [key: string]: unknown } | undefined;
  channels?: { [id: string]: ConfigSection | undefined } | undefined;
  commands?: { text?: boolean | undefined; native?: boolean | "auto" | undefined; useAccessGroups?: boolean | undefined; [key: string]: unknown } | undefined;
  diagnostics?: { enabled?: boolean | undefined; [key: string]: unknown } | undefined;
  gateway?: ConfigSection | undefined;
  hooks?: ConfigSection | undefined;
  messages?: { ackReaction?: string | undefined; responsePrefix?: string | undefined; messagePrefix?: string | undefined; [key: string]: unknown } | undefined;
  models?: ConfigSection | undefined;
  plugins?: ConfigSection | undefined;
  session?: { store?: string | undefined; [key: string]: unknown } | undefined;
  tools?: ConfigSection | undefined;
  [section: string]: unknown;
}
