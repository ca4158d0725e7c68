/** Messages on their way out. */
import type { ChannelOutboundContext } from "openclaw/plugin-sdk";
import { asChannelError, loadOutgoingFiles, type MediaRules, unfit } from "openclaw/plugin-sdk/channel-kit";
import { resolveMarkdownTableMode } from "openclaw/plugin-sdk/markdown-table-runtime";
import { expandLinks, type RichText, type RichTextTools } from "openclaw/plugin-sdk/rich-text";
import type { SignalAccount } from "./account.ts";
import type { Mention, Outgoing } from "./api.ts";
import type { SignalClient } from "./client.ts";
import { type RecentMessages, parseMessageId } from "./recent-messages.ts";
import { parseTarget, type Target, targetText } from "./target.ts";

export interface Sender {
  readonly account: SignalAccount;
  readonly client: SignalClient;
  readonly recent: RecentMessages;
  richText(): Promise<RichTextTools>;
}

export type SendContext = Pick<ChannelOutboundContext, "cfg" | "to" | "text"> & Partial<ChannelOutboundContext>;

const MENTION = /(?<![\w@])@(\+\d{5,15}|uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?![\w-])/gi;

/** People who are named by id in a group are mentioned. */
function mentionsIn(text: string, { kind }: Target): readonly Mention[] {
  if (kind !== "group") return [];
  return [...text.matchAll(MENTION)].map(({ index, 0: whole, 1: author = "" }) => ({ start: index, length: whole.length, author: author.toLowerCase() }));
}

async function richOf({ richText }: Sender, { cfg, accountId, text, rich }: SendContext): Promise<RichText> {
  if (rich) return expandLinks(rich);
  const { parseMarkdown } = await richText();
  return expandLinks(parseMarkdown(text, { tables: resolveMarkdownTableMode({ cfg, channel: "signal", accountId }) }));
}

/** The message that is answered. Undefined where nobody knows who wrote it: the answer goes out without it. */
function quoteOf({ account, recent }: Sender, target: Target, replyToId: string | null | undefined): Outgoing["quote"] {
  const ref = parseMessageId(replyToId);
  if (!ref) return undefined;
  const known = recent.find(account.accountId, targetText(target), ref.timestamp);
  const author = ref.author ?? known?.author ?? (target.kind === "person" ? target.id : undefined);
  return author === undefined ? undefined : { timestamp: ref.timestamp, author, message: known?.text ?? "" };
}

/** A quotation that Signal does not take is left out: the answer is worth more. */
async function withoutQuoteIfNeeded(message: Outgoing, send: (message: Outgoing) => Promise<number>): Promise<number> {
  try {
    return await send(message);
  } catch (error) {
    const failure = asChannelError(error);
    if (message.quote === undefined || failure?.delivery.state !== "failed" || !failure.mentions("quote")) throw error;
    return send({ ...message, quote: undefined });
  }
}

const MB = 1024 * 1024;
const RULES: MediaRules = { channel: "signal", platform: "Signal", image: { maxBytes: 100 * MB }, document: { maxBytes: 100 * MB }, defaultMb: 8 };

/** One message, with files where there are some. */
export async function send(sender: Sender, ctx: SendContext) {
  const { account, client, recent } = sender;
  const target = parseTarget(ctx.to);
  const { files, ...words } = ctx.mediaUrl === undefined ? { files: [], text: ctx.text, rich: ctx.rich } : await loadOutgoingFiles(ctx, RULES);
  const rich = await richOf(sender, { ...ctx, ...words });
  const api = await client.get(ctx.signal);
  const message: Outgoing = { target, rich, mentions: mentionsIn(rich.text, target), files, quote: quoteOf(sender, target, ctx.replyToId), signal: ctx.signal };
  const timestamp = await withoutQuoteIfNeeded(message, (one) => api.send(one));
  recent.note(account.accountId, targetText(target), timestamp, { author: account.number, text: rich.text });
  return { channel: "signal", messageId: String(timestamp), chatId: targetText(target), timestamp };
}

/** Replaces the text of a message of ours. */
export async function edit(sender: Sender, ctx: SendContext, messageId: string): Promise<void> {
  const target = parseTarget(ctx.to);
  const ref = parseMessageId(messageId);
  if (!ref) throw unfit("edit", `"${messageId}" is not a Signal message: expected its timestamp, such as 1737630212345`);
  const rich = await richOf(sender, ctx);
  await (await sender.client.get(ctx.signal)).send({ target, rich, mentions: mentionsIn(rich.text, target), editOf: ref.timestamp });
}

/** Takes a message of ours back, for everybody. */
export async function unsend({ client }: Sender, to: string, messageId: string): Promise<void> {
  const ref = parseMessageId(messageId);
  if (!ref) throw unfit("unsend", `"${messageId}" is not a Signal message: expected its timestamp, such as 1737630212345`);
  await (await client.get()).remove(parseTarget(to), ref.timestamp);
}

export interface ReactionRequest {
  readonly to: string;
  readonly messageId: string;
  /** Empty: ours is taken away. */
  readonly emoji: string;
  readonly remove?: boolean | undefined;
  /** Who wrote the message, where it is named. */
  readonly author?: string | undefined;
}

/** Signal takes a reaction away whatever it was, and wants one named all the same. */
const ANY_EMOJI = "👍";

export async function react({ account, client, recent }: Sender, { to, messageId, emoji, remove = false, author }: ReactionRequest): Promise<void> {
  const target = parseTarget(to);
  const ref = parseMessageId(messageId);
  if (!ref) throw unfit("react", `"${messageId}" is not a Signal message: expected its timestamp, such as 1737630212345`);
  const known = recent.find(account.accountId, targetText(target), ref.timestamp)?.author;
  const writer = author ?? ref.author ?? known ?? (target.kind === "person" ? target.id : undefined);
  if (writer === undefined) throw unfit("react", `the author of message ${ref.timestamp} is unknown; set targetAuthor, a number or uuid:<id>`);
  const isRemoval = remove || emoji === "";
  await (await client.get()).react({ target, author: writer, timestamp: ref.timestamp, emoji: emoji || ANY_EMOJI, remove: isRemoval });
}
