/** Messages, edited ones and posts of channels, with their files, what they answer and where they were forwarded from. */
import { defined, fieldsOf, type Fields, listOf, numberOf, textOf, wholeOf } from "openclaw/plugin-sdk/channel-kit";
import type { ChannelInboundEvent, ChannelInboundMedia } from "../types.ts";
import { chatRefOf, MalformedUpdate, type MappingFacts, nameOf, senderOf } from "./chat.ts";
import { type LongTexts, readText, type TextPart } from "./text.ts";

const ALBUM_WAIT_MS = 500;

/** How a file is found again. They are fetched later, by their id. */
export interface FileRef {
  readonly fileId: string;
  readonly mimeType?: string;
  readonly fileName?: string;
}

/** The kinds of files, with the type of one that names none. */
const FILES = [
  ["photo", "image", "image/jpeg"],
  ["video", "video", "video/mp4"],
  ["video_note", "video", "video/mp4"],
  ["animation", "video", "video/mp4"],
  ["audio", "audio", "audio/mpeg"],
  ["voice", "audio", "audio/ogg"],
  ["document", "document", undefined],
  ["sticker", "sticker", undefined],
] as const satisfies readonly (readonly [key: string, kind: ChannelInboundMedia["kind"], mimeType: string | undefined])[];

/** The same picture comes in several sizes. */
function largest(sizes: unknown): Fields | undefined {
  const area = (size: Fields): number => (numberOf(size["width"]) ?? 0) * (numberOf(size["height"]) ?? 0);
  return listOf(sizes)
    .map((size) => fieldsOf(size))
    .filter((size) => size !== undefined)
    .reduce<Fields | undefined>((best, size) => (best === undefined || area(size) >= area(best) ? size : best), undefined);
}

function stickerType(sticker: Fields): string {
  if (sticker["is_animated"] === true) return "application/x-tgsticker";
  return sticker["is_video"] === true ? "video/webm" : "image/webp";
}

/** All files of a message. An animation comes a second time as a document. */
function mediaOf(message: Fields): ChannelInboundMedia[] {
  const found: ChannelInboundMedia[] = [];
  for (const [key, kind, otherwise] of FILES) {
    if (message[key] === undefined || (key === "document" && fieldsOf(message["animation"]))) continue;
    const raw = key === "photo" ? largest(message[key]) : fieldsOf(message[key]);
    const fileId = textOf(raw?.["file_id"]);
    if (raw === undefined || fileId === undefined) continue;
    const mimeType = textOf(raw["mime_type"]) ?? (key === "sticker" ? stickerType(raw) : otherwise);
    const facts = defined({ mimeType, fileName: textOf(raw["file_name"]) });
    const ref: FileRef = { fileId, ...facts };
    const spoken = key === "voice" ? { isVoice: true } : {};
    found.push(defined({ kind, ref, ...facts, bytes: numberOf(raw["file_size"]), durationSeconds: numberOf(raw["duration"]), ...spoken }));
  }
  return found;
}

/** `Sticker` of the message context. */
function stickerContext(sticker: Fields): object {
  return defined({
    emoji: textOf(sticker["emoji"]),
    setName: textOf(sticker["set_name"]),
    fileId: textOf(sticker["file_id"]),
    fileUniqueId: textOf(sticker["file_unique_id"]),
  });
}

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

/** The message that is answered, also one of another chat. It is other people's text. */
function replyOf(message: Fields): ReplyTo | undefined {
  const replied = fieldsOf(message["reply_to_message"]);
  const external = fieldsOf(message["external_reply"]);
  const quote = textOf(fieldsOf(message["quote"])?.["text"]);
  if (replied && !opensTopic(replied, message)) {
    const id = wholeOf(replied["message_id"]);
    if (id === undefined) return undefined;
    const sender = nameOf(fieldsOf(replied["from"])) ?? nameOf(fieldsOf(replied["sender_chat"]));
    return defined({ id: String(id), body: quote ?? bodyOf(replied), sender, isQuote: quote === undefined ? undefined : true });
  }
  if (!external) return undefined;
  const { label } = originOf(external["origin"]);
  const id = wholeOf(external["message_id"]);
  return defined({ id: id === undefined ? "" : String(id), body: quote ?? bodyOf(external), sender: label, isQuote: quote === undefined ? undefined : true });
}

/** Whether it answers one of ours. */
function repliesTo(message: Fields, selfId: number): boolean {
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
function forwardContext(origin: Fields): Record<string, unknown> {
  const { label, type, author } = originOf(origin);
  const id = wholeOf(author?.["id"]);
  const date = wholeOf(origin["date"]);
  return defined({
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

/** Things that have no text of their own, in words. */
function inWords(message: Fields): string {
  const contact = fieldsOf(message["contact"]);
  if (contact) {
    const parts = [contact["first_name"], contact["last_name"], contact["phone_number"]].flatMap((part) => textOf(part) ?? []);
    return `[contact] ${parts.join(" ")}`;
  }
  const poll = fieldsOf(message["poll"]);
  if (poll) {
    const options = listOf(poll["options"]).flatMap((option) => textOf(fieldsOf(option)?.["text"]) ?? []);
    return `[poll] ${textOf(poll["question"]) ?? ""}: ${options.join(" / ")}`;
  }
  const dice = fieldsOf(message["dice"]);
  return dice ? `${textOf(dice["emoji"]) ?? "🎲"} ${numberOf(dice["value"]) ?? ""}`.trim() : "";
}

function locationOf(message: Fields): ChannelInboundEvent["location"] {
  const venue = fieldsOf(message["venue"]);
  const raw = fieldsOf(venue?.["location"]) ?? fieldsOf(message["location"]);
  const [latitude, longitude] = [numberOf(raw?.["latitude"]), numberOf(raw?.["longitude"])];
  if (raw === undefined || latitude === undefined || longitude === undefined) return undefined;
  const isLive = numberOf(raw["live_period"]) !== undefined;
  return defined({
    latitude,
    longitude,
    accuracy: numberOf(raw["horizontal_accuracy"]),
    name: textOf(venue?.["title"]),
    address: textOf(venue?.["address"]),
    isLive: isLive ? true : undefined,
    source: isLive ? ("live" as const) : venue ? ("place" as const) : ("pin" as const),
  });
}

/** The event of a message, or nothing where it has no content (a pinned message, a new picture of the group, …). */
export function messageEvent(message: Fields, facts: MappingFacts): ChannelInboundEvent | undefined {
  const id = wholeOf(message["message_id"]);
  if (id === undefined) throw new MalformedUpdate("its message has no id");
  const ref = chatRefOf(message, facts.account.groups);
  const sender = senderOf(message["from"], message["sender_chat"]) ?? senderOf(message["chat"]);
  if (!sender) throw new MalformedUpdate("its message has no sender");
  const isText = textOf(message["text"]) !== undefined;
  const written = textOf(message[isText ? "text" : "caption"]) ?? "";
  const { text: linked, mentioned, others, command } = readText(written, message[isText ? "entities" : "caption_entities"], facts.self);
  const media = mediaOf(message);
  const location = message["location"] === undefined && message["venue"] === undefined ? undefined : locationOf(message);
  const text = linked || inWords(message);
  if (text === "" && media.length === 0 && location === undefined) return undefined;
  const date = wholeOf(message["date"]);
  const isReply = message["reply_to_message"] !== undefined || message["external_reply"] !== undefined;
  const replyTo = isReply ? replyOf(message) : undefined;
  const origin = fieldsOf(message["forward_origin"]);
  const sticker = fieldsOf(message["sticker"]);
  return defined({
    kind: command !== undefined && facts.offers(command) ? ("command" as const) : ("message" as const),
    id: String(id),
    chat: ref.chat,
    sender,
    text,
    to: ref.to,
    at: date === undefined ? undefined : date * 1000,
    mention: defined({
      mentioned,
      implicit: isReply && repliesTo(message, facts.self.id),
      others,
      canDetect: facts.self.username !== undefined,
      botUsername: facts.self.username,
    }),
    media: media.length > 0 ? media : undefined,
    location,
    replyTo,
    ...ref.rules,
    joins: joinsOf(message, facts, { messageId: id, date: date ?? 0, text, isPlain: media.length === 0 && !replyTo && !origin }),
    context: { ...ref.context, ...(origin ? forwardContext(origin) : {}), ...(sticker ? { Sticker: stickerContext(sticker) } : {}) },
  });
}

function joinsOf(message: Fields, facts: MappingFacts, part: Omit<TextPart, "source">): ChannelInboundEvent["joins"] {
  const album = textOf(message["media_group_id"]);
  if (album !== undefined) return { key: `album:${album}`, waitMs: ALBUM_WAIT_MS };
  const ids = [fieldsOf(message["chat"])?.["id"], message["message_thread_id"] ?? "", fieldsOf(message["from"])?.["id"] ?? ""];
  return facts.longTexts.joins({ ...part, source: ids.join("/") });
}

const NEVER_JOINED: LongTexts = { joins: () => undefined };

/** An edited message has its new text. Every edit has an id of its own. */
export function editEvent(message: Fields, facts: MappingFacts): ChannelInboundEvent | undefined {
  const event = messageEvent(message, { ...facts, longTexts: NEVER_JOINED });
  // A live location is edited every few seconds.
  if (!event || event.text === "") return undefined;
  const edited = wholeOf(message["edit_date"]) ?? wholeOf(message["date"]) ?? 0;
  const { joins: _joins, media: _media, ...rest } = event;
  return { ...rest, kind: "edit", id: `${event.id}:edit:${edited}`, at: edited * 1000, context: { ...event.context, MessageSid: event.id } };
}
