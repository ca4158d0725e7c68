/** Groups, mentions, threads, targets and prompts: how a channel takes part in a conversation. */
import type { GroupToolPolicyConfig, HostConfig, ReplyToMode } from "../host-config.ts";
import type { MsgContext } from "../message-context.ts";
import type { AgentTool } from "../tool.ts";
import type { ChannelDirectoryEntryKind } from "./directory.ts";
import type { ChannelId } from "./meta.ts";

export interface ChannelGroupContext {
  cfg: HostConfig;
  groupId?: string | null | undefined;
  /** What people call it, such as `#general`. */
  groupChannel?: string | null | undefined;
  groupSpace?: string | null | undefined;
  accountId?: string | null | undefined;
  senderId?: string | null | undefined;
  senderName?: string | null | undefined;
  senderUsername?: string | null | undefined;
  senderE164?: string | null | undefined;
}

export interface ChannelGroupAdapter {
  resolveRequireMention?(params: ChannelGroupContext): boolean | undefined;
  resolveGroupIntroHint?(params: ChannelGroupContext): string | undefined;
  resolveToolPolicy?(params: ChannelGroupContext): GroupToolPolicyConfig | undefined;
}

interface MentionParams {
  ctx: MsgContext;
  cfg: HostConfig | undefined;
  agentId?: string | undefined;
}

export interface ChannelMentionAdapter {
  /** Regular expressions of what is taken out of a message before an agent reads it. */
  stripPatterns?(params: MentionParams): string[];
  stripMentions?(params: MentionParams & { text: string }): string;
}

export interface ChannelStreamingAdapter {
  blockStreamingCoalesceDefaults?: { minChars: number; idleMs: number } | undefined;
}

export interface ChannelThreadingContext {
  Channel?: string | undefined;
  From?: string | undefined;
  To?: string | undefined;
  ChatType?: string | undefined;
  ReplyToId?: string | undefined;
  ReplyToIdFull?: string | undefined;
  ThreadLabel?: string | undefined;
  MessageThreadId?: string | number | undefined;
}

export interface ChannelThreadingToolContext {
  currentChannelId?: string | undefined;
  currentChannelProvider?: ChannelId | undefined;
  currentThreadTs?: string | undefined;
  replyToMode?: ReplyToMode | undefined;
  hasRepliedRef?: { value: boolean } | undefined;
  /** The message is a new one, not one passed on from another conversation. */
  skipCrossContextDecoration?: boolean | undefined;
}

export interface ChannelThreadingAdapter {
  resolveReplyToMode?(params: { cfg: HostConfig; accountId?: string | null | undefined; chatType?: string | null | undefined }): ReplyToMode;
  allowExplicitReplyTagsWhenOff?: boolean | undefined;
  /** Older name of `allowExplicitReplyTagsWhenOff`. */
  allowTagsWhenOff?: boolean | undefined;
  buildToolContext?(params: {
    cfg: HostConfig;
    accountId?: string | null | undefined;
    context: ChannelThreadingContext;
    hasRepliedRef?: { value: boolean } | undefined;
  }): ChannelThreadingToolContext | undefined;
}

export interface ChannelMessagingAdapter {
  normalizeTarget?(raw: string): string | undefined;
  targetResolver?: { looksLikeId?(raw: string, normalized?: string): boolean; hint?: string | undefined } | undefined;
  formatTargetDisplay?(params: { target: string; display?: string | undefined; kind?: ChannelDirectoryEntryKind | undefined }): string;
}

export interface ChannelAgentPromptAdapter {
  messageToolHints?(params: { cfg: HostConfig; accountId?: string | null | undefined }): string[];
  /** How freely the agent reacts to messages with emoji; undefined: nothing is said about it. */
  reactionGuidance?(params: { cfg: HostConfig; accountId?: string | null | undefined }): { level: "minimal" | "extensive" } | undefined;
}

export interface ChannelElevatedAdapter {
  allowFromFallback?(params: { cfg: HostConfig; accountId?: string | null | undefined }): (string | number)[] | undefined;
}

export interface ChannelCommandAdapter {
  enforceOwnerForCommands?: boolean | undefined;
  skipWhenConfigEmpty?: boolean | undefined;
}

export type ChannelAgentTool = AgentTool;
export type ChannelAgentToolFactory = (params: { cfg?: HostConfig | undefined }) => ChannelAgentTool[];
