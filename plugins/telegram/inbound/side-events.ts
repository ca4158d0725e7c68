/** Pressed buttons, reactions, and people who come and go. */
import { fieldsOf, type Fields, given, listOf, textOf, wholeOf } from "../fields.ts";
import type { ChannelInboundEvent } from "../types.ts";
import type { MappingFacts } from "./facts.ts";
import { nameOf, senderOf } from "./people.ts";
import { MalformedUpdate, chatRefOf } from "./chat-ref.ts";

/** A pressed button is answered as if its data had been written. Nothing where buttons are off in such chats. */
export function buttonEvent(query: Fields, facts: MappingFacts): ChannelInboundEvent | undefined {
  const id = textOf(query["id"]);
  const sender = senderOf(query["from"]);
  const message = fieldsOf(query["message"]);
  const data = textOf(query["data"]);
  if (id === undefined || sender === undefined) throw new MalformedUpdate("its button has no id or nobody pressed it");
  // One under a message that was sent by way of an inline query belongs to no chat that we know.
  if (message === undefined || data === undefined) return undefined;
  const ref = chatRefOf(message, facts.account.groups);
  const scope = facts.account.buttons;
  if (scope === "off" || (scope === "dm" && ref.chat.type !== "direct") || (scope === "group" && ref.chat.type === "direct")) return undefined;
  const pressed = wholeOf(message["message_id"]);
  return {
    kind: "button",
    id,
    chat: ref.chat,
    sender,
    text: data,
    to: ref.to,
    mention: given({ mentioned: true, botUsername: facts.self.username }),
    ...ref.rules,
    context: { ...ref.context, WasMentioned: true, MessageSid: id, ...(pressed === undefined ? {} : { ButtonMessageId: String(pressed) }) },
  };
}

function emojis(reactions: unknown): Set<string> {
  return new Set(
    listOf(reactions).flatMap((entry) => textOf(fieldsOf(entry)?.["emoji"]) ?? (textOf(fieldsOf(entry)?.["custom_emoji_id"]) ? "custom emoji" : [])),
  );
}

/** What was added and what was taken back. */
export function reactionEvent(update: Fields, updateId: number, facts: MappingFacts): ChannelInboundEvent | undefined {
  const id = wholeOf(update["message_id"]);
  const sender = senderOf(update["user"], update["actor_chat"]);
  if (id === undefined || sender === undefined) throw new MalformedUpdate("its reaction has no message or no sender");
  const ref = chatRefOf(update, facts.account.groups);
  const notices = facts.account.reactionNotices;
  if (notices === "off" || sender.id === String(facts.self.id)) return undefined;
  if (notices === "own" && !facts.isOurs(ref.chat.id, id)) return undefined;
  const [before, after] = [emojis(update["old_reaction"]), emojis(update["new_reaction"])];
  const parts = [
    ...[...after].filter((emoji) => !before.has(emoji)).map((emoji) => `added ${emoji}`),
    ...[...before].filter((emoji) => !after.has(emoji)).map((emoji) => `took back ${emoji}`),
  ];
  if (parts.length === 0) return undefined;
  const date = wholeOf(update["date"]);
  // Reactions do not say which topic they belong to.
  const { threadId: _threadId, ...chat } = ref.chat;
  return given({
    kind: "reaction" as const,
    id: `${id}:reaction:${updateId}`,
    chat,
    sender,
    text: `Telegram reaction: ${sender.name ?? sender.id} ${parts.join(", ")} on message ${id}`,
    to: ref.to,
    at: date === undefined ? undefined : date * 1000,
    context: { ...ref.context, ReplyToId: String(id) },
  });
}

const PRESENT: ReadonlySet<unknown> = new Set(["creator", "administrator", "member"]);

const isPresent = (member: Fields | undefined): boolean =>
  PRESENT.has(member?.["status"]) || (member?.["status"] === "restricted" && member["is_member"] === true);

interface Change {
  readonly who: Fields;
  readonly by: unknown;
  readonly what: "joined" | "left";
}

/** The same change may come as an update and as a message of the group: both get one id. */
function memberEvent(source: Fields, { who, by, what }: Change, facts: MappingFacts): ChannelInboundEvent | undefined {
  const id = wholeOf(who["id"]);
  const sender = senderOf(by) ?? senderOf(who);
  if (id === undefined || sender === undefined) throw new MalformedUpdate("its member has no id");
  const ref = chatRefOf(source, facts.account.groups);
  const date = wholeOf(source["date"]) ?? 0;
  const isUs = id === facts.self.id;
  const name = isUs ? "the bot" : (nameOf(who) ?? String(id));
  const there = ref.chat.type === "direct" ? (what === "joined" ? "can be written to again" : "was blocked") : what === "joined" ? "joined" : "left";
  return {
    kind: "member",
    id: `member:${id}:${what}:${date}`,
    chat: ref.chat,
    sender,
    text: `Telegram: ${name} ${there}${ref.chat.title === undefined ? "" : ` (${ref.chat.title})`}`,
    to: ref.to,
    at: date * 1000,
    context: { ...ref.context, MemberId: String(id) },
  };
}

/** `my_chat_member` and `chat_member`. Nothing where only rights changed. */
export function membershipEvent(update: Fields, facts: MappingFacts): ChannelInboundEvent | undefined {
  const [before, after] = [fieldsOf(update["old_chat_member"]), fieldsOf(update["new_chat_member"])];
  const who = fieldsOf(after?.["user"]);
  if (who === undefined) throw new MalformedUpdate("its member is missing");
  if (isPresent(before) === isPresent(after)) return undefined;
  return memberEvent(update, { who, by: update["from"], what: isPresent(after) ? "joined" : "left" }, facts);
}

/** People whom a message of the group itself announces. */
export function announcedMembers(message: Fields, facts: MappingFacts): ChannelInboundEvent[] {
  const came = listOf(message["new_chat_members"]).slice(0, 100);
  const went = fieldsOf(message["left_chat_member"]);
  const changes = [
    ...came.flatMap((who) => (fieldsOf(who) ? [{ who: fieldsOf(who)!, by: message["from"], what: "joined" as const }] : [])),
    ...(went ? [{ who: went, by: message["from"], what: "left" as const }] : []),
  ];
  return changes.flatMap((change) => memberEvent(message, change, facts) ?? []);
}
