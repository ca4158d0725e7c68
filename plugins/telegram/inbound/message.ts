/** Messages, edited ones and posts of channels. */
import { fieldsOf, type Fields, given, listOf, numberOf, textOf, wholeOf } from "../fields.ts";
import type { ChannelInboundEvent } from "../types.ts";
import type { MappingFacts } from "./facts.ts";
import { mediaOf, stickerContext } from "./media.ts";
import { senderOf } from "./people.ts";
import { MalformedUpdate, chatRefOf } from "./chat-ref.ts";
import { forwardContext, repliesTo, replyOf } from "./quoted.ts";
import { commandIn, mentionsIn, withLinks } from "./text.ts";

const ALBUM_WAIT_MS = 500;

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
  return given({
    latitude,
    longitude,
    accuracy: numberOf(raw["horizontal_accuracy"]),
    name: textOf(venue?.["title"]),
    address: textOf(venue?.["address"]),
    isLive: isLive ? true : undefined,
    source: isLive ? ("live" as const) : venue ? ("place" as const) : ("pin" as const),
  });
}

/** The event of a message, or nothing where it says nothing (a pinned message, a new picture of the group, …). */
export function messageEvent(message: Fields, facts: MappingFacts): ChannelInboundEvent | undefined {
  const id = wholeOf(message["message_id"]);
  if (id === undefined) throw new MalformedUpdate("its message has no id");
  const ref = chatRefOf(message, facts.account.groups);
  const sender = senderOf(message["from"], message["sender_chat"]) ?? senderOf(message["chat"]);
  if (!sender) throw new MalformedUpdate("its message has no sender");
  const written = textOf(message["text"]) ?? textOf(message["caption"]) ?? "";
  const entities = textOf(message["text"]) === undefined ? message["caption_entities"] : message["entities"];
  const media = mediaOf(message);
  const location = locationOf(message);
  const text = withLinks(written, entities) || inWords(message);
  if (text === "" && media.length === 0 && location === undefined) return undefined;
  const { mentioned, others } = mentionsIn(written, entities, facts.self);
  const command = commandIn(written, entities, facts.self);
  const date = wholeOf(message["date"]);
  const replyTo = replyOf(message);
  const forwarded = forwardContext(message);
  return given({
    kind: command !== undefined && facts.offers(command) ? ("command" as const) : ("message" as const),
    id: String(id),
    chat: ref.chat,
    sender,
    text,
    to: ref.to,
    at: date === undefined ? undefined : date * 1000,
    mention: given({
      mentioned,
      implicit: repliesTo(message, facts.self.id),
      others,
      canDetect: facts.self.username !== undefined,
      botUsername: facts.self.username,
    }),
    media: media.length > 0 ? media : undefined,
    location,
    replyTo,
    ...ref.rules,
    joins: joinsOf(message, facts, { id, date: date ?? 0, text, isPlain: media.length === 0 && !replyTo && Object.keys(forwarded).length === 0 }),
    context: given({ ...ref.context, ...forwarded, Sticker: stickerContext(message) }),
  });
}

function joinsOf(message: Fields, facts: MappingFacts, part: { id: number; date: number; text: string; isPlain: boolean }): ChannelInboundEvent["joins"] {
  const album = textOf(message["media_group_id"]);
  if (album !== undefined) return { key: `album:${album}`, waitMs: ALBUM_WAIT_MS };
  const ids = [fieldsOf(message["chat"])?.["id"], message["message_thread_id"] ?? "", fieldsOf(message["from"])?.["id"] ?? ""];
  return facts.longTexts.joins({ place: ids.join("/"), messageId: part.id, date: part.date, text: part.text, isPlain: part.isPlain });
}

/** An edited message tells its new text. Every edit has an id of its own. */
export function editEvent(message: Fields, facts: MappingFacts): ChannelInboundEvent | undefined {
  const event = messageEvent(message, { ...facts, longTexts: { joins: () => undefined } });
  // A live location is edited every few seconds.
  if (!event || event.text === "") return undefined;
  const edited = wholeOf(message["edit_date"]) ?? wholeOf(message["date"]) ?? 0;
  const { joins: _joins, media: _media, ...rest } = event;
  return { ...rest, kind: "edit", id: `${event.id}:edit:${edited}`, at: edited * 1000, context: { ...event.context, MessageSid: event.id } };
}
