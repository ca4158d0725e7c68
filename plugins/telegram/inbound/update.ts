/** One update of the Bot API → the events for the host. */
import { defined, fieldsOf, type Fields, listOf, textOf, wholeOf } from "openclaw/plugin-sdk/channel-kit";
import type { ChannelInboundEvent } from "../types.ts";
import { chatRefOf, MalformedUpdate, type MappingFacts, nameOf, senderOf } from "./chat.ts";
import { pollPlace } from "../records.ts";
import { editEvent, messageEvent } from "./message.ts";

/** What is asked for. Telegram leaves out reactions and members unless they are named. */
export const ALLOWED_UPDATES = [
  "message",
  "edited_message",
  "channel_post",
  "edited_channel_post",
  "callback_query",
  "message_reaction",
  "poll_answer",
  "my_chat_member",
  "chat_member",
] as const;

export interface MappedUpdate {
  readonly events: readonly ChannelInboundEvent[];
  /** Has to be answered, so that the button stops waiting. */
  readonly callbackId?: string;
  /** A group became a supergroup and has another id. */
  readonly migration?: { readonly from: string; readonly to: string };
  /** Why there are no events. */
  readonly ignored?: string;
}

/** The number of an update, if it has one. */
export function updateIdOf(update: unknown): number | undefined {
  const id = wholeOf(fieldsOf(update)?.["update_id"]);
  return id !== undefined && id >= 0 ? id : undefined;
}

/** The chat of an update: what happens in one is offered in order. */
export function chatOf(update: unknown): string {
  const fields = fieldsOf(update) ?? {};
  for (const kind of ALLOWED_UPDATES) {
    const content = fieldsOf(fields[kind]);
    if (content) return String(wholeOf((fieldsOf(content["chat"]) ?? fieldsOf(fieldsOf(content["message"])?.["chat"]))?.["id"]) ?? "");
  }
  return "";
}

const events = (event: ChannelInboundEvent | undefined, why: string): MappedUpdate => (event ? { events: [event] } : { events: [], ignored: why });

function migration(message: Fields, to: number, facts: MappingFacts): MappedUpdate {
  const ref = chatRefOf(message, facts.account.groups);
  const notice: ChannelInboundEvent = {
    kind: "notice",
    id: `migrated:${to}`,
    chat: ref.chat,
    sender: senderOf(message["from"], message["sender_chat"]) ?? { id: ref.chat.id },
    text: `Telegram: this group became a supergroup; its id is now ${to}`,
    to: ref.to,
    context: ref.context,
  };
  return { events: [notice], migration: { from: ref.chat.id, to: String(to) } };
}

/** A channel has no members who could be on a list: it is read only where the configuration names it. */
function whyIgnored(post: Fields, { groups }: MappingFacts["account"]): string | undefined {
  const { id } = chatRefOf(post, groups).chat;
  const named = Object.hasOwn(groups, id) || Object.hasOwn(groups, "*");
  return named ? undefined : `channel ${id} is not in channels.telegram.groups`;
}

const EMPTY = "it is empty";

/** Throws {@link MalformedUpdate} for what the Bot API would not send. */
export function mapUpdate(update: unknown, facts: MappingFacts): MappedUpdate {
  const fields = fieldsOf(update);
  const updateId = updateIdOf(update);
  if (fields === undefined || updateId === undefined) throw new MalformedUpdate("it has no update_id");
  for (const kind of ALLOWED_UPDATES) {
    if (fields[kind] === undefined) continue;
    const content = fieldsOf(fields[kind]);
    if (content === undefined) throw new MalformedUpdate(`its ${kind} is not an object`);
    return mapContent(kind, content, updateId, facts);
  }
  const kinds = Object.keys(fields).filter((key) => key !== "update_id");
  return { events: [], ignored: `updates of the kind ${kinds.join(", ").slice(0, 100) || "(none)"} are not read` };
}

function mapContent(kind: (typeof ALLOWED_UPDATES)[number], content: Fields, updateId: number, facts: MappingFacts): MappedUpdate {
  switch (kind) {
    case "message": {
      const movedTo = wholeOf(content["migrate_to_chat_id"]);
      if (movedTo !== undefined) return migration(content, movedTo, facts);
      const isAnnouncement = content["new_chat_members"] !== undefined || content["left_chat_member"] !== undefined;
      const members = isAnnouncement ? announcedMembers(content, facts) : [];
      return members.length > 0 ? { events: members } : events(messageEvent(content, facts), EMPTY);
    }
    case "edited_message":
      return events(editEvent(content, facts), EMPTY);
    case "channel_post":
    case "edited_channel_post": {
      const ignored = whyIgnored(content, facts.account);
      if (ignored !== undefined) return { events: [], ignored };
      return events(kind === "channel_post" ? messageEvent(content, facts) : editEvent(content, facts), EMPTY);
    }
    case "callback_query": {
      const mapped = events(buttonEvent(content, facts), "the button is not for a chat where buttons are on");
      return typeof content["id"] === "string" ? { ...mapped, callbackId: content["id"] } : mapped;
    }
    case "poll_answer":
      return events(voteEvent(content, updateId, facts), "the poll is not one of the bot's, or is no longer known");
    case "message_reaction":
      return events(reactionEvent(content, updateId, facts), "reactions like this are not reported");
    default:
      return events(membershipEvent(content, facts), "only permissions changed");
  }
}

/** A pressed button is answered as if its data had been written. Nothing where buttons are off in such chats. */
function buttonEvent(query: Fields, facts: MappingFacts): ChannelInboundEvent | undefined {
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
    mention: defined({ mentioned: true, botUsername: facts.self.username }),
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
function reactionEvent(update: Fields, updateId: number, facts: MappingFacts): ChannelInboundEvent | undefined {
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
  return defined({
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

/** A vote names the poll only: chat, question and answers are what was sent. Without answers it was withdrawn. */
function voteEvent(answer: Fields, updateId: number, facts: MappingFacts): ChannelInboundEvent | undefined {
  const pollId = textOf(answer["poll_id"]);
  const sender = senderOf(answer["user"], answer["voter_chat"]);
  if (pollId === undefined || sender === undefined) throw new MalformedUpdate("its vote has no poll or nobody cast it");
  const poll = facts.poll(pollId);
  if (!poll) return undefined;
  const ref = chatRefOf(pollPlace(poll), facts.account.groups);
  const chosen = listOf(answer["option_ids"]).flatMap((index) => poll.options[wholeOf(index) ?? -1] ?? []);
  const what = chosen.length === 0 ? "withdrew the vote" : `voted ${chosen.map((option) => JSON.stringify(option)).join(", ")}`;
  return {
    kind: "notice",
    id: `${pollId}:vote:${updateId}`,
    chat: ref.chat,
    sender,
    text: `Telegram: ${sender.name ?? sender.id} ${what} in the poll ${JSON.stringify(poll.question)}`,
    to: ref.to,
    context: ref.context,
  };
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
function memberEvent(source: Fields, { who, by, what }: Change, facts: MappingFacts): ChannelInboundEvent {
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
function membershipEvent(update: Fields, facts: MappingFacts): ChannelInboundEvent | undefined {
  const [before, after] = [fieldsOf(update["old_chat_member"]), fieldsOf(update["new_chat_member"])];
  const who = fieldsOf(after?.["user"]);
  if (who === undefined) throw new MalformedUpdate("its member is missing");
  if (isPresent(before) === isPresent(after)) return undefined;
  return memberEvent(update, { who, by: update["from"], what: isPresent(after) ? "joined" : "left" }, facts);
}

/** People whom a message of the group itself announces. */
function announcedMembers(message: Fields, facts: MappingFacts): ChannelInboundEvent[] {
  const came = listOf(message["new_chat_members"]).slice(0, 100);
  const went = fieldsOf(message["left_chat_member"]);
  const changes: Change[] = [
    ...came.flatMap((entry) => {
      const who = fieldsOf(entry);
      return who ? [{ who, by: message["from"], what: "joined" as const }] : [];
    }),
    ...(went ? [{ who: went, by: message["from"], what: "left" as const }] : []),
  ];
  return changes.map((change) => memberEvent(message, change, facts));
}
