import { canonicalChatType, finalizeInboundContext } from "../../channels/index.ts";
import type { FinalizedMsgContext, MsgContext, NormalizedLocation } from "../../protocol/index.ts";
import type { Inbound } from "../inbound.ts";

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
    ...defined({
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
      ...locationFields(event.location),
    }),
    ...event.context,
  };
  return finalizeInboundContext(context);
}

const defined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** What stands for a message without words. */
function placeholder({ media = [], location }: Inbound["event"]): string {
  if (location) return "<location>";
  const [first] = media;
  if (!first) return "";
  const same = media.every(({ kind }) => kind === first.kind) ? first.kind : "attachment";
  return media.length === 1 ? `<media:${same}>` : `<media:${same}> (${media.length})`;
}

function locationFields(location: NormalizedLocation | undefined): Readonly<Record<string, unknown>> {
  if (!location) return {};
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
