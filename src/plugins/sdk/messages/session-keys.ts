/** Keys of sessions, and where a message that we begin belongs. */
import type { ChatType, HostConfig } from "../../../protocol/index.ts";
import { normalizeAccountId } from "../account-ids.ts";

export const DEFAULT_MAIN_KEY = "main";
export const DEFAULT_AGENT_ID = "main";

/** `[a-z0-9_-]`, at most 64 characters; nothing becomes `main`. */
export function normalizeAgentId(id?: string | null): string {
  const text = (id ?? "").trim().toLowerCase();
  return (
    text
      .replaceAll(/[^a-z0-9_-]+/g, "-")
      .replaceAll(/^-+|-+$/g, "")
      .slice(0, 64) || DEFAULT_AGENT_ID
  );
}

export const normalizeMainKey = (key?: string | null): string => (key ?? "").trim().toLowerCase() || DEFAULT_MAIN_KEY;

export const buildAgentMainSessionKey = (params: { readonly agentId: string; readonly mainKey?: string | undefined }): string =>
  `agent:${normalizeAgentId(params.agentId)}:${normalizeMainKey(params.mainKey)}`;

export function parseAgentSessionKey(key?: string | null): { agentId: string; rest: string } | null {
  const [, agentId, rest] = /^agent:([^:]+):(.+)$/.exec((key ?? "").trim().toLowerCase()) ?? [];
  return agentId && rest ? { agentId, rest } : null;
}

export const resolveAgentIdFromSessionKey = (key?: string | null): string => normalizeAgentId(parseAgentSessionKey(key)?.agentId);
export const isSubagentSessionKey = (key?: string | null): boolean => /(?:^|:)subagent:/.test(parseAgentSessionKey(key)?.rest ?? (key ?? "").toLowerCase());
export const isCronSessionKey = (key?: string | null): boolean => (parseAgentSessionKey(key)?.rest ?? "").startsWith("cron:");

export interface SessionPeer {
  readonly kind: ChatType;
  readonly id: string;
}

type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

/** The name that a person's ids on several channels are linked to. */
function linkedName(links: Readonly<Record<string, readonly string[]>> | undefined, channel: string, id: string): string | undefined {
  const candidates = new Set([id, `${channel}:${id}`]);
  return Object.entries(links ?? {})
    .find(([, ids]) => ids.some((entry) => candidates.has(entry.trim().toLowerCase())))?.[0]
    .trim()
    .toLowerCase();
}

/** The session of a peer: groups have their own, direct messages share one as far as `dmScope` says. */
export function buildAgentSessionKey(params: {
  readonly agentId: string;
  readonly channel: string;
  readonly accountId?: string | null | undefined;
  readonly peer?: SessionPeer | null | undefined;
  readonly dmScope?: DmScope | undefined;
  readonly mainKey?: string | undefined;
  readonly identityLinks?: Readonly<Record<string, readonly string[]>> | undefined;
}): string {
  const { peer, dmScope = "main" } = params;
  const channel = params.channel.trim().toLowerCase();
  const prefix = `agent:${normalizeAgentId(params.agentId)}:`;
  const id = peer?.id.trim().toLowerCase() || "unknown";
  if (peer && peer.kind !== "direct") return `${prefix}${channel}:${peer.kind}:${id}`;
  if (!peer || dmScope === "main") return buildAgentMainSessionKey(params);
  const who = linkedName(params.identityLinks, channel, id) ?? id;
  const scope = dmScope === "per-peer" ? "" : dmScope === "per-channel-peer" ? `${channel}:` : `${channel}:${normalizeAccountId(params.accountId)}:`;
  return `${prefix}${scope}direct:${who}`;
}

/** A thread's session beside the one that it began in. */
export function resolveThreadSessionKeys(params: {
  readonly baseSessionKey: string;
  readonly threadId?: string | null | undefined;
  readonly parentSessionKey?: string | undefined;
  readonly useSuffix?: boolean | undefined;
  readonly normalizeThreadId?: ((id: string) => string) | undefined;
}): { sessionKey: string; parentSessionKey?: string | undefined } {
  const thread = params.threadId?.trim();
  if (!thread) return { sessionKey: params.baseSessionKey };
  const id = (params.normalizeThreadId ?? ((text: string) => text.toLowerCase()))(thread);
  const sessionKey = params.useSuffix === false ? params.baseSessionKey : `${params.baseSessionKey}:thread:${id}`;
  return { sessionKey, parentSessionKey: params.parentSessionKey };
}

/** `channel:` or one of its other names before a target, taken off. */
export function stripChannelTargetPrefix(raw: string, ...prefixes: readonly string[]): string {
  const text = raw.trim();
  const found = prefixes.find((prefix) => text.toLowerCase().startsWith(`${prefix.toLowerCase()}:`));
  return found === undefined ? text : text.slice(found.length + 1).trim();
}

/** `user:`, `group:` and their like before a target, taken off. */
export const stripTargetKindPrefix = (raw: string): string =>
  raw
    .trim()
    .replace(/^(?:user|channel|group|conversation|room|dm|direct|thread):/i, "")
    .trim();

export interface OutboundSessionRoute {
  sessionKey: string;
  baseSessionKey: string;
  peer: SessionPeer;
  chatType: ChatType;
  from: string;
  to: string;
  threadId?: string | number | undefined;
  recipientSessionExact?: boolean | undefined;
}

/** The session that a message which we send belongs to. */
export function buildChannelOutboundSessionRoute(params: {
  readonly cfg: HostConfig;
  readonly agentId: string;
  readonly channel: string;
  readonly accountId?: string | null | undefined;
  readonly peer: SessionPeer;
  readonly chatType: ChatType;
  readonly from: string;
  readonly to: string;
  readonly threadId?: string | number | undefined;
  readonly recipientSessionExact?: boolean | undefined;
}): OutboundSessionRoute {
  const { cfg, agentId, channel, accountId, peer, chatType, from, to, threadId, recipientSessionExact } = params;
  const session = cfg["session"] as { dmScope?: DmScope; mainKey?: string; identityLinks?: Record<string, string[]> } | undefined;
  const baseSessionKey = buildAgentSessionKey({
    agentId,
    channel,
    accountId,
    peer,
    dmScope: session?.dmScope,
    mainKey: session?.mainKey,
    identityLinks: session?.identityLinks,
  });
  return {
    sessionKey: baseSessionKey,
    baseSessionKey,
    peer,
    chatType,
    from,
    to,
    ...(threadId === undefined ? {} : { threadId }),
    ...(recipientSessionExact === undefined ? {} : { recipientSessionExact }),
  };
}
