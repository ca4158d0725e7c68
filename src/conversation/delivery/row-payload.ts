import { AppError } from "../../base/errors.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import type { PollInput, RichText } from "../../protocol/index.ts";
import type { OutgoingFacts } from "./delivery.ts";

/** What an outbox row holds: one message of a platform. */
export interface RowPayload {
  readonly kind: OutgoingFacts["kind"];
  readonly text: string;
  readonly rich?: RichText;
  readonly mediaUrl?: string;
  readonly replyToId?: string;
  readonly threadId?: string | number;
  readonly previewId?: string;
  /** A message that showed it may be there, and nobody knows its id: this one is marked as a repeat, and no other follows it. */
  readonly isPreviewLost?: boolean;
  readonly audioAsVoice?: boolean;
  readonly silent?: boolean;
  readonly gifPlayback?: boolean;
  readonly isError?: boolean;
  readonly channelData?: Record<string, unknown>;
  readonly poll?: PollInput & { readonly isAnonymous?: boolean };
  readonly agentId?: string;
  readonly senderId?: string;
  /** Of the message that is answered. */
  readonly messageId?: string;
  /** The trace that it belongs to. */
  readonly traceId?: string;
  /** Whoever waits for it in the process that wrote it. */
  readonly live?: string;
  /** The key of the `send` that it belongs to. */
  readonly sendKey?: string;
  /** Hooks that changed it, with their plugins: `message_sending by guard`. */
  readonly hooks?: readonly string[];
  /** What plugins said before it was sent, with their times. */
  readonly hookLog?: readonly HookLogEntry[];
  /** What a hook said about a message that it cancelled. */
  readonly metadata?: Record<string, unknown>;
}

/** A row's content as it was written; throws where it is none. */
export function readPayload(value: unknown): RowPayload {
  const payload = value as RowPayload | null;
  if (typeof payload === "object" && payload !== null && typeof payload.text === "string") return payload;
  throw new AppError("INVALID_INPUT", "the content of this delivery cannot be read: expected an object with a text");
}

/** Before a message that may have been seen already. */
export const REPEAT_MARK = "(repeat?) ";

/** The same with a sign that it may have been seen before. */
export function markedAsRepeat(payload: RowPayload): RowPayload {
  const { rich, poll } = payload;
  if (poll) return { ...payload, poll: { ...poll, question: REPEAT_MARK + poll.question } };
  const by = REPEAT_MARK.length;
  const moved = <T extends { start: number; end: number }>(range: T): T => ({ ...range, start: range.start + by, end: range.end + by });
  return {
    ...payload,
    text: REPEAT_MARK + payload.text,
    ...(rich ? { rich: { text: REPEAT_MARK + rich.text, styles: rich.styles.map(moved), links: rich.links.map(moved) } } : {}),
  };
}
