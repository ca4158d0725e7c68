/** Texts: sent as HTML, as they are where Telegram cannot read that, or put into the message that showed them while they were written. */
import type { ChannelOutboundContext } from "openclaw/plugin-sdk";
import { asChannelError, type ChannelError } from "openclaw/plugin-sdk/channel-kit";
import type { Rendered } from "../accounts.ts";
import type { Keyboard } from "./buttons.ts";
import { type Detour, messageId, parseTarget, post, type Posted, type PostFields, postFields, receipt, type Sender } from "./sender.ts";

export type TextContext = Pick<ChannelOutboundContext, "to" | "text" | "rich" | "replyToId" | "threadId" | "silent" | "stalePreviewId" | "signal">;

interface TextFields extends PostFields {
  text: string;
  parse_mode?: "HTML";
  reply_markup?: Keyboard;
  link_preview_options?: { is_disabled: boolean };
}

/** Telegram could not read the marks. */
export const cannotParse = (failure: ChannelError): boolean => failure.mentions("can't parse entities", "can't find end", "unsupported start tag");

const asPlain =
  (plain: string): Detour<TextFields> =>
  (failure, fields) => {
    if (fields.parse_mode === undefined || !cannotParse(failure)) return undefined;
    const { parse_mode: _mode, ...rest } = fields;
    return { ...rest, text: plain };
  };

/** Editing twice is editing once: what may have been done is simply done again. */
function repeatable(error: unknown): unknown {
  const failure = asChannelError(error);
  return failure?.delivery.state === "unknown" ? failure.withDelivery({ state: "retry" }) : error;
}

interface Edit {
  readonly chatId: number | string;
  readonly id: number;
  readonly keyboard: Keyboard | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The edited message; nothing where it cannot be edited any more. */
export async function editText(sender: Sender, { html, plain }: Rendered, edit: Edit): Promise<Posted | undefined> {
  const base = {
    chat_id: edit.chatId,
    message_id: edit.id,
    link_preview_options: sender.account.linkPreview ? undefined : { is_disabled: true },
    reply_markup: edit.keyboard,
  };
  const options = { signal: edit.signal };
  try {
    await sender.client.call("editMessageText", { ...base, text: html, parse_mode: "HTML" }, options);
  } catch (error) {
    const failure = asChannelError(error);
    if (failure?.status !== 400) throw repeatable(error);
    if (failure.mentions("message is not modified")) return { message_id: edit.id };
    if (!cannotParse(failure)) return undefined;
    try {
      await sender.client.call("editMessageText", { ...base, text: plain }, options);
    } catch (again) {
      const second = asChannelError(again);
      if (second?.mentions("message is not modified")) return { message_id: edit.id };
      if (second?.status === 400) return undefined;
      throw repeatable(again);
    }
  }
  return { message_id: edit.id };
}

export async function sendText(sender: Sender, ctx: TextContext, keyboard?: Keyboard) {
  const rendered = await sender.render(ctx.text, ctx.rich, sender.account.tables);
  const fields: TextFields = {
    ...postFields(sender, ctx),
    text: rendered.html,
    parse_mode: "HTML",
    ...(keyboard ? { reply_markup: keyboard } : {}),
    ...(sender.account.linkPreview ? {} : { link_preview_options: { is_disabled: true } }),
  };
  const posted = await post(sender, fields, (current) => sender.client.call("sendMessage", current, { signal: ctx.signal }), [asPlain(rendered.plain)]);
  if (ctx.stalePreviewId) await removeStale(sender, ctx, fields.chat_id);
  return receipt(posted, fields.chat_id);
}

const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };

/** Whether an edit would change nothing: no marks, and no address that Telegram would show a preview of. */
function isShownAsIs(shown: string | undefined, { html, plain }: Rendered): boolean {
  if (shown === undefined || shown.trim() !== plain.trim() || /<|\S\.\S/.test(html)) return false;
  return html.replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity]!).trim() === shown.trim();
}

/** The message that showed the answer becomes it. Undefined: it cannot be edited any more. */
export async function editPreview(sender: Sender, ctx: TextContext & { readonly previewId: string }, keyboard?: Keyboard) {
  const id = messageId(ctx.previewId);
  if (id === undefined) return undefined;
  const { chat_id: chatId } = postFields(sender, ctx);
  const rendered = await sender.render(ctx.text, ctx.rich, sender.account.tables);
  if (keyboard === undefined && isShownAsIs(sender.preview.take(chatId, id), rendered)) return receipt({ message_id: id }, chatId);
  const edited = await editText(sender, rendered, { chatId, id, keyboard, signal: ctx.signal });
  return edited && receipt(edited, chatId);
}

/** Another message took the place of the one that showed the answer. */
export async function removeStale(sender: Sender, { stalePreviewId }: Pick<TextContext, "stalePreviewId">, chatId: number | string): Promise<void> {
  const id = messageId(stalePreviewId);
  if (id !== undefined) await removeQuietly(sender, chatId, id);
}

/** Takes a message away; one that stays is no failure of what was sent. */
export async function removeQuietly(sender: Sender, chatId: number | string, id: number): Promise<void> {
  await sender.client.call("deleteMessage", { chat_id: chatId, message_id: id }).catch(() => {});
}

const CHECK_TIMEOUT_MS = 10_000;

/** A refusal is an answer: the API works, whatever it says about this call. */
async function answered(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    const status = asChannelError(error)?.status;
    if (status === undefined || status >= 500 || status === 429) throw error;
  }
}

/**
 * Resolves when the chat can be reached, and the method that sends answers: `getMe` would answer from the API server alone while nothing can be sent.
 * Nothing is sent: an empty text to no chat is always refused.
 */
export async function checkSend(sender: Sender, to: string, signal: AbortSignal): Promise<void> {
  const options = { signal, timeoutMs: CHECK_TIMEOUT_MS };
  await answered(sender.client.call("sendChatAction", { chat_id: sender.currentId(parseTarget(to).chatId), action: "typing" }, options));
  await answered(sender.client.call("sendMessage", { chat_id: 0, text: "" }, options));
}
