/** What the configuration says for a channel, its accounts and the agents that answer there. */
import { knownChannel, type KnownChannel } from "../config/index.ts";
import { isRecord } from "../base/records.ts";
import type { AgentEntry, ChunkMode, HostConfig, HumanDelayConfig, MarkdownTableMode } from "../protocol/index.ts";

export type Section = Readonly<Record<string, unknown>>;

/** The value as an object, if it is one. */
export const sectionOf = (value: unknown): Section | undefined => (isRecord(value) ? value : undefined);

/** The sections that apply to an account, its own first. */
export function channelSections(cfg: Partial<HostConfig> | undefined, channel?: string | null, accountId?: string | null): Section[] {
  const own = channel ? sectionOf(cfg?.channels?.[channel]) : undefined;
  const accounts = sectionOf(own?.["accounts"]);
  if (!own || !accounts) return own ? [own] : [];
  const wanted = (accountId ?? "").trim().toLowerCase() || "default";
  const key = Object.keys(accounts).find((name) => name.trim().toLowerCase() === wanted);
  const account = key === undefined ? undefined : sectionOf(accounts[key]);
  return account ? [account, own] : [own];
}

export interface MessageScope {
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
}

/** The most specific of account, channel and `messages` that sets a text under `key`. */
export function messageSetting(cfg: HostConfig, key: string, { channel, accountId }: MessageScope): string | undefined {
  for (const section of [...channelSections(cfg, channel, accountId), sectionOf(cfg.messages)]) {
    const value = section?.[key];
    if (typeof value === "string") return value;
  }
  return undefined;
}

/** The entry of an agent in `agents.list`. */
function agentEntry(cfg: HostConfig, agentId: string): AgentEntry | undefined {
  const wanted = agentId.trim().toLowerCase();
  return cfg.agents?.list?.find((agent) => agent.id.toLowerCase() === wanted);
}

/** The configured identity of an agent. */
export const agentIdentity = (cfg: HostConfig, agentId: string): NonNullable<AgentEntry["identity"]> => agentEntry(cfg, agentId)?.identity ?? {};

/** Where a channel's section lists the chats that are answered. */
export type GroupMap = NonNullable<KnownChannel["groupMap"]>;

const GROUPS: GroupMap = { chats: "groups" };

/** `groups`, for channels without their own maps. */
export const groupMapOf = (channel: string): GroupMap => knownChannel(channel).groupMap ?? GROUPS;

export function resolveChunkMode(cfg: HostConfig | undefined, channel?: string, accountId?: string | null): ChunkMode {
  const found = channelSections(cfg, channel, accountId);
  for (const section of [...found, ...found.map(({ streaming }) => sectionOf(streaming))]) {
    const mode = section?.["chunkMode"];
    if (mode === "length" || mode === "newline") return mode;
  }
  return "length";
}

const DEFAULT_LIMIT = 4000;

/** Most characters of a message. */
export function resolveTextChunkLimit(
  cfg: HostConfig | undefined,
  channel?: string,
  accountId?: string | null,
  options: { readonly fallbackLimit?: number | undefined } = {},
): number {
  for (const { textChunkLimit: limit } of [...channelSections(cfg, channel, accountId), { textChunkLimit: options.fallbackLimit }]) {
    if (typeof limit === "number" && limit > 0) return limit;
  }
  return DEFAULT_LIMIT;
}

export function resolveMarkdownTableMode(params: {
  readonly cfg?: Partial<HostConfig> | undefined;
  readonly channel?: string | null | undefined;
  readonly accountId?: string | null | undefined;
}): MarkdownTableMode {
  for (const section of channelSections(params.cfg, params.channel, params.accountId)) {
    const tables = sectionOf(section["markdown"])?.["tables"];
    if (tables === "off" || tables === "bullets" || tables === "code") return tables;
  }
  return knownChannel(params.channel ?? "").tablesAsBullets ? "bullets" : "code";
}

/** The pause between replies that makes them look typed: the agent's setting over the general one, key by key. Undefined where none is set. */
export function resolveHumanDelayConfig(cfg: HostConfig, agentId: string): HumanDelayConfig | undefined {
  const general: HumanDelayConfig | undefined = sectionOf(cfg.agents?.defaults?.["humanDelay"]);
  const own: HumanDelayConfig | undefined = sectionOf(agentEntry(cfg, agentId)?.["humanDelay"]);
  if (!general && !own) return undefined;
  return { mode: own?.mode ?? general?.mode, minMs: own?.minMs ?? general?.minMs, maxMs: own?.maxMs ?? general?.maxMs };
}

/** Quiet time before messages of a sender are passed on: the override, the channel's value, the general one, 0. */
export function resolveInboundDebounceMs(params: { readonly cfg: HostConfig; readonly channel: string; readonly overrideMs?: number | undefined }): number {
  const inbound = sectionOf(params.cfg.messages?.["inbound"]);
  for (const ms of [params.overrideMs, sectionOf(inbound?.["byChannel"])?.[params.channel], inbound?.["debounceMs"]]) {
    if (typeof ms === "number" && Number.isFinite(ms) && ms >= 0) return ms;
  }
  return 0;
}

export type AckReactionScope = "all" | "direct" | "group-all" | "group-mentions" | "off" | "none";
export type WhatsAppAckReactionMode = "always" | "mentions" | "never";

export interface AckReactionGateParams {
  /** Default `group-mentions`. */
  scope?: AckReactionScope | undefined;
  isDirect: boolean;
  isGroup: boolean;
  isMentionableGroup: boolean;
  requireMention: boolean;
  canDetectMention: boolean;
  effectiveWasMentioned: boolean;
  shouldBypassMention?: boolean | undefined;
}

/** Whether a message is acknowledged with a reaction. */
export function shouldAckReaction(params: AckReactionGateParams): boolean {
  switch (params.scope ?? "group-mentions") {
    case "all":
      return true;
    case "direct":
      return params.isDirect;
    case "group-all":
      return params.isGroup;
    case "group-mentions":
      return (
        params.isMentionableGroup && params.requireMention && params.canDetectMention && (params.effectiveWasMentioned || params.shouldBypassMention === true)
      );
    default:
      return false;
  }
}

/** The same by WhatsApp's own settings. */
export function shouldAckReactionForWhatsApp(params: {
  emoji: string;
  isDirect: boolean;
  isGroup: boolean;
  directEnabled: boolean;
  groupMode: WhatsAppAckReactionMode;
  wasMentioned: boolean;
  groupActivated: boolean;
}): boolean {
  if (!params.emoji) return false;
  if (params.isDirect) return params.directEnabled;
  if (!params.isGroup || params.groupMode === "never") return false;
  return params.groupMode === "always" || params.wasMentioned || params.groupActivated;
}

const DEFAULT_ACK_REACTION = "👀";

/** Which reaction: account, channel, `messages`, the agent's emoji, 👀. An empty one disables it. */
export function resolveAckReaction(cfg: HostConfig, agentId: string, scope: MessageScope = {}): string {
  return messageSetting(cfg, "ackReaction", scope)?.trim() ?? (agentIdentity(cfg, agentId).emoji?.trim() || DEFAULT_ACK_REACTION);
}
