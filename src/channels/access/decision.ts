import type { ChannelDock, ChannelInboundChat, ChannelInboundEvent, ChannelInboundKind, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { EntryContext, Layer } from "./settings.ts";

/** An event in a chat, with everything that decides whether it may reach an agent. */
export interface AccessRequest {
  readonly cfg: HostConfig;
  readonly plugin: ChannelPlugin | undefined;
  readonly dock?: ChannelDock | undefined;
  readonly channel: string;
  readonly accountId: string;
  readonly event: ChannelInboundEvent;
  /** Ids approved by pairing, of this channel and this account only. */
  readonly approved: ReadonlySet<string>;
  /** Patterns that mention the agent; default: `buildMentionRegexes` for `agentId`. */
  readonly mentionPatterns?: readonly RegExp[] | undefined;
  /** The session's `/activation`. */
  readonly activation?: "mention" | "always" | undefined;
  readonly agentId?: string | undefined;
}

/** The rule that decided. The same one can allow and refuse: `dm-allowlist` is the list, whether the sender is on it or not. */
export type AccessReason =
  | "channel-disabled"
  | "bot-sender"
  | "dm-disabled"
  | "dm-open"
  | "dm-allowlist"
  | "dm-pairing"
  | "group-disabled"
  | "group-unknown"
  | "group-open"
  | "group-allowlist"
  | "sender-allowlist"
  | "topic-disabled"
  | "command-unauthorised"
  | "not-mentioned"
  /** An edit, a reaction, a new member: never starts a turn. */
  | "no-turn";

export interface AccessGranted {
  readonly allow: true;
  /** False: the sender may write here, but this starts no turn. It becomes history. */
  readonly trigger: boolean;
  /** Listed as an owner. Pairing alone makes nobody one. */
  readonly owner: boolean;
  readonly commandAuthorized: boolean;
  /** Addressed to the agent, in any way. */
  readonly wasMentioned: boolean;
  readonly requireMention: boolean;
  readonly reason: AccessReason;
  /** One sentence for people. */
  readonly why: string;
  /** The key of the configuration that decided. */
  readonly path?: string;
  /** Ids of the owners on this channel. */
  readonly ownerAllowFrom?: readonly string[];
}

export interface AccessRefused {
  readonly allow: false;
  readonly reason: AccessReason;
  readonly why: string;
  readonly path?: string;
  /** A pairing code should be offered. */
  readonly pairing: boolean;
}

export type AccessDecision = AccessGranted | AccessRefused;

/** The result of one step; undefined lets the next one decide. */
export type Step = { readonly allow: boolean; readonly reason: AccessReason; readonly why: string; readonly path?: string };

/** A request with everything the steps need, parsed once. Events come from plugins: nothing about them is trusted. */
export interface Facts extends EntryContext {
  readonly question: AccessRequest;
  readonly layers: readonly Layer[];
  readonly kind: ChannelInboundKind;
  readonly isDirect: boolean;
  readonly chat: Partial<ChannelInboundChat>;
  readonly text: string;
  /** Comparable ids of the sender. */
  readonly ids: readonly string[];
  /** The sender, for people. */
  readonly who: string;
  readonly approved: ReadonlySet<string>;
  /** An event of this kind may start a turn at all. */
  readonly startsTurn: boolean;
  /** The event may request pairing: not a reaction or a button. */
  readonly canAsk: boolean;
}
