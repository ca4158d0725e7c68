import { AppError } from "../../base/errors.ts";
import type { SentMessage } from "./messages.ts";

/** What the platform said of a message. */
export interface Receipt {
  readonly messageId: string;
  readonly channel: string;
  readonly [fact: string]: unknown;
}

const FACTS = ["chatId", "channelId", "toJid", "conversationId", "pollId", "roomId", "timestamp"];

/** Of a message that went out. Everything else is an error that says how it stands. */
export function receiptOf({ state, why, channel, receipt = {}, messageIds, rowIds }: SentMessage): Receipt {
  if (state === "sent") {
    const named = FACTS.filter((name) => receipt[name] !== undefined).map((name) => [name, receipt[name]]);
    return { messageId: messageIds.at(-1) ?? "unknown", channel, ...Object.fromEntries(named), ...(why === undefined ? {} : { why }) };
  }
  const details = { state, rowIds, channel, ...(why === undefined ? {} : { why }) };
  if (state === "suppressed") throw new AppError("CONFLICT", `the message was not sent: ${why ?? "it was suppressed"}`, { details });
  if (state === "failed")
    throw new AppError("UNAVAILABLE", `the message could not be sent: ${why ?? "no reason was given"}`, { details: { ...details, retryable: false } });
  const words = state === "unknown" ? "it may have arrived" : "it is queued and will be sent as soon as the channel accepts it";
  throw new AppError("UNAVAILABLE", `the message has no receipt yet: ${words}${why === undefined ? "" : ` (${why})`}`, {
    details: { ...details, retryable: false },
  });
}
