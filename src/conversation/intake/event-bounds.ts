import { AppError } from "../../base/errors.ts";
import { printableName } from "../../base/printable.ts";
import type { ChannelInboundEvent } from "../../protocol/index.ts";

/** Longer texts are cut; the model gets a note. */
export const MAX_TEXT = 1_000_000;
const MAX_ID = 512;
const MAX_NAME = 256;
/** Before it is cleaned. */
const MAX_READ = 4096;
const MAX_MEDIA = 32;
const MAX_QUOTE = 20_000;
const MAX_UNTRUSTED = 10;
const CUT = "\n[The message was longer; the rest was left out.]";

const KINDS: ReadonlySet<string> = new Set(["message", "command", "button", "edit", "reaction", "member", "notice"]);
const CHAT_TYPES: ReadonlySet<string> = new Set(["direct", "group", "channel"]);
/** Control characters other than tab and line feed. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

function idOf(name: string, value: unknown): string {
  const id = typeof value === "number" ? String(value) : value;
  if (typeof id === "string" && id.trim() !== "" && id.length <= MAX_ID) return id;
  throw new AppError("INVALID_INPUT", `${name} of an inbound event must be 1 to ${MAX_ID} characters, got ${typeof id === "string" ? id.length : typeof id}`);
}

/** One line of other people's words. */
const lineOf = (value: string | undefined): string | undefined =>
  typeof value === "string" ? printableName(value.slice(0, MAX_READ)).slice(0, MAX_NAME).toWellFormed().trim() || undefined : undefined;

function textOf(value: unknown, most = MAX_TEXT): string {
  if (typeof value !== "string") return "";
  const whole = value.length > most ? `${value.slice(0, most).toWellFormed()}${CUT}` : value.toWellFormed();
  return whole.replaceAll(/\r\n?/g, "\n").replaceAll(CONTROL, "");
}

/** The event with every part inside its bounds. Throws `INVALID_INPUT` for what cannot be a message at all. */
export function boundedEvent(event: ChannelInboundEvent): ChannelInboundEvent {
  if (!KINDS.has(event.kind)) throw new AppError("INVALID_INPUT", `an inbound event must be one of ${[...KINDS].join(", ")}, got ${event.kind}`);
  if (!CHAT_TYPES.has(event.chat.type)) throw new AppError("INVALID_INPUT", `a chat is direct, group or channel, got ${event.chat.type}`);
  const { chat, sender, replyTo } = event;
  return {
    ...event,
    id: idOf("the id", event.id),
    to: idOf("the reply address", event.to),
    text: textOf(event.text),
    chat: {
      ...chat,
      id: idOf("the chat", chat.id),
      title: lineOf(chat.title),
      channelName: lineOf(chat.channelName),
      parentName: lineOf(chat.parentName),
      space: lineOf(chat.space),
    },
    sender: { ...sender, id: idOf("the sender", sender.id), name: lineOf(sender.name), username: lineOf(sender.username), tag: lineOf(sender.tag) },
    media: event.media?.slice(0, MAX_MEDIA),
    untrusted: event.untrusted?.slice(0, MAX_UNTRUSTED).map((text) => textOf(text, MAX_QUOTE)),
    replyTo: replyTo && {
      ...replyTo,
      id: idOf("the answered message", replyTo.id),
      sender: lineOf(replyTo.sender),
      body: replyTo.body === undefined ? undefined : textOf(replyTo.body, MAX_QUOTE),
    },
  };
}
