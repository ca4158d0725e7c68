import {
  messageTrace,
  traceIdOf,
  type BeforeDispatchEvent,
  type InboundClaimEvent,
  type InboundHookContext,
  type MessageReceivedEvent,
  type QuotedMessage,
} from "../../hooks/index.ts";
import type { FinalizedMsgContext } from "../../protocol/index.ts";
import type { Inbound } from "./inbound-record.ts";

/** Only the fields that are there. */
type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}

function quoted(ctx: FinalizedMsgContext): QuotedMessage {
  return present({
    replyToId: ctx.ReplyToId,
    replyToIdFull: ctx.ReplyToIdFull,
    replyToBody: ctx.ReplyToBody,
    replyToSender: ctx.ReplyToSender,
    replyToIsQuote: ctx.ReplyToIsQuote,
  });
}

/** The trace that everything about a message and its answer belongs to. */
export const traceOfMessage = ({ channel, accountId, address, event }: Pick<Inbound, "channel" | "accountId" | "address" | "event">): string =>
  traceIdOf(channel, accountId, address.to, event.id);

export function inboundContext(inbound: Inbound, ctx: FinalizedMsgContext): InboundHookContext {
  const { channel, accountId, address, sessionKey, event, runId } = inbound;
  return {
    channelId: channel,
    accountId,
    conversationId: address.to,
    sessionKey,
    ...(runId === undefined ? {} : { runId }),
    messageId: event.id,
    senderId: event.sender.id,
    ...messageTrace(traceOfMessage(inbound)),
    ...quoted(ctx),
  };
}

export function receivedEvent({ channel, address, event, text }: Inbound, ctx: FinalizedMsgContext): MessageReceivedEvent {
  const { sender, chat } = event;
  return {
    from: ctx.From ?? sender.id,
    content: ctx.BodyForCommands ?? text,
    messageId: event.id,
    senderId: sender.id,
    ...present({ timestamp: ctx.Timestamp, threadId: chat.threadId }),
    metadata: present({
      to: ctx.To,
      provider: channel,
      surface: channel,
      threadId: chat.threadId,
      originatingChannel: channel,
      originatingTo: address.to,
      messageId: event.id,
      senderId: sender.id,
      senderName: sender.name,
      senderUsername: sender.username,
      senderE164: sender.e164,
      channelId: chat.id,
    }),
  };
}

export function claimEvent({ channel, accountId, address, access, event, text }: Inbound, ctx: FinalizedMsgContext): InboundClaimEvent {
  const { sender, chat } = event;
  return {
    content: ctx.BodyForCommands ?? text,
    channel,
    accountId,
    conversationId: address.to,
    senderId: sender.id,
    messageId: event.id,
    isGroup: chat.type !== "direct",
    commandAuthorized: access.commandAuthorized,
    senderIsOwner: access.owner,
    wasMentioned: access.wasMentioned,
    media: (event.media ?? []).map(({ kind, mimeType, fileName, bytes }) => ({ kind, mimeType, fileName, bytes })),
    ...present({
      body: ctx.Body,
      bodyForAgent: ctx.BodyForAgent,
      senderName: sender.name,
      senderUsername: sender.username,
      threadId: chat.threadId,
      timestamp: ctx.Timestamp,
    }),
    ...quoted(ctx),
  };
}

export function dispatchEvent({ channel, sessionKey, event }: Inbound, ctx: FinalizedMsgContext, content: string): BeforeDispatchEvent {
  return {
    content,
    channel,
    sessionKey,
    senderId: event.sender.id,
    isGroup: event.chat.type !== "direct",
    messageId: event.id,
    ...present({ body: ctx.Body, timestamp: ctx.Timestamp }),
    ...quoted(ctx),
  };
}
