import { channelKey, type OpenClawConfig } from "../config/index.ts";
import { canonicalChatType } from "../channels/index.ts";
import { agentKey } from "./agents.ts";
import { accountKey, type Chat, type ChatPeer } from "./chat.ts";

/** Tiers of bindings, most specific first. */
export const TIERS = [
  "binding.peer",
  "binding.peer.parent",
  "binding.guild+roles",
  "binding.guild",
  "binding.team",
  "binding.account",
  "binding.channel",
] as const;

export type Tier = (typeof TIERS)[number];

/** Why an agent was chosen. */
export type MatchedBy = Tier | "default";

/** One parsed item of `bindings`. An undefined field matches everything. */
export interface Binding {
  /** Its index in the list. */
  readonly index: number;
  readonly agentId: string;
  readonly channel: string;
  /** Undefined means any account (`*`). */
  readonly accountId: string | undefined;
  readonly peer: ChatPeer | undefined;
  readonly guildId: string | undefined;
  readonly teamId: string | undefined;
  /** One of them is enough. */
  readonly roles: readonly string[] | undefined;
}

const given = (text: string | undefined): string | undefined => text?.trim() || undefined;

/** The bindings of a configuration, in their order. */
export function readBindings(config: OpenClawConfig): readonly Binding[] {
  return (config.bindings ?? []).map(({ agentId, match }, index) => ({
    index,
    agentId: agentKey(agentId),
    channel: channelKey(match.channel),
    accountId: match.accountId?.trim() === "*" ? undefined : accountKey(match.accountId),
    peer: match.peer && { kind: canonicalChatType(match.peer.kind) ?? "group", id: match.peer.id.trim() },
    guildId: given(match.guildId),
    teamId: given(match.teamId),
    roles: match.roles && match.roles.length > 0 ? match.roles : undefined,
  }));
}

/** The tier that a binding belongs to; one with a peer counts for threads of that peer, too. */
export function tierOf(binding: Binding): Exclude<Tier, "binding.peer.parent"> {
  if (binding.peer) return "binding.peer";
  if (binding.guildId !== undefined) return binding.roles ? "binding.guild+roles" : "binding.guild";
  if (binding.teamId !== undefined) return "binding.team";
  return binding.accountId === undefined ? "binding.channel" : "binding.account";
}

/** Why a tier cannot have a binding for a chat; undefined when it is searched. */
export function notLookedAt(tier: Tier, chat: Chat): string | undefined {
  switch (tier) {
    case "binding.peer":
      return chat.peer ? undefined : "the message names no chat";
    case "binding.peer.parent":
      return chat.parent ? undefined : "the chat is no thread of another";
    case "binding.guild+roles":
      return chat.guildId === undefined ? "the message names no server" : chat.roles.length === 0 ? "the sender has no roles" : undefined;
    case "binding.guild":
      return chat.guildId === undefined ? "the message names no server" : undefined;
    case "binding.team":
      return chat.teamId === undefined ? "the message names no team" : undefined;
    default:
      return undefined;
  }
}
