import type { ChannelInboundEvent } from "../../protocol/index.ts";

const MAX_SAID = 500;

/** Other people's words inside of one of our lines: quoted, on one line, and short. */
const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_SAID).toWellFormed());

/** What the session's next turn is told about something that was no message. */
export function noticeText(channel: string, { kind, id, chat, sender, text, replyTo }: ChannelInboundEvent): string {
  const where = `${channel} ${chat.type} ${quoted(chat.id)}`;
  const who = `sender ${quoted(sender.id)}`;
  const what = replyTo?.id ?? id;
  if (kind === "edit") return `${where}: ${who} edited message ${quoted(what)}; it now says (untrusted) ${quoted(text)}`;
  if (kind === "reaction") return `${where}: ${who} reacted to message ${quoted(what)} with ${quoted(text)}`;
  if (kind === "member") return `${where}: the members changed (${who}): ${quoted(text)}`;
  return `${where}: ${quoted(text)}`;
}
