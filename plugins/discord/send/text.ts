/** Texts, polls, and the message that shows an answer while it is written. */
import type { ChannelPollContext } from "openclaw/plugin-sdk";
import { asChannelError, ChannelError, type Fields, textOf, unfit, type Waiting } from "openclaw/plugin-sdk/channel-kit";
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
  if (hours < HOURS.least || hours > HOURS.most) throw unfit("poll", `a poll on Discord is open for ${HOURS.least} to ${HOURS.most} hours, not ${hours}`);
  return Math.round(hours);
}

export async function sendPoll(sender: Sender, { to, threadId, silent, poll }: ChannelPollContext) {
  const question = poll.question.trim();
  const answers = poll.options.map((option) => option.trim()).filter(Boolean);
  if (question === "" || question.length > MAX_QUESTION) throw unfit("poll", `a poll needs a question of 1 to ${MAX_QUESTION} characters`);
  if (answers.length < 2 || answers.length > MAX_POLL_OPTIONS) throw unfit("poll", `a poll needs 2 to ${MAX_POLL_OPTIONS} answers, not ${answers.length}`);
  const long = answers.find((answer) => answer.length > MAX_ANSWER);
  if (long !== undefined) throw unfit("poll", `an answer of a poll has up to ${MAX_ANSWER} characters, not ${long.length}`);
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

export const PREVIEW = { intervalMs: 1200, minChars: 30, maxChars: MAX_TEXT } as const;
const SLOW_DOWN_MS = 5000;

/** As much as fits, not cut inside of a character. */
function fitting(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const cut = text.slice(0, MAX_TEXT - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Whatever goes wrong with it, the answer itself is not touched. */
export function openPreview(sender: Sender, waiting: Waiting, ctx: PostContext & { readonly previewId?: string | undefined }, signal: AbortSignal): Preview {
  let id = ctx.previewId;
  let channelId: string | undefined;
  let shown = "";
  let wanted = "";
  let isOver = false;
  let mayBeThere = false;
  let quietUntil = 0;
  let working: Promise<void> | undefined;

  async function show(text: string): Promise<void> {
    channelId ??= await channelOf(sender, ctx.to, ctx.threadId, signal);
    if (id === undefined) {
      const posted = await post(
        sender,
        { to: ctx.to, threadId: ctx.threadId, replyToId: ctx.replyToId, signal },
        { text, more: { allowed_mentions: NO_MENTIONS } },
      );
      id = posted.id;
      channelId = posted.channelId;
      return;
    }
    const json = { content: text, allowed_mentions: NO_MENTIONS };
    await sender.rest.call("PATCH", `/channels/${channelId}/messages/${id}`, { json, signal });
  }

  async function work(): Promise<void> {
    while (!isOver && !signal.aborted && wanted !== shown && waiting.now() >= quietUntil) {
      const text = wanted;
      try {
        await show(text);
        shown = text;
      } catch (error) {
        const failure = asChannelError(error);
        if (failure?.delivery.state === "retry") quietUntil = waiting.now() + Math.max(failure.delivery.retryAfterMs ?? 0, SLOW_DOWN_MS);
        else {
          mayBeThere = id === undefined && failure?.delivery.state !== "failed";
          isOver = true;
        }
      }
    }
  }

  return {
    async update(text) {
      if (isOver || (id === undefined && text.length < PREVIEW.minChars)) return;
      wanted = fitting(text);
      working ??= work().finally(() => (working = undefined));
      await working;
    },
    id: () => id ?? (mayBeThere ? null : undefined),
    async seal() {
      isOver = true;
      await working;
      return id;
    },
    async discard() {
      isOver = true;
      await working;
      if (id !== undefined) await removeQuietly(sender, channelId ?? (await channelOf(sender, ctx.to, ctx.threadId)), id);
      id = undefined;
    },
  };
}
