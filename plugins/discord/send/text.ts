/** Texts, polls, and the message that shows an answer while it is written. */
import type { ChannelPollContext } from "openclaw/plugin-sdk";
import { asChannelError, ChannelError, createEditedPreview, type Fields, textOf, unfit, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { Preview } from "../types.ts";
import type { Component } from "./components.ts";
import { ALLOWED_MENTIONS, channelOf, dropPending, isLost, NO_MENTIONS, post, type PostContext, receipt, removeQuietly, type Sender } from "./sender.ts";

export const MAX_TEXT = 2000;

export const sendText = async (sender: Sender, ctx: PostContext & { readonly text: string }, components?: readonly Component[], more?: Fields) =>
  receipt(await post(sender, ctx, { text: ctx.text, components, more }));

export const MAX_POLL_OPTIONS = 10;
const MAX_QUESTION = 300;
const MAX_ANSWER = 55;
const HOURS = { least: 1, most: 768, usual: 24 };

function pollHours({ durationHours, durationSeconds }: ChannelPollContext["poll"]): number {
  const hours = durationHours ?? (durationSeconds === undefined ? HOURS.usual : Math.ceil(durationSeconds / 3600));
  if (hours < HOURS.least || hours > HOURS.most) throw unfit("poll", `a Discord poll is open for ${HOURS.least} to ${HOURS.most} hours, not ${hours}`);
  return Math.round(hours);
}

export async function sendPoll(sender: Sender, { to, threadId, silent, poll }: ChannelPollContext) {
  const question = poll.question.trim();
  const answers = poll.options.map((option) => option.trim()).filter(Boolean);
  if (question === "" || question.length > MAX_QUESTION) throw unfit("poll", `a poll needs a question of 1 to ${MAX_QUESTION} characters`);
  if (answers.length < 2 || answers.length > MAX_POLL_OPTIONS) throw unfit("poll", `a poll needs 2 to ${MAX_POLL_OPTIONS} answers, not ${answers.length}`);
  const long = answers.find((answer) => answer.length > MAX_ANSWER);
  if (long !== undefined) throw unfit("poll", `a poll answer has at most ${MAX_ANSWER} characters, not ${long.length}`);
  const body = {
    question: { text: question },
    answers: answers.map((text) => ({ poll_media: { text } })),
    duration: pollHours(poll),
    allow_multiselect: (poll.maxSelections ?? 1) > 1,
  };
  const posted = await post(sender, { to, threadId, silent }, { more: { poll: body } });
  return { messageId: posted.id, channelId: posted.channelId, pollId: posted.id };
}

/** Editing twice is editing once: what may have been done is simply done again. */
function repeatable(error: unknown): unknown {
  const failure = asChannelError(error);
  if (failure?.delivery.state !== "unknown") return error;
  const { action, status, description, code, message } = failure;
  return new ChannelError(message, { action, status, description, code, delivery: { state: "retry" } });
}

/** Undefined: the message cannot be edited any more. */
export async function editMessage(
  sender: Sender,
  {
    channelId,
    messageId,
    text,
    components,
    signal,
  }: { channelId: string; messageId: string; text: string; components?: readonly Component[] | undefined; signal?: AbortSignal | undefined },
) {
  const json = { content: text, allowed_mentions: ALLOWED_MENTIONS, ...(components ? { components } : {}) };
  try {
    const edited = await sender.rest.fields("PATCH", `/channels/${channelId}/messages/${messageId}`, { json, signal, isPatient: true });
    return receipt({ id: textOf(edited["id"]) ?? messageId, channelId, at: undefined });
  } catch (error) {
    if (isLost(error)) return undefined;
    throw repeatable(error);
  }
}

/** The message that showed the answer becomes it. */
export async function editPreview(sender: Sender, ctx: PostContext & { readonly text: string; readonly previewId: string }, components?: readonly Component[]) {
  if (!/^\d+$/.test(ctx.previewId)) return undefined;
  const channelId = await channelOf(sender, ctx.to, ctx.threadId, ctx.signal);
  const edited = await editMessage(sender, { channelId, messageId: ctx.previewId, text: ctx.text, components, signal: ctx.signal });
  if (edited) await dropPending(sender, ctx.answersId);
  return edited;
}

/** Discord remembers nonces for "a few minutes". */
export const NONCE_MS = 60_000;
export const PREVIEW = { intervalMs: 1200, minChars: 30, maxChars: MAX_TEXT } as const;

/** Shows an answer in one message that is edited as it grows. Nobody is notified by it. */
export function openPreview(sender: Sender, waiting: Waiting, ctx: PostContext & { readonly previewId?: string | undefined }, signal: AbortSignal): Preview {
  let channelId: string | undefined;
  const channel = async (): Promise<string> => (channelId ??= await channelOf(sender, ctx.to, ctx.threadId, signal));
  return createEditedPreview({
    ...PREVIEW,
    nonceWindowMs: NONCE_MS,
    now: waiting.now,
    signal,
    previewId: ctx.previewId,
    async post(text, nonce) {
      const where = { to: ctx.to, threadId: ctx.threadId, replyToId: ctx.replyToId, nonce, signal };
      const posted = await post(sender, where, { text, more: { allowed_mentions: NO_MENTIONS } });
      channelId = posted.channelId;
      return posted.id;
    },
    async edit(id, text) {
      const json = { content: text, allowed_mentions: NO_MENTIONS };
      await sender.rest.call("PATCH", `/channels/${await channel()}/messages/${id}`, { json, signal });
    },
    remove: async (id) => removeQuietly(sender, channelId ?? (await channelOf(sender, ctx.to, ctx.threadId)), id),
  });
}
