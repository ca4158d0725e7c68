/** Messages on their way out. */
import type { ChannelOutboundContext } from "openclaw/plugin-sdk";
import { asChannelError, type Fields, loadOutgoingFiles, type MediaRules, textOf, textsOf, wholeOf } from "openclaw/plugin-sdk/channel-kit";
import { convertMarkdownTables, resolveMarkdownTableMode } from "openclaw/plugin-sdk/markdown-table-runtime";
import type { IMessageAccount } from "./account.ts";
import { type RunCommand, withOutgoing } from "./attachments.ts";
import type { Echoes } from "./echoes.ts";
import { type Imsg, INVALID_PARAMS } from "./imsg.ts";
import { echoKey, handleOf, parseTarget, type Target, targetParams, targetText } from "./target.ts";

export interface Sender {
  readonly account: IMessageAccount;
  readonly echoes: Echoes;
  readonly run: RunCommand;
  now(): number;
  /** With the program that runs, or one for this call. */
  use<T>(work: (imsg: Imsg) => Promise<T>): Promise<T>;
}

export type SendContext = Pick<ChannelOutboundContext, "cfg" | "to" | "text"> & Partial<ChannelOutboundContext>;

const MB = 1024 * 1024;
const RULES: MediaRules = { channel: "imessage", platform: "iMessage", image: { maxBytes: 100 * MB }, document: { maxBytes: 100 * MB } };
/** Chats and messages that are looked through for one that was sent. */
const LOOK_BACK = 50;

/** Older versions know no replies and ignore them; newer ones refuse where they cannot send any. The message matters more. */
async function request(imsg: Imsg, params: Fields, replyTo: string | undefined, signal: AbortSignal | undefined): Promise<Fields> {
  if (replyTo === undefined) return imsg.send(params, signal);
  try {
    return await imsg.send({ ...params, reply_to: replyTo }, signal);
  } catch (error) {
    const failure = asChannelError(error);
    if (failure?.reason !== INVALID_PARAMS || !failure.mentions("reply")) throw error;
    return imsg.send(params, signal);
  }
}

/** A guid of Messages; what is no such thing cannot be referred to. */
const guidIn = (id: string | null | undefined): string | undefined => (id && !id.startsWith("row:") ? id : undefined);

/** How much longer than the first attempt a repeat may be: it is marked as one. */
const MARK_CHARS = 12;

async function chatIdOf(imsg: Imsg, target: Target): Promise<number | undefined> {
  if (target.kind === "chat_id") return target.id;
  const isIt = (chat: Fields): boolean => {
    if (target.kind === "handle") return handleOf(textOf(chat["identifier"]) ?? "") === echoKey(target) && textsOf(chat["participants"]).length < 2;
    return chat[target.kind === "chat_guid" ? "guid" : "identifier"] === target.id;
  };
  return wholeOf((await imsg.chats(LOOK_BACK)).find(isIt)?.["id"]);
}

/**
 * The first attempt of a message that may have arrived: one of our own with its text, behind the message that it answers, that is no other's receipt.
 * Where that message is not found nothing is known.
 */
async function findSent(imsg: Imsg, { echoes }: Sender, { answersId, isRepeat, mediaUrl, text }: SendContext, target: Target): Promise<string | undefined> {
  if (isRepeat !== true || answersId === undefined || mediaUrl !== undefined) return undefined;
  const chatId = await chatIdOf(imsg, target);
  const rows = chatId === undefined ? [] : await imsg.history(chatId, LOOK_BACK);
  const asked = wholeOf(rows.find(({ guid }) => guid === answersId)?.["id"]);
  if (asked === undefined) return undefined;
  const isFirst = (row: Fields): boolean => {
    const [sent, guid] = [textOf(row["text"])?.trim(), textOf(row["guid"])];
    const isLater = row["is_from_me"] === true && (wholeOf(row["id"]) ?? 0) > asked;
    return (
      isLater && sent !== undefined && guid !== undefined && !echoes.wasSent(guid) && text.trim().endsWith(sent) && text.length - sent.length <= MARK_CHARS
    );
  };
  return textOf(rows.find(isFirst)?.["guid"]);
}

async function deliver(sender: Sender, ctx: SendContext, target: Target, file: string | undefined) {
  const { account, echoes } = sender;
  const text = convertMarkdownTables(ctx.text, resolveMarkdownTableMode({ cfg: ctx.cfg, channel: "imessage", accountId: ctx.accountId }));
  const params: Fields = {
    ...targetParams(target),
    ...(text === "" ? {} : { text }),
    ...(file === undefined ? {} : { file }),
    service: (target.kind === "handle" ? target.service : undefined) ?? account.service,
    region: account.region,
  };
  const arrived = echoes.sending(echoKey(target), text);
  try {
    const result = await sender.use(async (imsg): Promise<Fields> => {
      const guid = await findSent(imsg, sender, { ...ctx, text }, target).catch(() => undefined);
      return guid === undefined ? request(imsg, params, guidIn(ctx.replyToId), ctx.signal) : { guid };
    });
    const guid = textOf(result["guid"]) ?? textOf(result["message_id"]);
    if (guid !== undefined) echoes.sent(guid);
    const row = wholeOf(result["id"]);
    // Older versions give no id for what was sent.
    const messageId = guid ?? (row === undefined ? (ctx.nonce ?? `imessage-${sender.now()}`) : `row:${row}`);
    return { channel: "imessage", messageId, chatId: targetText(target), timestamp: sender.now() };
  } finally {
    arrived();
  }
}

/** One message, with a file where there is one. */
export async function send(sender: Sender, ctx: SendContext) {
  const target = parseTarget(ctx.to);
  if (ctx.mediaUrl === undefined) return deliver(sender, ctx, target, undefined);
  const {
    files: [file],
  } = await loadOutgoingFiles(ctx, RULES);
  return withOutgoing(sender.account, file, sender.run, (path) => deliver(sender, ctx, target, path));
}
