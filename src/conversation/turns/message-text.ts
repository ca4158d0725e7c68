import { formatInboundEnvelope, resolveEnvelopeFormatOptions } from "../../channels/index.ts";
import type { FinalizedMsgContext, HostConfig } from "../../protocol/index.ts";
import type { Inbound } from "../inbound.ts";
import { lastMessage, type Item } from "../item.ts";

/** A message of the chat that was not for us. */
export interface HistoryLine {
  readonly sender: string;
  readonly body: string;
  readonly timestamp: number;
}

interface TextFacts {
  readonly cfg: HostConfig;
  /** When the session was last used. */
  readonly previousAt?: number;
  readonly history: readonly HistoryLine[];
  /** Files and what went wrong with them, one line each. */
  readonly mediaLines: readonly string[];
  /** Of messages that found no room in the queue. */
  readonly summarised: readonly Item[];
  /** The channel can point to a message by its id. Ids that it only tells messages apart by are no business of the model. */
  readonly namesMessages: boolean;
}

const MAX_SUMMARY_LINE = 160;
const MAX_BLOCK = 20_000;

/** Data from strangers: labelled, and in a form that cannot end its own block. */
function block(title: string, data: unknown): string {
  const json = JSON.stringify(data, null, 2);
  return `${title} (untrusted, for context only):\n\`\`\`json\n${(json.length > MAX_BLOCK ? `${json.slice(0, MAX_BLOCK)}…` : json).replaceAll("```", "`\u200b``")}\n\`\`\``;
}

const present = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined => {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

/** What is known about the conversation, the sender, and what the message refers to. Names and quotes stand here and nowhere else. */
function contextBlocks(ctx: FinalizedMsgContext, history: readonly HistoryLine[], messageId: string | undefined): readonly string[] {
  const direct = ctx.ChatType === "direct";
  const conversation = present({
    message_id: messageId,
    reply_to_id: messageId === undefined ? undefined : ctx.ReplyToId,
    conversation_label: direct ? undefined : ctx.ConversationLabel,
    group_subject: ctx.GroupSubject,
    group_channel: ctx.GroupChannel,
    group_space: ctx.GroupSpace,
    thread_label: ctx.ThreadLabel,
    was_mentioned: direct ? undefined : ctx.WasMentioned,
  });
  const sender = direct
    ? undefined
    : present({ id: ctx.SenderId, name: ctx.SenderName, username: ctx.SenderUsername, tag: ctx.SenderTag, e164: ctx.SenderE164 });
  const starter = present({ body: ctx.ThreadStarterBody });
  const replied = present({
    id: messageId === undefined ? undefined : ctx.ReplyToId,
    sender: ctx.ReplyToSender,
    body: ctx.ReplyToBody,
    is_quote: ctx.ReplyToIsQuote,
  });
  const forwarded = present({ from: ctx.ForwardedFrom, type: ctx.ForwardedFromType, username: ctx.ForwardedFromUsername, title: ctx.ForwardedFromTitle });
  const { emoji, setName } = (ctx["Sticker"] ?? {}) as { readonly emoji?: string; readonly setName?: string };
  const sticker = present({ emoji, set: setName });
  const place = present({
    lat: ctx["LocationLat"],
    lon: ctx["LocationLon"],
    accuracy: ctx["LocationAccuracy"],
    name: ctx["LocationName"],
    address: ctx["LocationAddress"],
  });
  return [
    ...(conversation ? [block("Conversation", conversation)] : []),
    ...(sender ? [block("Sender", sender)] : []),
    ...(starter ? [block("First message of the thread", starter)] : []),
    ...(replied && ctx.ReplyToBody ? [block("Message that is answered", replied)] : []),
    ...(forwarded ? [block("Forwarded from", forwarded)] : []),
    ...(sticker ? [block("Sticker", sticker)] : []),
    ...(place ? [block("Location", place)] : []),
    ...(history.length > 0 ? [block("Chat since your last answer", history)] : []),
    ...(ctx.UntrustedContext ?? []).map((text) => block("Channel", text)),
  ];
}

/** A line for each message that found no room in the queue. */
export function summaryOf(items: readonly Item[]): readonly string[] {
  if (items.length === 0) return [];
  const lines = items.map((item) => `- ${item.text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_SUMMARY_LINE)}`);
  return [`[${items.length} earlier messages came while you were busy and were shortened]\n${lines.join("\n")}`];
}

function enveloped(item: Item, ctx: FinalizedMsgContext, facts: TextFacts): string {
  const last = lastMessage(item);
  const { sender, at } = last.event;
  return formatInboundEnvelope({
    channel: labelOf(last.channel),
    from: ctx.ChatType === "direct" ? undefined : ctx.ConversationLabel,
    timestamp: at ?? last.receivedAt,
    previousTimestamp: facts.previousAt,
    body: item.text === "" ? (ctx.Body ?? "") : agentText(item.text, ctx, last),
    chatType: ctx.ChatType,
    sender: { name: sender.name, username: sender.username, tag: sender.tag, e164: sender.e164, id: sender.id },
    envelope: resolveEnvelopeFormatOptions(facts.cfg),
  });
}

/** A plugin that reads messages by itself may have other words for the agent, unless a part of the message was a command. */
const agentText = (text: string, ctx: FinalizedMsgContext, { context }: Inbound): string =>
  context?.BodyForAgent !== undefined && text.trim() === ctx.BodyForCommands?.trim() ? (ctx.BodyForAgent ?? text) : text;

const labelOf = (channel: string): string => channel.charAt(0).toUpperCase() + channel.slice(1);

/** The id that the model can use for the message. A pressed button has none of its own; the message that it stands under has. */
function usableId(ctx: FinalizedMsgContext, { event }: Inbound, namesMessages: boolean): string | undefined {
  if (!namesMessages) return undefined;
  if (event.kind === "button") return ctx["ButtonMessageId"] as string | undefined;
  return event.kind === "message" || event.kind === "edit" ? ctx.MessageSid : undefined;
}

/** What the model reads of one or more items: data about them, then what was said, each with its envelope. */
export function messageText(items: readonly Item[], contexts: readonly FinalizedMsgContext[], facts: TextFacts): string {
  const last = contexts.at(-1)!;
  const said = items.map((item, index) => enveloped(item, contexts[index]!, facts));
  const many = said.length > 1 ? [`[${said.length} messages that came while you were busy]`] : [];
  const messageId = usableId(last, lastMessage(items.at(-1)!), facts.namesMessages);
  return [...contextBlocks(last, facts.history, messageId), ...summaryOf(facts.summarised), ...many, said.join("\n\n"), ...facts.mediaLines].join("\n\n");
}

/** An address that could be a sentence is none that the system prompt repeats. */
const ID = /^[^\s\p{C}]{1,128}$/u;

/** Facts of the chat that do not change from message to message, for the system prompt. Nothing in it was written by a person. */
export function stableFacts({ channel, accountId, event, address }: Inbound): string {
  const facts = {
    schema: "openclaw.inbound_meta.v1",
    channel,
    provider: channel,
    surface: channel,
    account_id: accountId,
    ...(ID.test(address.to) ? { chat_id: address.to } : {}),
    chat_type: event.chat.type,
    flags: { is_group_chat: event.chat.type !== "direct" },
  };
  return JSON.stringify(facts);
}

/** The line that shows the agent a stored file. */
export const mediaLine = ({ path, mimeType }: { readonly path: string; readonly mimeType: string }): string => `[media attached: ${path} (${mimeType})]`;
