import { channelKey, knownChannel } from "../config/index.ts";
import { accountKey, canonicalChatType } from "../channels/index.ts";

/** Kinds of chats; `dm` is an older word for `direct`. */
export type PeerKind = "direct" | "group" | "channel";

export interface RoutePeer {
  readonly kind: PeerKind | "dm";
  /** As the platform sends it: not trimmed, not lower-cased. */
  readonly id: string | number;
}

/**
 * How a thread is distinguished from its chat: by a suffix of the session key (`thread`), inside the chat's id (`topic`: `<chat>:topic:<n>`), or
 * because it is a chat of its own whose id replaces the parent's (`own`).
 */
export type ThreadForm = "thread" | "topic" | "own";

/** Where a message was written. */
export interface RouteLocation {
  readonly channel: string;
  /** The account that received it; `default` without one. */
  readonly accountId?: string | undefined;
  /** The chat: the sender of a direct message, else the group or channel. Without one it is the agent's main session. */
  readonly peer?: RoutePeer | undefined;
  /** The chat that a thread belongs to: its bindings apply to the thread. */
  readonly parentPeer?: RoutePeer | undefined;
  readonly threadId?: string | number | undefined;
  /** `topic` in groups of Telegram, `own` on Discord, else `thread`. */
  readonly threadForm?: ThreadForm | undefined;
  /** Discord server. */
  readonly guildId?: string | undefined;
  /** Slack or Teams team. */
  readonly teamId?: string | undefined;
  /** Roles of the sender on the server. */
  readonly roles?: readonly string[] | undefined;
}

/** A chat in the form that bindings are compared with. */
export interface ChatPeer {
  readonly kind: PeerKind;
  readonly id: string;
  /** The chat around a topic that is part of `id`. */
  readonly around?: { readonly id: string; readonly topic: string };
}

/** A parsed location, with canonical fields. */
export interface Chat {
  readonly channel: string;
  readonly accountId: string;
  readonly peer?: ChatPeer;
  readonly parent?: ChatPeer;
  /** A thread that is a suffix of the session key. */
  readonly thread?: string;
  readonly guildId?: string;
  readonly teamId?: string;
  readonly roles: readonly string[];
}

/** The canonical account id. */
export { accountKey };
export const DEFAULT_ACCOUNT = "default";

function readPeer({ kind, id }: RoutePeer): ChatPeer {
  // An unknown kind is not a direct chat: those may share the main session.
  return { kind: canonicalChatType(kind) ?? "group", id: String(id) };
}

interface Threaded {
  readonly peer: ChatPeer;
  readonly parent?: ChatPeer;
  readonly thread?: string;
}

/** `<chat>:topic:<n>`, as one id or in two parts. */
function withTopic(peer: ChatPeer, topic: string | undefined, parent: ChatPeer | undefined): Threaded {
  const [, chat, inId] = /^([^]+):topic:([^:]+)$/.exec(peer.id) ?? [];
  const isWhole = chat !== undefined && inId !== undefined && (topic === undefined || topic === inId);
  const around = isWhole ? { id: chat, topic: inId } : topic === undefined ? undefined : { id: peer.id, topic };
  if (!around) return { peer, ...(parent ? { parent } : {}) };
  return { peer: { kind: peer.kind, id: `${around.id}:topic:${around.topic}`, around }, parent: parent ?? { kind: peer.kind, id: around.id } };
}

function threaded(peer: ChatPeer, { threadId, threadForm, parentPeer }: RouteLocation, channel: string): Threaded {
  const parent = parentPeer && readPeer(parentPeer);
  const thread = String(threadId ?? "") || undefined;
  const form = threadForm ?? knownChannel(channel).threads ?? "thread";
  if (peer.kind !== "direct" && form === "topic") return withTopic(peer, thread, parent);
  if (peer.kind !== "direct" && form === "own") {
    if (thread === undefined || parent) return { peer, ...(parent ? { parent } : {}) };
    return thread === peer.id ? { peer } : { peer: { kind: peer.kind, id: thread }, parent: peer };
  }
  return { peer, ...(parent ? { parent } : {}), ...(thread === undefined ? {} : { thread }) };
}

/** Parses where a message was written. */
export function parseLocation(location: RouteLocation): Chat {
  const channel = channelKey(location.channel);
  return {
    channel,
    accountId: accountKey(location.accountId),
    ...(location.peer ? threaded(readPeer(location.peer), location, channel) : {}),
    ...(location.guildId ? { guildId: location.guildId } : {}),
    ...(location.teamId ? { teamId: location.teamId } : {}),
    roles: location.roles ?? [],
  };
}
