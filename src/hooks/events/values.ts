/** Shapes shared by several events. A handler gets its own copy, so nothing here is readonly. */

/** One entry of a conversation as in the transcript: `user`, `assistant`, `toolResult`, … */
export interface HookMessage {
  role: string;
  content?: unknown;
  [key: string]: unknown;
}

/** Destination or origin of a message. */
export interface HookOrigin {
  channel?: string;
  accountId?: string;
  to?: string;
  threadId?: string | number;
}

/** The normalized parts of a reply. Channels add their own under `channelData`. */
export interface HookReplyPayload {
  text?: string;
  mediaUrl?: string;
  mediaUrls?: string[];
  replyToId?: string;
  replyToTag?: boolean;
  replyToCurrent?: boolean;
  audioAsVoice?: boolean;
  isError?: boolean;
  channelData?: Record<string, unknown>;
  presentation?: unknown;
  delivery?: unknown;
  attachments?: unknown[];
  interactive?: unknown;
  location?: unknown;
  spokenText?: string;
  fallbackText?: string;
  videoAsNote?: boolean;
  sensitiveMedia?: boolean;
}

/** Ids that connect a call to a trace of the host. */
export interface HookTrace {
  traceId?: string;
  spanId?: string;
  parentSpanId?: string;
  [key: string]: unknown;
}

/** In every event: `pluginConfig` is the configuration of the plugin whose handler is called. */
export interface HookEventBase {
  context?: { pluginConfig?: Record<string, unknown>; [key: string]: unknown };
}

/** In every context of a hook that has a budget: fires when the budget is used up. Created on first read. */
export interface HookContextBase {
  readonly signal?: AbortSignal;
}

/** An observing hook has no result. */
export type NoResult = undefined;
