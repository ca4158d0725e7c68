/** What a channel says about what it sent. */
import { isRecord } from "../../../base/records.ts";
import type { OutboundDeliveryResult } from "../../../protocol/index.ts";

type Loose = Readonly<Record<string, unknown>>;

/** The result with the channel's name. */
export const attachChannelToResult = <R extends object>(channel: string, result: R): { channel: string } & R => ({ channel, ...result });

/** Nothing had to be sent. */
export const createEmptyChannelResult = (channel: string, result?: object): OutboundDeliveryResult => ({ channel, messageId: "", ...result });

type Send = (ctx: never) => Promise<object> | object;

/** The senders, their results with the channel's name. */
export function createAttachedChannelResultAdapter<S extends Readonly<Record<string, unknown>> & { readonly channel: string }>(
  parts: S,
): { [K in Exclude<keyof S, "channel">]: S[K] extends (ctx: infer C) => unknown ? (ctx: C) => Promise<OutboundDeliveryResult> : S[K] } {
  const { channel, ...senders } = parts;
  const attached = Object.entries(senders).map(([name, send]) => [
    name,
    typeof send === "function" ? async (ctx: never) => attachChannelToResult(channel, await (send as Send)(ctx)) : send,
  ]);
  return Object.fromEntries(attached) as never;
}

export interface MessageReceipt {
  kind: string;
  primaryPlatformMessageId?: string | undefined;
  platformMessageIds: string[];
  parts: { platformMessageId: string; kind: string; index: number; raw: Loose }[];
  threadId?: string | undefined;
  replyToId?: string | undefined;
  sentAt: number;
}

/** One receipt for everything that one reply became. */
export function createMessageReceiptFromOutboundResults(params: {
  readonly results: readonly (Loose & { readonly messageId?: string | undefined })[];
  readonly kind?: string | undefined;
  readonly threadId?: string | undefined;
  readonly replyToId?: string | undefined;
  readonly sentAt?: number | undefined;
}): MessageReceipt {
  const { kind = "text", threadId, replyToId } = params;
  const parts = params.results.flatMap((raw, index) => (raw.messageId ? [{ platformMessageId: raw.messageId, kind, index, raw }] : []));
  return {
    kind,
    primaryPlatformMessageId: parts[0]?.platformMessageId,
    platformMessageIds: [...new Set(parts.map((part) => part.platformMessageId))],
    parts,
    ...(threadId === undefined ? {} : { threadId }),
    ...(replyToId === undefined ? {} : { replyToId }),
    sentAt: params.sentAt ?? Date.now(),
  };
}

/** A channel's `message` part, as given. */
export const defineChannelMessageAdapter = <A extends Loose & { readonly id: string }>(adapter: A): A => adapter;

/** The same from its `outbound` part. */
export function createChannelMessageAdapterFromOutbound(
  params: { readonly id: string; readonly outbound: Loose } & Loose,
): Loose & { readonly id: string; readonly send: Loose } {
  const { id, outbound, ...rest } = params;
  const { sendText, sendMedia, sendPayload } = outbound;
  const send = Object.fromEntries(
    Object.entries({ text: sendText, media: sendMedia, payload: sendPayload }).filter(([, sender]) => typeof sender === "function"),
  );
  return { id, ...rest, send };
}

/** Some of a reply was delivered before the rest failed: it must not be sent again as a whole. */
class ChannelPartialDeliveryError extends Error {
  override readonly name = "ChannelPartialDeliveryError";
  readonly delivery: Loose;

  constructor(cause: unknown, delivery: Loose) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.delivery = delivery;
    Object.assign(this, delivery);
  }
}

export const createChannelPartialDeliveryError = (cause: unknown, delivery: Loose): Error => new ChannelPartialDeliveryError(cause, delivery);
export const isChannelPartialDeliveryError = (error: unknown): boolean => isRecord(error) && error["name"] === "ChannelPartialDeliveryError";

/** The platform never saw the message: it may be sent again. */
export class PlatformMessageNotDispatchedError extends Error {
  override readonly name: string = "PlatformMessageNotDispatchedError";
}
