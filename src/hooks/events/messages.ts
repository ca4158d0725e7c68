/** Inbound and outbound messages. */
import type { HookContextBase, HookEventBase, HookReplyPayload, HookTrace, NoResult } from "./values.ts";

/** Facts about the message and its conversation. */
export interface MessageHookContext extends HookContextBase {
  channelId: string;
  accountId?: string;
  conversationId?: string;
  sessionKey?: string;
  runId?: string;
  messageId?: string;
  senderId?: string;
  trace?: HookTrace;
  traceId?: string;
  spanId?: string;
  parentSpanId?: string;
  /** 0: the message of a person or a client. */
  callDepth?: number;
}

/** The message that is replied to, as far as the reader may see it. */
export interface QuotedMessage {
  replyToId?: string;
  replyToIdFull?: string;
  replyToBody?: string;
  replyToSender?: string;
  replyToIsQuote?: boolean;
}
export interface InboundHookContext extends MessageHookContext, QuotedMessage {}

export interface InboundClaimEvent extends HookEventBase, QuotedMessage {
  content: string;
  body?: string;
  bodyForAgent?: string;
  transcript?: string;
  channel?: string;
  accountId?: string;
  conversationId?: string;
  senderId?: string;
  senderName?: string;
  senderUsername?: string;
  threadId?: string | number;
  messageId?: string;
  timestamp?: number;
  isGroup?: boolean;
  commandAuthorized?: boolean;
  senderIsOwner?: boolean;
  wasMentioned?: boolean;
  media?: unknown[];
  metadata?: Record<string, unknown>;
}
export interface InboundClaimResult {
  handled: boolean;
  /** Absent with `handled`: no reply. */
  reply?: HookReplyPayload;
}

export interface MessageReceivedEvent extends HookEventBase {
  from: string;
  content: string;
  timestamp?: number;
  threadId?: string | number;
  messageId?: string;
  senderId?: string;
  metadata?: Record<string, unknown>;
}

export interface BeforeDispatchEvent extends HookEventBase, QuotedMessage {
  content: string;
  body?: string;
  channel?: string;
  sessionKey?: string;
  senderId?: string;
  isGroup?: boolean;
  timestamp?: number;
  messageId?: string;
}
export interface BeforeDispatchResult {
  /** Handled: processing stops; `text`, if present, is sent instead. */
  handled?: boolean;
  text?: string;
  /** Replaces the content. */
  content?: string;
  /** Stopped. */
  cancel?: boolean;
  cancelReason?: string;
}

/** Number of queued replies, by kind. */
export interface ReplyCounts {
  tool?: number;
  block?: number;
  final?: number;
}
export interface ReplyDispatchEvent extends HookEventBase {
  /** The finalised message context. */
  ctx: Record<string, unknown>;
  runId?: string;
  sessionKey?: string;
  sendPolicy?: "allow" | "deny";
  /** `agent` or `acp`, as filters name it. */
  dispatchKind?: string;
  isHeartbeat?: boolean;
  /** A recording came with the message. */
  inboundAudio?: boolean;
  /** Not supplied: a reply always goes to where its message came from. */
  shouldRouteToOriginating?: boolean;
  originatingChannel?: string;
  originatingTo?: string;
  /** Not supplied: a run whose answer is not delivered is not dispatched. */
  suppressUserDelivery?: boolean;
}
export interface ReplyDispatchContext extends HookContextBase {
  cfg?: unknown;
  dispatcher?: unknown;
  /** Fires when the run is aborted or the handler's budget is used up. */
  abortSignal?: AbortSignal;
  /** Adds a debug line to the log; the gateway itself records how each message ended. */
  recordProcessed?: (...args: unknown[]) => void;
  /** Adds a debug line to the log; a session is idle when its last turn has ended. */
  markIdle?: (...args: unknown[]) => void;
  trace?: HookTrace;
}
export interface ReplyDispatchResult {
  handled: boolean;
  queuedFinal?: boolean;
  counts?: ReplyCounts;
}

export interface MessageSendingEvent extends HookEventBase {
  to: string;
  content: string;
  replyToId?: string | number;
  threadId?: string | number;
  metadata?: Record<string, unknown>;
}
export interface MessageSendingResult {
  content?: string;
  cancel?: boolean;
  cancelReason?: string;
  /** Stored with a cancelled delivery, up to a limit. */
  metadata?: Record<string, unknown>;
}

export interface ReplyPayloadSendingEvent extends HookEventBase {
  payload: HookReplyPayload;
  to?: string;
  kind?: "tool" | "block" | "final";
  /** Model, usage and context of the turn, when known. */
  usageState?: Record<string, unknown>;
  sessionKey?: string;
  runId?: string;
}
export interface ReplyPayloadSendingResult {
  payload?: HookReplyPayload;
  cancel?: boolean;
  cancelReason?: string;
}

export interface MessageSentEvent extends HookEventBase {
  to: string;
  content: string;
  success: boolean;
  error?: string;
  messageId?: string;
}

export interface MessageHooks {
  inbound_claim: { event: InboundClaimEvent; ctx: InboundHookContext; result: InboundClaimResult };
  message_received: { event: MessageReceivedEvent; ctx: InboundHookContext; result: NoResult };
  before_dispatch: { event: BeforeDispatchEvent; ctx: InboundHookContext; result: BeforeDispatchResult };
  reply_dispatch: { event: ReplyDispatchEvent; ctx: ReplyDispatchContext; result: ReplyDispatchResult };
  message_sending: { event: MessageSendingEvent; ctx: MessageHookContext; result: MessageSendingResult };
  reply_payload_sending: { event: ReplyPayloadSendingEvent; ctx: MessageHookContext; result: ReplyPayloadSendingResult };
  message_sent: { event: MessageSentEvent; ctx: MessageHookContext; result: NoResult };
}
