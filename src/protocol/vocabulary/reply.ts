/** What goes out, and how a channel asks for it. */
import type { ImageContent } from "../model-messages.ts";

export interface ReplyPayload {
  text?: string | undefined;
  mediaUrl?: string | undefined;
  mediaUrls?: string[] | undefined;
  replyToId?: string | undefined;
  replyToTag?: boolean | undefined;
  replyToCurrent?: boolean | undefined;
  audioAsVoice?: boolean | undefined;
  isError?: boolean | undefined;
  /** Platform data by channel id. */
  channelData?: Record<string, unknown> | undefined;
  attachments?: unknown[] | undefined;
  presentation?: unknown;
  delivery?: unknown;
  interactive?: unknown;
  location?: unknown;
  spokenText?: string | undefined;
  ttsSupplement?: unknown;
  fallbackText?: string | undefined;
  videoAsNote?: boolean | undefined;
  trustedLocalMedia?: boolean | undefined;
  sensitiveMedia?: boolean | undefined;
  isReasoning?: boolean | undefined;
  isCommentary?: boolean | undefined;
  isCompactionNotice?: boolean | undefined;
  isFallbackNotice?: boolean | undefined;
  isStatusNotice?: boolean | undefined;
}

export type ReplyKind = "tool" | "block" | "final";
export type ReplyCounts = Record<ReplyKind, number>;

export interface ResponsePrefixContext {
  model?: string | undefined;
  modelFull?: string | undefined;
  provider?: string | undefined;
  thinkingLevel?: string | undefined;
  identityName?: string | undefined;
}

export interface HumanDelayConfig {
  mode?: "off" | "natural" | "custom" | undefined;
  minMs?: number | undefined;
  maxMs?: number | undefined;
}

/** How a channel takes replies. */
export interface ReplyDispatcherOptions {
  deliver(payload: ReplyPayload, info: { kind: ReplyKind }): Promise<void> | void;
  responsePrefix?: string | undefined;
  responsePrefixContextProvider?: (() => ResponsePrefixContext) | undefined;
  onHeartbeatStrip?: (() => void) | undefined;
  onReplyStart?: (() => Promise<void> | void) | undefined;
  onIdle?: (() => void) | undefined;
  onCleanup?: (() => void) | undefined;
  onError?: ((error: unknown, info: { kind: ReplyKind }) => void) | undefined;
  onSkip?: ((payload: ReplyPayload, info: { kind: ReplyKind; reason: "empty" | "silent" | "heartbeat" }) => void) | undefined;
  humanDelay?: HumanDelayConfig | undefined;
}

/** One serial chain of deliveries; `true` from a send means queued. */
export interface ReplyDispatcher {
  sendToolResult(payload: ReplyPayload): boolean;
  sendBlockReply(payload: ReplyPayload): boolean;
  sendFinalReply(payload: ReplyPayload): boolean;
  waitForIdle(): Promise<void>;
  getQueuedCounts(): ReplyCounts;
  markComplete(): void;
}

export interface ModelSelectedContext {
  provider: string;
  model: string;
  thinkLevel: string | undefined;
}

export interface ReplyOptions {
  runId?: string | undefined;
  abortSignal?: AbortSignal | undefined;
  images?: ImageContent[] | undefined;
  skillFilter?: string[] | undefined;
  disableBlockStreaming?: boolean | undefined;
  blockReplyTimeoutMs?: number | undefined;
  hasRepliedRef?: { value: boolean } | undefined;
  isHeartbeat?: boolean | undefined;
  onModelSelected?: ((ctx: ModelSelectedContext) => void) | undefined;
  onPartialReply?: ((payload: ReplyPayload) => Promise<void> | void) | undefined;
  onReasoningStream?: ((payload: ReplyPayload) => Promise<void> | void) | undefined;
  onReasoningEnd?: (() => Promise<void> | void) | undefined;
  onAssistantMessageStart?: (() => Promise<void> | void) | undefined;
  onBlockReply?: ((payload: ReplyPayload, context?: { abortSignal?: AbortSignal; timeoutMs?: number }) => Promise<void> | void) | undefined;
  onToolResult?: ((payload: ReplyPayload) => Promise<void> | void) | undefined;
  onToolStart?: ((payload: { name?: string; phase?: string }) => Promise<void> | void) | undefined;
}

export interface DispatchResult {
  queuedFinal: boolean;
  counts: ReplyCounts;
}
