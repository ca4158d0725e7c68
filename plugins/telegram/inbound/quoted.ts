/** What a message answers, and whom it was forwarded from. Both are other people's words. */
import { fieldsOf, type Fields, given, textOf, wholeOf } from "../fields.ts";
import type { ChannelInboundEvent } from "../types.ts";
import { mediaOf } from "./media.ts";
import { nameOf } from "./people.ts";

type ReplyTo = NonNullable<ChannelInboundEvent["replyTo"]>;

function bodyOf(message: Fields): string | undefined {
  const text = textOf(message["text"]) ?? textOf(message["caption"]);
  const kind = mediaOf(message)[0]?.kind;
  return text ?? (kind === undefined ? undefined : `<media:${kind}>`);
}

/** Every message of a topic that answers nothing else "answers" the one that opened the topic. */
function opensTopic(replied: Fields, message: Fields): boolean {
  if (message["is_topic_message"] !== true) return false;
  return fieldsOf(replied["forum_topic_created"]) !== undefined || wholeOf(replied["message_id"]) === wholeOf(message["message_thread_id"]);
}

/** The message that is answered, also one of another chat. */
export function replyOf(message: Fields): ReplyTo | undefined {
  const replied = fieldsOf(message["reply_to_message"]);
  const external = fieldsOf(message["external_reply"]);
  const quote = textOf(fieldsOf(message["quote"])?.["text"]);
  if (replied && !opensTopic(replied, message)) {
    const id = wholeOf(replied["message_id"]);
    if (id === undefined) return undefined;
    const sender = nameOf(fieldsOf(replied["from"])) ?? nameOf(fieldsOf(replied["sender_chat"]));
    return given({ id: String(id), body: quote ?? bodyOf(replied), sender, isQuote: quote === undefined ? undefined : true });
  }
  if (!external) return undefined;
  const { label } = originOf(external["origin"]);
  const id = wholeOf(external["message_id"]);
  return given({ id: id === undefined ? "" : String(id), body: quote ?? bodyOf(external), sender: label, isQuote: quote === undefined ? undefined : true });
}

/** Whether it answers one of ours. */
export function repliesTo(message: Fields, selfId: number): boolean {
  const replied = fieldsOf(message["reply_to_message"]);
  return replied !== undefined && !opensTopic(replied, message) && wholeOf(fieldsOf(replied["from"])?.["id"]) === selfId;
}

interface Origin {
  readonly label: string | undefined;
  readonly type: string | undefined;
  readonly author: Fields | undefined;
}

function originOf(raw: unknown): Origin {
  const origin = fieldsOf(raw);
  const type = textOf(origin?.["type"]);
  const author = fieldsOf(origin?.["sender_user"]) ?? fieldsOf(origin?.["sender_chat"]) ?? fieldsOf(origin?.["chat"]);
  return { label: nameOf(author) ?? textOf(origin?.["sender_user_name"]), type, author };
}

/** `Forwarded…` of the message context. */
export function forwardContext(message: Fields): Record<string, unknown> {
  const origin = fieldsOf(message["forward_origin"]);
  if (!origin) return {};
  const { label, type, author } = originOf(origin);
  const id = wholeOf(author?.["id"]);
  const date = wholeOf(origin["date"]);
  return given({
    ForwardedFrom: label,
    ForwardedFromType: type,
    ForwardedFromId: id === undefined ? undefined : String(id),
    ForwardedFromUsername: textOf(author?.["username"]),
    ForwardedFromTitle: textOf(author?.["title"]),
    ForwardedFromSignature: textOf(origin["author_signature"]),
    ForwardedFromChatType: textOf(author?.["type"]),
    ForwardedFromMessageId: wholeOf(origin["message_id"]),
    ForwardedDate: date === undefined ? undefined : date * 1000,
  });
}
