/** How a channel sends. */
import type { HostConfig } from "../host-config.ts";
import type { ReplyPayload } from "../reply.ts";
import type { ChannelId } from "./meta.ts";

export type ChannelOutboundTargetMode = "explicit" | "implicit" | "heartbeat";

export interface ChannelOutboundContext {
  cfg: HostConfig;
  to: string;
  text: string;
  /** The file, or the first of several. */
  mediaUrl?: string | undefined;
  /** All files of an album, where `albums` is declared and there is more than one. */
  mediaUrls?: readonly string[] | undefined;
  /** Folders that local media may be read from. */
  mediaLocalRoots?: readonly string[] | undefined;
  gifPlayback?: boolean | undefined;
  replyToId?: string | null | undefined;
  threadId?: string | number | null | undefined;
  accountId?: string | null | undefined;
  identity?: { name?: string | undefined; avatarUrl?: string | undefined; emoji?: string | undefined } | undefined;
  deps?: Record<string, unknown> | undefined;
  silent?: boolean | undefined;
  /** The same for all attempts of one delivery. */
  nonce?: string | undefined;
  /** An earlier attempt may have arrived. */
  isRepeat?: boolean | undefined;
  /** The event that this answers, by its id, whether or not the message refers to it. */
  answersId?: string | undefined;
  /** The message that showed this answer while it was written: it becomes the answer, where it can be edited. Channels with `editPreview` get it there. */
  previewId?: string | undefined;
  /** A message that showed this answer while it was written and could not become it: to be removed once this one is sent. */
  stalePreviewId?: string | undefined;
  /** The text as styles and links over plain text, where `chunkerMode` is `rich`. */
  rich?: RichText | undefined;
  /** Voice note instead of an audio file. */
  audioAsVoice?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Ranges are UTF-16 offsets, `end` not included. Styles that overlap lie inside of each other. */
export interface RichText {
  text: string;
  styles: RichStyle[];
  links: { start: number; end: number; href: string }[];
}

export interface RichStyle {
  start: number;
  end: number;
  style: "bold" | "italic" | "strikethrough" | "spoiler" | "code" | "code_block" | "blockquote" | "heading";
  /** Of a code block. */
  language?: string | undefined;
  /** Of a heading, 1 to 6. */
  level?: number | undefined;
}

/** May stand on an error that a send throws as `delivery`: what became of the message. Without it the host judges by the error's code. */
export interface SendFailure {
  /** `failed`: trying again is useless. `retry`: it certainly did not arrive. `unknown`: it may have. */
  state: "failed" | "retry" | "unknown";
  retryAfterMs?: number | undefined;
  /** With `failed`: nothing left, because of the files and nothing else. Why each is not sent, for people: the text is sent with these lines instead. */
  filesNotSent?: readonly string[] | undefined;
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
  /** It sends without the connection that receives: messages are sent at once also while the account does not receive. */
  independent?: boolean | undefined;
  /** Nothing: text goes out whole. */
  chunker?: ((text: string, limit: number, target?: { cfg: HostConfig; accountId: string }) => string[]) | null | undefined;
  chunkerMode?: "text" | "markdown" | "rich" | undefined;
  /** The platform drops a repeated message with the same nonce by itself, for this long. */
  nonceWindowMs?: number | undefined;
  /** Attempts and first delay of a delivery. Default 3, 300 ms, doubled up to 30 s. */
  retry?: { attempts?: number | undefined; minDelayMs?: number | undefined; maxDelayMs?: number | undefined; jitter?: number | undefined } | undefined;
  textChunkLimit?: number | undefined;
  /** How long a text is for the platform, where that is more than its characters: `&` may count as `&amp;`. Used with `chunkerMode: "rich"`; longer texts measure more. */
  measureText?: ((text: string) => number) | undefined;
  /** Characters of text that go with a file; a longer text is a message of its own. Default 1024. */
  captionLimit?: number | undefined;
  /** Files that one message may hold. `mixed`: of different kinds; otherwise images and videos, recordings, and documents stay apart. Default: one. */
  albums?: { most: number; mixed?: boolean | undefined } | undefined;
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
  /**
   * Puts the answer into the message `previewId` that showed it while it was written. It may be called any number of times with the same answer: it is
   * called again until it is known to have worked. Undefined: the message cannot be edited any more, so the answer is sent as a new one.
   */
  editPreview?(ctx: ChannelOutboundPayloadContext & { previewId: string }): Promise<OutboundDeliveryResult | undefined>;
  /**
   * Resolves when the platform takes messages now, without sending one; rejects when it does not. A message that may have arrived is sent again after this
   * resolved. Without it the host asks `status.probeAccount`; with neither it waits until something comes in or another message is sent, 10 minutes at most.
   */
  checkSend?(params: ChannelSendCheck): Promise<void>;
}

export interface ChannelSendCheck {
  cfg: HostConfig;
  accountId: string;
  /** A chat that a message waits for. */
  to: string;
  signal: AbortSignal;
}
