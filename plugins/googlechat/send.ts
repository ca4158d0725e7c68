/** Messages on their way out. */
import type { ChannelOutboundContext, ReplyPayload } from "openclaw/plugin-sdk";
import {
  asChannelError,
  defined,
  type Fields,
  fieldsOf,
  filesNotSent,
  loadOutgoingFiles,
  type MediaRules,
  textOf,
  unfit,
} from "openclaw/plugin-sdk/channel-kit";
import { GOOGLE_CHAT_MARKERS, loadRichText, type RichTextTools, toMarkers } from "openclaw/plugin-sdk/rich-text";
import type { GoogleChatAccount } from "./account.ts";
import { type GoogleChatApi, isMessage, ifThere, type MessageDraft, parseTarget } from "./api.ts";
import { cardsOf } from "./cards.ts";

export interface Sender {
  readonly account: GoogleChatAccount;
  readonly api: GoogleChatApi;
}

export type SendContext = Pick<ChannelOutboundContext, "cfg" | "to" | "text"> & Partial<ChannelOutboundContext>;

export const TEXT_LIMIT = 4000;
/** With markup. */
const MAX_CHARS = 4096;
/** Of text and cards together. */
const MAX_BYTES = 32_000;
const THREAD = /^spaces\/[\w-]+\/threads\/[\w.-]+$/;
const USER_ONLY = "Google accepts files from Chat apps only with user authorization, which a service account does not have";

let tools: Promise<RichTextTools> | undefined;

/** With the platform's markup; without it where that would be too long. */
export async function messageText({ text, rich }: Pick<SendContext, "text" | "rich">): Promise<string> {
  const parsed = rich ?? (await (tools ??= loadRichText())).parseMarkdown(text, {});
  const marked = toMarkers(parsed, GOOGLE_CHAT_MARKERS);
  return marked.length <= MAX_CHARS ? marked : toMarkers({ text: parsed.text, styles: [], links: [] }, GOOGLE_CHAT_MARKERS);
}

/** The thread that a message goes into: the one that is named, that of the target, or that of the message it answers. */
export async function threadFor({ api }: Sender, space: string, ctx: Pick<SendContext, "to" | "threadId" | "replyToId">): Promise<string | undefined> {
  const named = ctx.threadId === undefined || ctx.threadId === null ? "" : String(ctx.threadId);
  const whole = named === "" || named.includes("/") ? named : `${space}/threads/${named}`;
  const answered = ctx.replyToId ?? "";
  const found = [whole, parseTarget(ctx.to).thread ?? "", answered].find((name) => THREAD.test(name));
  const thread = found ?? (isMessage(answered) ? await api.threads.get(answered) : undefined);
  // A thread of another space would be refused.
  return thread?.startsWith(`${space}/`) ? thread : undefined;
}

function fits(draft: MessageDraft): void {
  const bytes = Buffer.byteLength(JSON.stringify(draft));
  if (bytes > MAX_BYTES) throw unfit("send", `the message has ${bytes} bytes with its cards, the limit of Google Chat is ${MAX_BYTES}`, "TOO_LARGE");
}

const receipt = (space: string, message: Fields) => {
  const at = Date.parse(textOf(message["createTime"]) ?? "");
  const messageId = textOf(message["name"]) ?? "";
  return defined({ channel: "googlechat", messageId, chatId: space, channelId: space, timestamp: Number.isNaN(at) ? undefined : at });
};

const MB = 1024 * 1024;
const RULES: MediaRules = { channel: "googlechat", platform: "Google Chat", image: { maxBytes: 200 * MB }, document: { maxBytes: 200 * MB }, defaultMb: 20 };

interface Attached {
  readonly attachment?: MessageDraft["attachment"];
  /** Stands below the text in place of a file that Google does not take: the address that it is from. */
  readonly note?: string;
}

/** Where Google does not take files of apps, their address goes with the text; one that has none is not sent. */
async function attach({ api }: Sender, space: string, ctx: SendContext, mediaUrl: string): Promise<Attached> {
  const {
    files: [file],
  } = await loadOutgoingFiles({ ...ctx, mediaUrl }, RULES);
  try {
    return { attachment: [{ contentName: file.fileName, attachmentDataRef: { attachmentUploadToken: await api.upload(space, file, ctx.signal) } }] };
  } catch (error) {
    if (asChannelError(error)?.status !== 403) throw error;
    if (/^https?:\/\//i.test(mediaUrl)) return { note: mediaUrl };
    throw filesNotSent([`${file.fileName}: ${USER_ONLY}`], "upload");
  }
}

/** One message, with a file and cards where there are some. */
export async function send(sender: Sender, ctx: SendContext, payload?: ReplyPayload, learn?: (message: Fields) => void) {
  const { api, account } = sender;
  const space = await api.spaceFor(parseTarget(ctx.to));
  const mediaUrl = ctx.mediaUrl ?? payload?.mediaUrl;
  const { attachment, note }: Attached = mediaUrl === undefined ? {} : await attach(sender, space, ctx, mediaUrl);
  const text = [await messageText(ctx), note].filter(Boolean).join("\n\n");
  const cardsV2 = cardsOf(account, payload);
  const draft = defined({ text: text === "" ? undefined : text, cardsV2, attachment, thread: await threadFor(sender, space, ctx) });
  fits(draft);
  const message = await api.create(space, draft, { requestId: ctx.nonce, signal: ctx.signal });
  learn?.(message);
  if (ctx.stalePreviewId) await removeQuietly(sender, ctx.stalePreviewId);
  return receipt(space, message);
}

/** Whether the answer belongs into another thread than the message that showed it. */
async function isElsewhere(sender: Sender, { previewId, ...ctx }: SendContext & { readonly previewId: string }): Promise<boolean> {
  if (!ctx.replyToId && (ctx.threadId ?? "") === "") return false;
  const thread = await threadFor(sender, previewId.split("/").slice(0, 2).join("/"), ctx);
  return thread !== undefined && thread !== parseTarget(ctx.to).thread && thread !== (await sender.api.threads.get(previewId));
}

/** Puts the answer into the message that showed it. Undefined: it cannot be edited any more, or is in the wrong thread. */
export async function editPreview(sender: Sender, ctx: SendContext & { readonly previewId: string; readonly payload: ReplyPayload }) {
  if (await isElsewhere(sender, ctx)) return undefined;
  const draft = defined({ text: await messageText(ctx), cardsV2: cardsOf(sender.account, ctx.payload) });
  fits(draft);
  const edited = await ifThere(sender.api.edit(ctx.previewId, draft, ctx.signal));
  return edited && receipt(textOf(fieldsOf(edited["space"])?.["name"]) ?? ctx.previewId.split("/").slice(0, 2).join("/"), edited);
}

export async function removeQuietly({ api }: Sender, name: string): Promise<void> {
  await api.remove(name).catch(() => undefined);
}
