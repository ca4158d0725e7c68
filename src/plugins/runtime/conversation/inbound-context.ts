import { finalizeInboundContext } from "../../../channels/index.ts";
import type { FinalizedMsgContext, MsgContext } from "../../../protocol/index.ts";

/** What a plugin tells of a message, part by part. */
export interface InboundFacts {
  readonly channel: string;
  readonly provider?: string;
  readonly surface?: string;
  readonly accountId?: string;
  readonly messageId?: string;
  readonly messageIdFull?: string;
  readonly timestamp?: number;
  readonly from?: string;
  readonly sender?: Partial<Record<"id" | "name" | "username" | "tag" | "displayLabel" | "e164", string>>;
  readonly conversation?: {
    readonly kind?: string;
    readonly id?: string;
    readonly label?: string;
    readonly spaceId?: string;
    readonly threadId?: string | number;
    readonly nativeChannelId?: string;
  };
  readonly route?: {
    readonly agentId?: string;
    readonly accountId?: string;
    readonly sessionKey?: string;
    readonly routeSessionKey?: string;
    readonly dispatchSessionKey?: string;
    readonly parentSessionKey?: string;
  };
  readonly reply?: {
    readonly to?: string;
    readonly originatingTo?: string;
    readonly replyToId?: string;
    readonly replyToIdFull?: string;
    readonly messageThreadId?: string | number;
  };
  readonly message?: Partial<Record<"body" | "rawBody" | "bodyForAgent" | "commandBody" | "bodyForCommands", string>> & {
    readonly inboundHistory?: MsgContext["InboundHistory"];
  };
  readonly access?: { readonly commands?: { readonly authorized?: boolean }; readonly mentions?: { readonly wasMentioned?: boolean } };
  readonly media?: readonly { readonly path?: string; readonly url?: string; readonly contentType?: string }[];
  readonly supplemental?: {
    readonly quote?: { readonly id?: string; readonly body?: string; readonly sender?: string; readonly isQuote?: boolean };
    readonly forwarded?: { readonly from?: string; readonly fromType?: string; readonly date?: number };
    readonly thread?: { readonly starterBody?: string; readonly historyBody?: string; readonly label?: string };
    readonly groupSystemPrompt?: string;
    readonly untrustedContext?: string[];
  };
  readonly extra?: Readonly<Record<string, unknown>>;
}

const present = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function mediaFields(media: InboundFacts["media"] = []): Record<string, unknown> {
  const [first] = media;
  if (!first) return {};
  const all = (key: "path" | "url" | "contentType"): string[] | undefined =>
    media.some((one) => one[key] !== undefined) ? media.map((one) => one[key] ?? "") : undefined;
  return present({
    MediaPath: first.path,
    MediaUrl: first.url ?? first.path,
    MediaType: first.contentType,
    MediaPaths: all("path"),
    MediaUrls: all("url") ?? all("path"),
    MediaTypes: all("contentType"),
  });
}

/** The context of a message from what is known about it. */
export function buildInboundContext(facts: InboundFacts): FinalizedMsgContext {
  const { channel, sender = {}, conversation = {}, route = {}, reply = {}, message = {}, supplemental = {} } = facts;
  const direct = (conversation.kind ?? "direct") === "direct";
  const { quote, forwarded, thread } = supplemental;
  const context = present({
    Body: message.body ?? message.rawBody,
    RawBody: message.rawBody,
    BodyForAgent: message.bodyForAgent,
    CommandBody: message.commandBody,
    BodyForCommands: message.bodyForCommands,
    InboundHistory: message.inboundHistory,
    From: facts.from,
    To: reply.to,
    SessionKey: route.dispatchSessionKey ?? route.routeSessionKey ?? route.sessionKey,
    ParentSessionKey: route.parentSessionKey,
    AccountId: route.accountId ?? facts.accountId,
    ChatType: conversation.kind,
    ConversationLabel: conversation.label,
    GroupSubject: direct ? undefined : conversation.label,
    GroupSpace: conversation.spaceId,
    GroupSystemPrompt: supplemental.groupSystemPrompt,
    UntrustedContext: supplemental.untrustedContext,
    Provider: facts.provider ?? channel,
    Surface: facts.surface ?? facts.provider ?? channel,
    OriginatingChannel: channel,
    OriginatingTo: reply.originatingTo ?? reply.to,
    MessageSid: facts.messageId,
    MessageSidFull: facts.messageIdFull,
    MessageThreadId: reply.messageThreadId ?? conversation.threadId,
    Timestamp: facts.timestamp,
    SenderId: sender.id,
    SenderName: sender.name ?? sender.displayLabel,
    SenderUsername: sender.username,
    SenderTag: sender.tag,
    SenderE164: sender.e164,
    ReplyToId: reply.replyToId ?? quote?.id,
    ReplyToIdFull: reply.replyToIdFull,
    ReplyToBody: quote?.body,
    ReplyToSender: quote?.sender,
    ReplyToIsQuote: quote?.isQuote,
    ForwardedFrom: forwarded?.from,
    ForwardedFromType: forwarded?.fromType,
    ForwardedDate: forwarded?.date,
    ThreadStarterBody: thread?.starterBody,
    ThreadHistoryBody: thread?.historyBody,
    ThreadLabel: thread?.label,
    WasMentioned: facts.access?.mentions?.wasMentioned,
    CommandAuthorized: facts.access?.commands?.authorized,
    ...mediaFields(facts.media),
    ...facts.extra,
  });
  return finalizeInboundContext(context as MsgContext);
}
