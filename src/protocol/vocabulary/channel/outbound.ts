/** How a channel sends. */
import type { HostConfig } from "../host-config.ts";
import type { ReplyPayload } from "../reply.ts";
import type { ChannelId } from "./meta.ts";

export type ChannelOutboundTargetMode = "explicit" | "implicit" | "heartbeat";

export interface ChannelOutboundContext {
  cfg: HostConfig;
  to: string;
  text: string;
  mediaUrl?: string | undefined;
  /** Folders that local media may be read from. */
  mediaLocalRoots?: readonly string[] | undefined;
  gifPlayback?: boolean | undefined;
  replyToId?: string | null | undefined;
  threadId?: string | number | null | undefined;
  accountId?: string | null | undefined;
  identity?: { name?: string | undefined; avatarUrl?: string | undefined; emoji?: string | undefined } | undefined;
  deps?: Record<string, unknown> | undefined;
  silent?: boolean | undefined;
}

export interface ChannelOutboundPayloadContext extends ChannelOutboundContext {
  payload: ReplyPayload;
}

export interface OutboundDeliveryResult {
  channel: ChannelId;
  messageId: string;
  chatId?: string | undefined;
  channelId?: string | undefined;
  roomId?: string | undefined;
  conversationId?: string | undefined;
  timestamp?: number | undefined;
  toJid?: string | undefined;
  pollId?: string | undefined;
  target?: { kind: string; id: string } | undefined;
  meta?: Record<string, unknown> | undefined;
}

export interface PollInput {
  question: string;
  options: string[];
  maxSelections?: number | undefined;
  durationSeconds?: number | undefined;
  durationHours?: number | undefined;
}

export interface ChannelPollContext {
  cfg: HostConfig;
  to: string;
  poll: PollInput;
  accountId?: string | null | undefined;
  threadId?: string | null | undefined;
  silent?: boolean | undefined;
  isAnonymous?: boolean | undefined;
}

export interface ChannelPollResult {
  messageId: string;
  toJid?: string | undefined;
  channelId?: string | undefined;
  conversationId?: string | undefined;
  pollId?: string | undefined;
}

export type ResolvedTarget = { ok: true; to: string } | { ok: false; error: Error };

export interface ChannelOutboundAdapter {
  deliveryMode: "direct" | "gateway" | "hybrid";
  /** Nothing: text goes out whole. */
  chunker?: ((text: string, limit: number) => string[]) | null | undefined;
  chunkerMode?: "text" | "markdown" | undefined;
  textChunkLimit?: number | undefined;
  pollMaxOptions?: number | undefined;
  resolveTarget?(params: {
    cfg?: HostConfig | undefined;
    to?: string | undefined;
    allowFrom?: string[] | undefined;
    accountId?: string | null | undefined;
    mode?: ChannelOutboundTargetMode | undefined;
  }): ResolvedTarget;
  /** Only for payloads with `channelData`. */
  sendPayload?(ctx: ChannelOutboundPayloadContext): Promise<OutboundDeliveryResult>;
  sendText?(ctx: ChannelOutboundContext): Promise<OutboundDeliveryResult>;
  sendMedia?(ctx: ChannelOutboundContext): Promise<OutboundDeliveryResult>;
  sendPoll?(ctx: ChannelPollContext): Promise<ChannelPollResult>;
}
