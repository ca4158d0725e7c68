/** Polls. */
import type { ChannelPollContext } from "openclaw/plugin-sdk";
import { unfit } from "openclaw/plugin-sdk/channel-kit";
import { post, postFields, type Sender } from "./sender.ts";

export const MAX_POLL_OPTIONS = 10;
const MAX_QUESTION = 300;
const MAX_OPTION = 100;
const SECONDS = { least: 5, most: 600 };

/** In seconds; nothing for a poll that stays open. */
function openPeriod({ durationSeconds, durationHours }: ChannelPollContext["poll"]): number | undefined {
  const seconds = durationSeconds ?? (durationHours === undefined ? undefined : durationHours * 3600);
  if (seconds === undefined) return undefined;
  if (seconds < SECONDS.least || seconds > SECONDS.most) {
    throw unfit(
      "sendPoll",
      `a Telegram poll is open for ${SECONDS.least} to ${SECONDS.most} seconds, not ${seconds}; omit the duration for a poll that stays open`,
    );
  }
  return Math.round(seconds);
}

export async function sendPoll(sender: Sender, ctx: ChannelPollContext) {
  const question = ctx.poll.question.trim();
  const options = ctx.poll.options.map((option) => option.trim()).filter(Boolean);
  if (question === "" || question.length > MAX_QUESTION) throw unfit("sendPoll", `a poll needs a question of 1 to ${MAX_QUESTION} characters`);
  if (options.length < 2 || options.length > MAX_POLL_OPTIONS) throw unfit("sendPoll", `a poll needs 2 to ${MAX_POLL_OPTIONS} answers, not ${options.length}`);
  const long = options.find((option) => option.length > MAX_OPTION);
  if (long !== undefined) throw unfit("sendPoll", `a poll answer has at most ${MAX_OPTION} characters, not ${long.length}`);
  const period = openPeriod(ctx.poll);
  const fields = {
    ...postFields(sender, { to: ctx.to, threadId: ctx.threadId, silent: ctx.silent }),
    question,
    options: options.map((text) => ({ text })),
    is_anonymous: ctx.isAnonymous ?? true,
    allows_multiple_answers: (ctx.poll.maxSelections ?? 1) > 1,
    ...(period === undefined ? {} : { open_period: period }),
  };
  let pollId: string | undefined;
  const posted = await post(sender, fields, async (current) => {
    const message = await sender.client.call("sendPoll", current);
    pollId = message.poll?.id;
    return message;
  });
  return { messageId: String(posted.message_id), conversationId: String(fields.chat_id), ...(pollId === undefined ? {} : { pollId }) };
}
