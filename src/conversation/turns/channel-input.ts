/** Messages of a channel as the agent gets them. */
import type { ChannelFacts, TurnInput } from "../../agent/index.ts";
import { messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { Logger } from "../../base/log/logger.ts";
import { clip } from "../../base/text.ts";
import { looksMade } from "../../base/user-text.ts";
import {
  formatInboundEnvelope,
  resolveEnvelopeFormatOptions,
  AGENT_CAPABILITIES,
  channelSections,
  effectiveChannelConfig,
  formatSenderLabel,
  sectionOf,
} from "../../channels/index.ts";
import { knownChannel, type OpenClawConfig } from "../../config/index.ts";
import type { FinalizedMsgContext, HostConfig, ChannelPlugin, SessionEntry } from "../../protocol/index.ts";
import { chatFields, deliveryPatch } from "../../sessions/index.ts";
import type { Store } from "../../store/index.ts";
import { type Inbound, inboundOf } from "../inbound.ts";
import { filesOf, spokenBody } from "../intake/hearing.ts";
import { messageContext } from "../intake/message-context.ts";
import type { Item, Turn } from "../items.ts";
import type { ConversationContext, ConversationDeps, ItemFiles } from "../ports.ts";
import { knownFiles } from "./understood.ts";

/** A message of the chat that was not for us. */
interface HistoryLine {
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
  /** Of messages that did not fit into the queue. */
  readonly summarised: readonly Item[];
  /** The channel can point to a message by its id. Ids that it only tells messages apart by are no business of the model. */
  readonly namesMessages: boolean;
}

interface ItemInContext {
  readonly item: Item;
  readonly ctx: FinalizedMsgContext;
  /** Of its recordings. */
  readonly transcripts: readonly string[];
}

const MAX_SUMMARY_LINE = 160;
const MAX_BLOCK = 20_000;

/** Data from strangers: labelled, and in a form that cannot end its own block. */
function block(title: string, data: unknown): string {
  const json = JSON.stringify(data, null, 2);
  return `${title} (untrusted, for context only):\n\`\`\`json\n${(json.length > MAX_BLOCK ? `${json.slice(0, MAX_BLOCK)}…` : json).replaceAll("```", "`\u200b``")}\n\`\`\``;
}

/** The fields that have a value; undefined when none has. */
function present(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  let found: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== "") (found ??= {})[name] = value;
  return found;
}

/** What is known about the conversation, the sender, and what the message refers to. Names and quotes stand here and nowhere else. */
function contextBlocks(ctx: FinalizedMsgContext, history: readonly HistoryLine[], messageId: string | undefined): readonly string[] {
  const direct = ctx.ChatType === "direct";
  // Some platforms name the message itself, as the one that an answer would reply to.
  const replyToId = messageId === undefined || ctx.ReplyToId === messageId ? undefined : ctx.ReplyToId;
  const conversation = present({
    message_id: messageId,
    reply_to_id: replyToId,
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
    id: replyToId,
    sender: ctx.ReplyToSender,
    body: ctx.ReplyToBody,
    is_quote: ctx.ReplyToIsQuote,
  });
  const forwarded = present({ from: ctx.ForwardedFrom, type: ctx.ForwardedFromType, username: ctx.ForwardedFromUsername, title: ctx.ForwardedFromTitle });
  const { Sticker } = ctx;
  const sticker = isRecord(Sticker) ? present({ emoji: Sticker["emoji"], set: Sticker["setName"] }) : undefined;
  const location = present({
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
    ...(location ? [block("Location", location)] : []),
    ...(history.length > 0 ? [block("Chat since your last answer", history)] : []),
    ...(ctx.UntrustedContext ?? []).map((text) => block("Channel", text)),
  ];
}

/** A line for each message that did not fit into the queue. */
export function summaryOf(items: readonly Item[]): string {
  const lines = items.map((item) => `- ${item.text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_SUMMARY_LINE)}`);
  return `[${items.length} earlier messages came while you were busy and were shortened]\n${lines.join("\n")}`;
}

/** What was said in a message's recordings stands with what was written. */
function bodyOf({ item, ctx, transcripts }: ItemInContext): string {
  const { text, last, isSpoken } = item;
  if (isSpoken) return spokenBody("", [text]);
  if (transcripts.length > 0) return spokenBody(text, transcripts);
  // A plugin that reads messages by itself may have other words for the agent, unless a part of the message was a command.
  const isReworded = last.context?.BodyForAgent !== undefined && text.trim() === ctx.BodyForCommands?.trim();
  return text === "" ? (ctx.Body ?? "") : isReworded ? (ctx.BodyForAgent ?? text) : text;
}

function enveloped(one: ItemInContext, facts: TextFacts): string {
  const { ctx } = one;
  const { last } = one.item;
  const { sender, at } = last.event;
  return formatInboundEnvelope({
    channel: knownChannel(last.channel).label ?? last.channel.charAt(0).toUpperCase() + last.channel.slice(1),
    from: ctx.ChatType === "direct" ? undefined : ctx.ConversationLabel,
    timestamp: at ?? last.receivedAt,
    previousTimestamp: facts.previousAt,
    body: bodyOf(one),
    chatType: ctx.ChatType,
    sender: { name: sender.name, username: sender.username, tag: sender.tag, e164: sender.e164, id: sender.id },
    envelope: resolveEnvelopeFormatOptions(facts.cfg),
  });
}

/** The id that the model can use for the message. A pressed button has none of its own; the message that it stands under has. */
function usableId(ctx: FinalizedMsgContext, { event }: Inbound, namesMessages: boolean): string | undefined {
  if (!namesMessages) return undefined;
  const buttonId = ctx["ButtonMessageId"];
  if (event.kind === "button") return typeof buttonId === "string" ? buttonId : undefined;
  return event.kind === "message" || event.kind === "edit" ? ctx.MessageSid : undefined;
}

/** What the model reads of one or more items: data about them, then their texts, each with its envelope. */
function messageText(items: readonly ItemInContext[], { item: last, ctx }: ItemInContext, facts: TextFacts): string {
  const texts = items.map((one) => enveloped(one, facts));
  const many = texts.length > 1 ? [`[${texts.length} messages that came while you were busy]`] : [];
  const summary = facts.summarised.length === 0 ? [] : [summaryOf(facts.summarised)];
  const messageId = usableId(ctx, last.last, facts.namesMessages);
  return [...contextBlocks(ctx, facts.history, messageId), ...summary, ...many, texts.join("\n\n"), ...facts.mediaLines].join("\n\n");
}

/** An address that could be a sentence is none that the system prompt repeats. */
const ID = /^[^\s\p{C}]{1,128}$/u;

/** Facts of the chat that do not change from message to message, for the system prompt. Nothing in it was written by a person. */
function stableFacts({ channel, accountId, event, address }: Inbound): string {
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

const DEFAULT_LIMIT = 50;
const MOST = 500;
const MAX_BODY = 2000;

function limitOf(cfg: HostConfig, { channel, accountId, agentId }: Inbound): number {
  const own = effectiveChannelConfig(cfg, channel, accountId)["historyLimit"];
  const groupChat = sectionOf(cfg.messages?.["groupChat"]);
  const ofAgent = sectionOf(cfg.agents?.list?.find(({ id }) => id.toLowerCase() === agentId)?.["groupChat"]);
  const limit =
    [own, ofAgent?.["historyLimit"], groupChat?.["historyLimit"]].find(
      (value): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0,
    ) ?? DEFAULT_LIMIT;
  return Math.min(limit, MOST);
}

/** What was written in the group since its last turn and was not for us, oldest first. */
async function historyOf(store: Pick<Store, "read">, cfg: HostConfig, first: Inbound): Promise<readonly HistoryLine[]> {
  const limit = limitOf(cfg, first);
  if (limit === 0) return [];
  const { channel, accountId: account, conversation } = first;
  const rows = await store.read("inbox.ofConversation", { channel, account, conversation, before: first.id, limit });
  const end = rows.findIndex(({ outcome, kind, state }) => kind === "message" && !(state === "settled" && (outcome === "silent" || outcome === "refused")));
  const since = end === -1 ? rows : rows.slice(0, end);
  return since
    .filter(({ outcome, kind, text }) => outcome === "silent" && kind === "message" && text !== "")
    .flatMap((row) => {
      const inbound = inboundOf(row);
      if (!inbound) return [];
      return [{ sender: formatSenderLabel(inbound.event.sender) ?? "?", body: row.text.slice(0, MAX_BODY), timestamp: inbound.event.at ?? row.receivedAt }];
    })
    .toReversed();
}

const MOST_HINTS = 20;
const HINT_CHARS = 500;

interface ChannelSettings {
  readonly plugin: ChannelPlugin;
  readonly cfg: OpenClawConfig;
  readonly log: Logger;
}

/** Asks a plugin for something that a turn can do without: its failure is logged, not the turn's. */
function asked<T>({ plugin, log }: ChannelSettings, what: string, ask: (plugin: ChannelPlugin) => T): T | undefined {
  try {
    return ask(plugin);
  } catch (error) {
    log.warn(`${what} of the channel ${plugin.id} failed: ${messageOf(error)}`);
    return undefined;
  }
}

function channelFacts(settings: ChannelSettings, { channel, accountId }: Pick<Inbound, "channel" | "accountId">): ChannelFacts {
  const { plugin, cfg } = settings;
  // Capabilities that the configuration names: a list, or an object with the scope of inline buttons.
  const named = channelSections(cfg, channel, accountId).find(({ capabilities }) => capabilities !== undefined && capabilities !== null)?.["capabilities"];
  const declared = AGENT_CAPABILITIES.filter((name) => plugin.capabilities?.[name] === true);
  const canHaveButtons = plugin.actions?.supportsButtons !== undefined;
  const buttons = canHaveButtons && asked(settings, "supportsButtons", ({ actions }) => actions?.supportsButtons?.({ cfg, accountId })) === true;
  const hints = asked(settings, "messageToolHints", ({ agentPrompt }) => agentPrompt?.messageToolHints?.({ cfg, accountId }));
  const guidance = asked(settings, "reactionGuidance", ({ agentPrompt }) => agentPrompt?.reactionGuidance?.({ cfg, accountId }));
  const capabilities = [
    ...new Set([
      ...declared,
      ...(buttons ? ["inlineButtons"] : []),
      ...(Array.isArray(named) ? named.filter((name): name is string => typeof name === "string") : []),
    ]),
  ];
  return {
    capabilities,
    ...(canHaveButtons && !capabilities.some((name) => name.toLowerCase() === "inlinebuttons") ? { buttonsOff: true } : {}),
    ...(Array.isArray(hints) && hints.length > 0 ? { hints: hints.slice(0, MOST_HINTS).map((hint) => clip(hint, HINT_CHARS)) } : {}),
    ...(guidance?.level === "minimal" || guidance?.level === "extensive" ? { reactions: guidance.level } : {}),
  };
}

/** What the channel's plugin says about its groups. */
function groupHint(settings: ChannelSettings, { accountId, event: { chat, sender } }: Inbound): string | undefined {
  return asked(settings, "resolveGroupIntroHint", ({ groups }) =>
    groups?.resolveGroupIntroHint?.({ cfg: settings.cfg, groupId: chat.id, accountId, senderId: sender.id }),
  )?.trim();
}

/** The session that a thread's new one begins as a copy of, as its channel says. */
function forkOf({ ParentSessionKey, InheritsParentSession }: FinalizedMsgContext, sessionKey: string): string | undefined {
  if (ParentSessionKey !== undefined || InheritsParentSession !== true) return ParentSessionKey;
  const at = sessionKey.lastIndexOf(":thread:");
  return at < 0 ? undefined : sessionKey.slice(0, at);
}

/** Of each item, in order. */
async function allFiles(deps: ConversationDeps, items: readonly Item[]): Promise<readonly ItemFiles[]> {
  const files: ItemFiles[] = [];
  for (const item of items) files.push(await filesOf(deps, item));
  return files;
}

/** One or more messages of a channel as the agent gets them. */
export async function channelInput(turn: Turn, entry: SessionEntry | undefined, { deps }: ConversationContext): Promise<TurnInput> {
  const { main, items, summarised } = turn;
  const { last } = main;
  const { skillFilter, sender, chat, groupSystemPrompt } = last.event;
  const isDirect = chat.type === "direct";
  const cfg = deps.config.current;
  const plugin = deps.channels.get(last.channel);
  const [history, files] = await Promise.all([isDirect ? [] : historyOf(deps.store, cfg, items[0].messages[0]), allFiles(deps, items)]);
  const known = await knownFiles(
    deps,
    turn,
    entry,
    files.flatMap(({ kept }) => kept),
  );
  const inContext = items.map((item, at) => ({ item, ctx: messageContext(item.last), transcripts: files[at]?.transcripts ?? [] }));
  const newest = inContext.at(-1) ?? { item: main, ctx: messageContext(last), transcripts: [] };
  // Of a plugin that reads messages by itself: it has what was not for us.
  const reported = (newest.ctx.InboundHistory ?? []).map(({ sender: by, body, timestamp = last.receivedAt }) => ({ sender: by, body, timestamp }));
  const { reply, reactions, edit, unsend } = plugin?.capabilities ?? {};
  const message = messageText(inContext, newest, {
    cfg,
    history: [...history, ...reported],
    mediaLines: [...files.flatMap(({ lines }) => lines), ...known.lines],
    summarised,
    // A channel that declares nothing is taken to know its messages by their ids.
    namesMessages: plugin === undefined || reply === true || reactions === true || edit === true || unsend === true,
    ...(typeof entry?.updatedAt === "number" ? { previousAt: entry.updatedAt } : {}),
  });
  const { images } = known;
  const thinking = items.findLast((item) => item.thinking !== undefined)?.thinking;
  const model = items.findLast((item) => item.hints?.model !== undefined)?.hints?.model;
  const settings = plugin && { plugin, cfg, log: deps.log };
  const instructions = [isDirect || !settings ? undefined : groupHint(settings, last), groupSystemPrompt].filter(Boolean).join("\n\n");
  const voiceHint = deps.speech?.isWanted(entry) ? await deps.speech.hint(entry) : undefined;
  const { channel, accountId, to, threadId } = last.address;
  const parent = forkOf(newest.ctx, main.sessionKey);
  return {
    runId: main.id,
    traceId: last.traceId,
    sessionKey: main.sessionKey,
    agentId: main.agentId,
    message,
    isVerbatim: items.some(({ text }) => looksMade(text)),
    channel: last.channel,
    accountId: last.accountId,
    chatId: chat.id,
    senderId: sender.id,
    // Whatever one of them may not, the turn may not.
    owner: [...items, ...summarised].every(({ messages }) => messages.every(({ access }) => access.owner)),
    direct: isDirect,
    inbound: stableFacts(last),
    inboxIds: turn.inputs,
    resumed: main.isResumed,
    // What the session's entry stores of its chat. Groups have sessions of their own.
    entryFields: { ...chatFields(newest.ctx, entry), ...deliveryPatch({ channel, accountId, to, ...(threadId === undefined ? {} : { threadId }) }) },
    ...(settings ? { channelFacts: channelFacts(settings, last) } : {}),
    ...(instructions === "" ? {} : { systemPrompt: instructions }),
    ...(voiceHint === undefined ? {} : { voiceHint }),
    ...(images.length === 0 ? {} : { images }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(model === undefined ? {} : { model }),
    ...(skillFilter === undefined ? {} : { skillFilter }),
    ...(parent === undefined ? {} : { forkOf: parent }),
  };
}
