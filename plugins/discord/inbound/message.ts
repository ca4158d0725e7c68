/** Messages and edits, with their files, what they answer and where they were forwarded from; and what Discord itself announces. */
import { defined, type Fields, fieldsOf, listOf, numberOf, textOf, textsOf } from "openclaw/plugin-sdk/channel-kit";
import { type DiscordAccount, flagIn } from "../account.ts";
import type { ChannelInboundEvent, ChannelInboundMedia, ChannelInboundSender } from "../types.ts";
import { type ChatRef, chatRefOf, MalformedEvent, nameOf, senderOf, type Surroundings, topicOf } from "./chat.ts";
import { isThread } from "./places.ts";

export interface MessageFacts {
  readonly account: DiscordAccount;
  readonly botId: string;
  readonly around: Surroundings;
  /** The role that the bot itself is. */
  readonly botRoleId: string | undefined;
  /** The message that a thread began with. */
  readonly starter: string | undefined;
  /** Who really wrote it, where a proxy posted it, and the id of what they wrote. */
  readonly writer: { readonly sender: ChannelInboundSender; readonly id: string } | undefined;
  /** It waited while we were away. */
  readonly isBacklog: boolean;
}

/** How a file is found again: its address expires. */
export interface FileRef {
  readonly url: string;
  readonly channelId?: string;
  readonly messageId?: string;
  readonly attachmentId?: string;
  readonly fileName?: string;
  readonly mimeType?: string;
}

const WRITTEN: ReadonlySet<number> = new Set([0, 19, 20, 21, 23]);
const FORWARD = 1;
const STICKERS = "https://media.discordapp.net/stickers";
const LOTTIE = 3;

/** What Discord announces in a channel, by the type of the message. */
const ANNOUNCED: Readonly<Record<number, string>> = {
  1: "was added to the group",
  2: "left the group",
  4: "renamed the channel",
  5: "changed the channel's picture",
  6: "pinned a message",
  7: "joined the server",
  8: "boosted the server",
  9: "boosted the server to level 1",
  10: "boosted the server to level 2",
  11: "boosted the server to level 3",
  12: "followed a channel into this one",
  18: "started a thread",
  46: "closed a poll",
};
const MEMBER_TYPES: ReadonlySet<number> = new Set([1, 2, 7]);

const kindOf = (type: string | undefined): ChannelInboundMedia["kind"] => {
  const [main] = (type ?? "").split("/");
  return main === "image" || main === "video" || main === "audio" ? main : "document";
};

function filesOf(message: Fields): ChannelInboundMedia[] {
  const [channelId, messageId] = [textOf(message["channel_id"]), textOf(message["id"])];
  return listOf(message["attachments"]).flatMap((raw) => {
    const file = fieldsOf(raw);
    const url = textOf(file?.["url"]);
    if (file === undefined || url === undefined) return [];
    const mimeType = textOf(file["content_type"])?.split(";", 1)[0];
    const fileName = textOf(file["filename"]);
    const ref: FileRef = defined({ url, channelId, messageId, attachmentId: textOf(file["id"]), fileName, mimeType });
    const spoken = file["waveform"] === undefined ? {} : { isVoice: true };
    return [
      defined({ kind: kindOf(mimeType), ref, mimeType, fileName, bytes: numberOf(file["size"]), durationSeconds: numberOf(file["duration_secs"]), ...spoken }),
    ];
  });
}

/** Animated drawings have no picture that could be shown to a model. */
function stickersOf(message: Fields): ChannelInboundMedia[] {
  return listOf(message["sticker_items"]).flatMap((raw) => {
    const sticker = fieldsOf(raw);
    const id = textOf(sticker?.["id"]);
    if (id === undefined || !/^\d+$/.test(id) || sticker?.["format_type"] === LOTTIE) return [];
    const [extension, mimeType] = sticker?.["format_type"] === 4 ? ["gif", "image/gif"] : ["png", "image/png"];
    const fileName = `${textOf(sticker?.["name"]) ?? "sticker"}.${extension}`;
    return [{ kind: "sticker" as const, ref: { url: `${STICKERS}/${id}.${extension}`, fileName, mimeType } satisfies FileRef, mimeType, fileName }];
  });
}

/** Cards, polls and stickers in words, for messages that have no others. */
function inWords(message: Fields): string {
  const embeds = listOf(message["embeds"]).flatMap((raw) => {
    const embed = fieldsOf(raw);
    return [textOf(embed?.["title"]), textOf(embed?.["description"])].filter((text) => text !== undefined).join("\n") || [];
  });
  if (embeds.length > 0) return embeds.join("\n\n");
  const poll = fieldsOf(message["poll"]);
  if (poll) {
    const answers = listOf(poll["answers"]).flatMap((answer) => textOf(fieldsOf(fieldsOf(answer)?.["poll_media"])?.["text"]) ?? []);
    return `[poll] ${textOf(fieldsOf(poll["question"])?.["text"]) ?? ""}: ${answers.join(" / ")}`;
  }
  const stickers = listOf(message["sticker_items"]).flatMap((raw) => textOf(fieldsOf(raw)?.["name"]) ?? []);
  return stickers.length > 0 ? `[sticker] ${stickers.join(", ")}` : "";
}

interface Content {
  readonly text: string;
  readonly media: readonly ChannelInboundMedia[];
  readonly context: Record<string, unknown>;
}

/** What it says: its own words, else those that it forwards. */
function contentOf(message: Fields): Content {
  const reference = fieldsOf(message["message_reference"]);
  const snapshot = reference?.["type"] === FORWARD ? fieldsOf(fieldsOf(listOf(message["message_snapshots"])[0])?.["message"]) : undefined;
  const source = snapshot ? { ...snapshot, channel_id: reference?.["channel_id"], id: reference?.["message_id"] } : message;
  const files = [...filesOf(source), ...stickersOf(source)];
  const text = textOf(source["content"]) ?? (files.length > 0 ? "" : inWords(source));
  if (!snapshot) return { text, media: files, context: {} };
  const from = textOf(reference?.["channel_id"]);
  const at = Date.parse(textOf(source["timestamp"]) ?? "");
  const facts = {
    ForwardedFrom: `Discord channel ${from ?? ""}`.trim(),
    ForwardedFromType: "channel",
    ForwardedFromId: from,
    ForwardedFromMessageId: textOf(reference?.["message_id"]),
    ForwardedDate: Number.isNaN(at) ? undefined : at,
  };
  return { text, media: files, context: defined(facts) };
}

function replyOf(message: Fields): ChannelInboundEvent["replyTo"] {
  const reference = fieldsOf(message["message_reference"]);
  const id = textOf(reference?.["message_id"]);
  if (id === undefined || reference?.["type"] === FORWARD || numberOf(message["type"]) !== 19) return undefined;
  const replied = fieldsOf(message["referenced_message"]);
  const body = replied && (contentOf(replied).text || (filesOf(replied).length > 0 ? `<media:${filesOf(replied)[0]!.kind}>` : undefined));
  return defined({ id, body, sender: nameOf(fieldsOf(replied?.["author"])) });
}

const repliesTo = (message: Fields, botId: string): boolean =>
  numberOf(message["type"]) === 19 && textOf(fieldsOf(fieldsOf(message["referenced_message"])?.["author"])?.["id"]) === botId;

function mentionOf(message: Fields, { botId, botRoleId }: MessageFacts): ChannelInboundEvent["mention"] {
  const people = listOf(message["mentions"]).flatMap((user) => textOf(fieldsOf(user)?.["id"]) ?? []);
  const roles = textsOf(message["mention_roles"]);
  const isRole = botRoleId !== undefined && roles.includes(botRoleId);
  // Answering someone mentions them, though nobody wrote their name.
  const repliedTo = textOf(fieldsOf(fieldsOf(message["referenced_message"])?.["author"])?.["id"]);
  return {
    mentioned: isRole || new RegExp(`<@!?${botId}>`).test(textOf(message["content"]) ?? "") || (people.includes(botId) && repliedTo !== botId),
    implicit: repliesTo(message, botId),
    others: message["mention_everyone"] === true || roles.some((role) => role !== botRoleId) || people.some((id) => id !== botId && id !== repliedTo),
    canDetect: true,
  };
}

/** With `autoThread` the answer begins a thread, whose id is that of the message: the message belongs to the thread's session. */
function threadSession(id: string, mention: ChannelInboundEvent["mention"], { layers }: ChatRef, { place }: Surroundings): { readonly SessionKey?: string } {
  const isOn = place.guildId !== undefined && !isThread(place) && flagIn(layers, "autoThread") === true;
  const isForUs = mention?.mentioned === true || mention?.implicit === true || flagIn(layers, "requireMention") === false;
  return isOn && isForUs ? { SessionKey: `discord:channel:${id}` } : {};
}

/** The event of a message, or nothing where it says nothing. */
export function messageEvent(message: Fields, facts: MessageFacts): ChannelInboundEvent | undefined {
  const id = textOf(message["id"]);
  const sender = facts.writer?.sender ?? senderOf(message["author"], message["member"]);
  if (id === undefined || sender === undefined) throw new MalformedEvent("its message has no id or no author");
  const { around, account } = facts;
  const ref = chatRefOf(around, sender.id, account);
  const type = numberOf(message["type"]) ?? 0;
  const at = Date.parse(textOf(message["timestamp"]) ?? "");
  const base = defined({ id: facts.writer?.id ?? id, chat: ref.chat, sender, to: ref.to, at: Number.isNaN(at) ? undefined : at });
  if (!WRITTEN.has(type)) {
    const announced = ANNOUNCED[type];
    if (announced === undefined) return undefined;
    return { ...base, kind: MEMBER_TYPES.has(type) ? "member" : "notice", text: `Discord: ${sender.name ?? sender.id} ${announced}`, context: ref.context };
  }
  const { text, media, context } = contentOf(message);
  if (text === "" && media.length === 0) return undefined;
  const isWebhook = textOf(message["webhook_id"]) !== undefined && facts.writer === undefined;
  const mention = mentionOf(message, facts);
  return defined({
    ...base,
    kind: "message" as const,
    // What a webhook posts was written by no account.
    sender: isWebhook ? { ...sender, isBot: true } : sender,
    text,
    mention,
    media: media.length > 0 ? [...media] : undefined,
    replyTo: replyOf(message),
    untrusted: topicOf(around),
    ...ref.rules,
    backlog: facts.isBacklog ? true : undefined,
    context: {
      ...ref.context,
      ...context,
      ...threadSession(base.id, mention, ref, around),
      ...(isThread(around.place) && facts.starter !== undefined ? { ThreadStarterBody: facts.starter } : {}),
    },
  });
}

/** An edited message has its new text; each edit is an event of its own. Discord also updates messages when it has looked at their links: no edit. */
export function editEvent(message: Fields, facts: MessageFacts): ChannelInboundEvent | undefined {
  const edited = textOf(message["edited_timestamp"]);
  if (edited === undefined) return undefined;
  const event = messageEvent(message, facts);
  if (!event || event.kind !== "message" || event.text === "") return undefined;
  const { media: _media, backlog: _backlog, ...rest } = event;
  return {
    ...rest,
    kind: "edit",
    id: `${event.id}:edit:${Date.parse(edited)}`,
    at: Date.parse(edited),
    replyTo: { id: event.id },
    context: { ...event.context, MessageSid: event.id },
  };
}
