import { messageOf } from "../../base/errors.ts";
import {
  createHookLog,
  messageTrace,
  type BeforeDispatchEvent,
  type InboundClaimEvent,
  type InboundHookContext,
  type MessageReceivedEvent,
  type QuotedMessage,
} from "../../hooks/index.ts";
import type { FinalizedMsgContext, ReplyPayload } from "../../protocol/index.ts";
import type { CommandVerdict } from "../commands/commands.ts";
import { traceOf, type Inbound } from "../inbound.ts";
import { lastMessage, type Item } from "../item.ts";
import type { ConversationDeps } from "../ports.ts";
import { messageContext } from "./message-context.ts";

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

function inboundContext(inbound: Inbound, ctx: FinalizedMsgContext): InboundHookContext {
  const { channel, accountId, address, sessionKey, event, request } = inbound;
  return {
    channelId: channel,
    accountId,
    conversationId: address.to,
    sessionKey,
    ...(request ? { runId: request.runId } : {}),
    messageId: event.id,
    senderId: event.sender.id,
    ...messageTrace(traceOf(inbound)),
    ...quoted(ctx),
  };
}

function receivedEvent({ channel, address, event, text }: Inbound, ctx: FinalizedMsgContext): MessageReceivedEvent {
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

function claimEvent({ channel, accountId, address, access, event, text }: Inbound, ctx: FinalizedMsgContext): InboundClaimEvent {
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

function dispatchEvent({ channel, sessionKey, event }: Inbound, ctx: FinalizedMsgContext, content: string): BeforeDispatchEvent {
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

/** How a message ends that a plugin has dealt with. */
export type PluginVerdict = Extract<CommandVerdict, { readonly kind: "answered" }>;

/** The hooks of a message before its turn, the same for channels and clients. What plugins answered is added to the item, for `why`. */
export interface PluginHooks {
  /** `message_received`, for plugins and for internal hooks. Not waited for. */
  received(inbound: Inbound): void;
  /** `inbound_claim`. Undefined: no plugin took it. */
  claimed(item: Item): Promise<PluginVerdict | undefined>;
  /** `before_dispatch`: the text as a plugin wants it, or that it was dealt with. */
  dispatched(item: Item, ctx: () => FinalizedMsgContext): Promise<string | PluginVerdict>;
}

function answered(reply: readonly ReplyPayload[], why: string): PluginVerdict {
  return { kind: "answered", outcome: reply.length === 0 ? "silent" : "answered", why, reply };
}

export function createPluginHooks({ hooks, internalHooks, clock, log }: Pick<ConversationDeps, "hooks" | "internalHooks" | "clock" | "log">): PluginHooks {
  return {
    received(inbound) {
      try {
        const internal = internalHooks?.();
        if (!hooks.has("message_received") && !internal?.has("message", "received")) return;
        const ctx = messageContext(inbound);
        if (hooks.has("message_received")) void hooks.run("message_received", receivedEvent(inbound, ctx), inboundContext(inbound, ctx));
        void internal?.trigger("message", "received", inbound.sessionKey, { ...receivedEvent(inbound, ctx) });
      } catch (error) {
        log.warn(`plugins could not be notified about a message: ${messageOf(error)}`);
      }
    },
    async claimed(item) {
      if (!hooks.has("inbound_claim")) return undefined;
      const inbound = lastMessage(item);
      const ctx = messageContext(inbound);
      const hookLog = createHookLog(hooks, clock.now);
      const claim = await hookLog.hooks.run("inbound_claim", claimEvent(inbound, ctx), inboundContext(inbound, ctx));
      item.hooks = [...item.hooks, ...hookLog.entries];
      if (!claim?.handled) return undefined;
      return answered(claim.reply ? [claim.reply] : [], `claimed by ${claim.decidedBy ?? "a plugin"}`);
    },
    async dispatched(item, context) {
      const { text } = item;
      if (!hooks.has("before_dispatch")) return text;
      const [last, ctx] = [lastMessage(item), context()];
      const hookLog = createHookLog(hooks, clock.now);
      const answer = await hookLog.hooks.run("before_dispatch", dispatchEvent(last, ctx, text), inboundContext(last, ctx));
      item.hooks = [...item.hooks, ...hookLog.entries];
      if (!answer?.cancel && !answer?.handled) return answer?.content ?? text;
      const by = answer.decidedBy ?? "a plugin";
      if (!answer.cancel) return answered(answer.text === undefined ? [] : [{ text: answer.text }], `answered by ${by}`);
      const reason = answer.cancelReason === undefined ? "" : `: ${answer.cancelReason}`;
      return { kind: "answered", outcome: "refused", why: `stopped by ${by}${reason}`, reply: [] };
    },
  };
}
