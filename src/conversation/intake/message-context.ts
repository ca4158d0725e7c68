/** A message as commands and plugins see it, and the hooks that ask plugins about it before its turn. */
import { messageOf } from "../../base/errors.ts";
import { canonicalChatType, finalizeInboundContext } from "../../channels/index.ts";
import {
  createHookLog,
  messageTrace,
  type BeforeDispatchEvent,
  type InboundClaimEvent,
  type InboundHookContext,
  type MessageReceivedEvent,
  type QuotedMessage,
} from "../../hooks/index.ts";
import type { ChannelPlugin, FinalizedMsgContext, HostConfig, MsgContext, NormalizedLocation, ReplyPayload } from "../../protocol/index.ts";
import type { CommandVerdict } from "../commands/commands.ts";
import type { Group, Inbound } from "../inbound.ts";
import type { Item } from "../items.ts";
import type { ConversationDeps } from "../ports.ts";

/** Every documented field that an inbound message has. */
export function messageContext(inbound: Inbound): FinalizedMsgContext {
  const { event, access, address, text, channel } = inbound;
  if (inbound.context) return finalizeInboundContext({ ...inbound.context, CommandAuthorized: access.commandAuthorized });
  const { chat, sender, replyTo, mention } = event;
  const direct = canonicalChatType(chat.type) === "direct";
  const body = text === "" ? placeholder(event) : text;
  const context: MsgContext = {
    Body: body,
    RawBody: text,
    CommandBody: text,
    From: direct ? `${channel}:${sender.id}` : `${channel}:${chat.type}:${chat.id}`,
    To: `${channel}:${chat.id}`,
    SessionKey: inbound.sessionKey,
    AccountId: inbound.accountId,
    Provider: channel,
    Surface: channel,
    OriginatingChannel: channel,
    OriginatingTo: address.to,
    ChatType: chat.type,
    MessageSid: event.id,
    Timestamp: event.at ?? inbound.receivedAt,
    SenderId: sender.id,
    CommandSource: event.kind === "command" ? "native" : "text",
    CommandAuthorized: access.commandAuthorized,
    WasMentioned: access.wasMentioned,
    ...present({
      MessageThreadId: chat.threadId,
      IsForum: chat.isForum,
      SenderName: sender.name,
      SenderUsername: sender.username,
      SenderTag: sender.tag,
      SenderE164: sender.e164,
      GroupSubject: direct ? undefined : chat.title,
      GroupChannel: chat.channelName,
      GroupSpace: chat.space,
      GroupSystemPrompt: event.groupSystemPrompt,
      UntrustedContext: event.untrusted,
      ReplyToId: replyTo?.id,
      ReplyToBody: replyTo?.body,
      ReplyToSender: replyTo?.sender,
      ReplyToIsQuote: replyTo?.isQuote,
      BotUsername: mention?.botUsername,
      ...(event.location ? locationFields(event.location) : {}),
    }),
    ...event.context,
  };
  return finalizeInboundContext(context);
}

/** Several messages as one: texts one below the other, the ids of the last, all ids beside. */
export function joined(group: Group): FinalizedMsgContext {
  const last = messageContext(group.at(-1) ?? group[0]);
  if (group.length === 1) return last;
  const contexts = group.map(messageContext);
  const text = (field: "Body" | "RawBody" | "BodyForAgent" | "BodyForCommands"): string =>
    contexts.flatMap((ctx) => (ctx[field] ? [ctx[field]] : [])).join("\n");
  const ids = contexts.flatMap(({ MessageSid }) => (MessageSid === undefined ? [] : [MessageSid]));
  return {
    ...last,
    Body: text("Body"),
    RawBody: text("RawBody"),
    CommandBody: text("BodyForCommands"),
    BodyForAgent: text("BodyForAgent"),
    BodyForCommands: text("BodyForCommands"),
    MessageSids: ids,
    MessageSidFirst: ids[0],
    MessageSidLast: ids.at(-1),
  };
}

const MAX_PATTERNS = 20;

/** What is said without the channel's own way to name us: `claw: /status` is a command. */
export function withoutMentions(ctx: FinalizedMsgContext, plugin: ChannelPlugin | undefined, cfg: HostConfig, agentId: string): FinalizedMsgContext {
  const { mentions } = plugin ?? {};
  const said = ctx.BodyForCommands ?? "";
  if (!mentions || said === "") return ctx;
  const asked = { ctx, cfg, agentId };
  if (mentions.stripMentions) return { ...ctx, BodyForCommands: mentions.stripMentions({ ...asked, text: said }).trim() };
  let left = said;
  for (const pattern of (mentions.stripPatterns?.(asked) ?? []).slice(0, MAX_PATTERNS)) {
    try {
      left = left.replace(new RegExp(pattern, "giu"), " ");
    } catch {
      // A pattern that is none takes nothing out.
    }
  }
  return left === said ? ctx : { ...ctx, BodyForCommands: left.trim() };
}

/** What stands for a message without words. */
function placeholder({ media = [], location }: Inbound["event"]): string {
  if (location) return "<location>";
  const [first] = media;
  if (!first) return "";
  const same = media.every(({ kind }) => kind === first.kind) ? first.kind : "attachment";
  return media.length === 1 ? `<media:${same}>` : `<media:${same}> (${media.length})`;
}

function locationFields(location: NormalizedLocation): Readonly<Record<string, unknown>> {
  const source = location.source ?? (location.isLive ? "live" : location.name || location.address ? "place" : "pin");
  return {
    LocationLat: location.latitude,
    LocationLon: location.longitude,
    LocationAccuracy: location.accuracy,
    LocationName: location.name,
    LocationAddress: location.address,
    LocationSource: source,
    LocationIsLive: location.isLive ?? source === "live",
  };
}

/** Only the fields that are there. */
type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function present<T extends object>(fields: T): Present<T> {
  const found: Present<T> = {};
  for (const key in fields) if (fields[key] !== undefined) found[key] = fields[key] as Exclude<T[typeof key], undefined>;
  return found;
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
    ...messageTrace(inbound.traceId),
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
    media: (event.media ?? []).map(({ ref: _ref, ...facts }) => facts),
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

/** Whether a plugin or an internal hook is asked or notified about messages before their turn. */
export const asksPlugins = ({ hooks, internalHooks }: Pick<ConversationDeps, "hooks" | "internalHooks">): boolean =>
  hooks.has("inbound_claim") || hooks.has("message_received") || hooks.has("before_dispatch") || internalHooks?.has("message", "received") === true;

/** How a message ends that a plugin has dealt with. */
export type PluginVerdict = Extract<CommandVerdict, { readonly kind: "answered" }>;

/** The hooks of a message before its turn, the same for channels and clients. What plugins answered is added to the item, for `why`. */
export interface PluginHooks {
  /** `message_received`, for plugins and for internal hooks. Not waited for. */
  received(inbound: Inbound): void;
  /** `inbound_claim`. Undefined: no plugin took it. */
  claimed(item: Item): Promise<PluginVerdict | undefined>;
  /** `before_dispatch`: the text as a plugin wants it, or that it was dealt with. */
  dispatched(item: Item, ctx: FinalizedMsgContext): Promise<string | PluginVerdict>;
}

function answered(reply: readonly ReplyPayload[], why: string): PluginVerdict {
  return { kind: "answered", outcome: reply.length === 0 ? "silent" : "answered", why, reply };
}

export function createPluginHooks({
  hooks,
  internalHooks: internal,
  clock,
  log,
}: Pick<ConversationDeps, "hooks" | "internalHooks" | "clock" | "log">): PluginHooks {
  return {
    received(inbound) {
      try {
        if (!hooks.has("message_received") && !internal?.has("message", "received")) return;
        const ctx = messageContext(inbound);
        if (hooks.has("message_received")) void hooks.run("message_received", receivedEvent(inbound, ctx), inboundContext(inbound, ctx));
        const { channel: channelId, accountId, address } = inbound;
        const context = { ...receivedEvent(inbound, ctx), channelId, accountId, conversationId: address.to };
        void internal?.trigger("message", "received", inbound.sessionKey, context);
      } catch (error) {
        log.warn(`plugins could not be notified about a message: ${messageOf(error)}`);
      }
    },
    async claimed(item) {
      const inbound = item.last;
      const ctx = messageContext(inbound);
      const hookLog = createHookLog(hooks, clock.now);
      const claim = await hookLog.hooks.run("inbound_claim", claimEvent(inbound, ctx), inboundContext(inbound, ctx));
      item.hooks = [...item.hooks, ...hookLog.entries];
      if (!claim?.handled) return undefined;
      return answered(claim.reply ? [claim.reply] : [], `claimed by ${claim.decidedBy ?? "a plugin"}`);
    },
    async dispatched(item, ctx) {
      const { text, last } = item;
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
