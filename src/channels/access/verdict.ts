import type { ChannelDock, ChannelInboundEvent, ChannelPlugin, HostConfig } from "../../protocol/index.ts";

/** What somebody did in a chat, and everything that decides whether it may reach an agent. */
export interface AccessQuestion {
  readonly cfg: HostConfig;
  readonly plugin: ChannelPlugin | undefined;
  readonly dock?: ChannelDock | undefined;
  readonly channel: string;
  readonly accountId: string;
  readonly event: ChannelInboundEvent;
  /** Ids that were let in by pairing, of this channel and this account only. */
  readonly approved: ReadonlySet<string>;
  /** Words that mean the agent; without them `buildMentionRegexes` is asked for those of `agentId`. */
  readonly mentionPatterns?: readonly RegExp[] | undefined;
  /** What `/activation` set for the session. */
  readonly activation?: "mention" | "always" | undefined;
  readonly agentId?: string | undefined;
}

/** What decided. The same word can let in and turn away: `dm-allowlist` is the list, whether the sender stands on it or not. */
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
  /** An edit, a reaction, somebody who joined: never an occasion for a turn. */
  | "no-turn";

export interface AccessGranted {
  readonly allow: true;
  /** False: the sender may write here, but this starts no turn. It is kept as history. */
  readonly trigger: boolean;
  /** Named as an owner. Pairing alone makes nobody one. */
  readonly owner: boolean;
  readonly commandAuthorized: boolean;
  /** Spoken to, in whichever way. */
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

export type AccessVerdict = AccessGranted | AccessRefused;

/** The answer of one step; undefined lets the next one decide. */
export type Step = { readonly allow: boolean; readonly reason: AccessReason; readonly why: string; readonly path?: string };
