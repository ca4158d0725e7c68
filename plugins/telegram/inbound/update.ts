/** One update of the Bot API → the events for the host. */
import { fieldsOf, type Fields, wholeOf } from "../fields.ts";
import type { ChannelInboundEvent } from "../types.ts";
import type { MappingFacts } from "./facts.ts";
import { editEvent, messageEvent } from "./message.ts";
import { senderOf } from "./people.ts";
import { MalformedUpdate, chatRefOf } from "./chat-ref.ts";
import { announcedMembers, buttonEvent, membershipEvent, reactionEvent } from "./side-events.ts";

/** What is asked for. Telegram leaves out reactions and members unless they are named. */
export const ALLOWED_UPDATES = [
  "message",
  "edited_message",
  "channel_post",
  "edited_channel_post",
  "callback_query",
  "message_reaction",
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
  const inner = ALLOWED_UPDATES.map((kind) => fieldsOf(fields[kind])).find((found) => found !== undefined);
  const chat = fieldsOf(inner?.["chat"]) ?? fieldsOf(fieldsOf(inner?.["message"])?.["chat"]);
  return String(wholeOf(chat?.["id"]) ?? "");
}

const events = (event: ChannelInboundEvent | undefined, why: string): MappedUpdate => (event ? { events: [event] } : { events: [], ignored: why });

function migrationOf(message: Fields, facts: MappingFacts): MappedUpdate | undefined {
  const to = wholeOf(message["migrate_to_chat_id"]);
  if (to === undefined) return undefined;
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

function messageUpdate(message: Fields, facts: MappingFacts): MappedUpdate {
  const migration = migrationOf(message, facts);
  if (migration) return migration;
  const members = announcedMembers(message, facts);
  if (members.length > 0) return { events: members };
  return events(messageEvent(message, facts), "it says nothing");
}

/** A channel has no members who could be on a list: it is read only where the configuration names it. */
function postUpdate(post: Fields, facts: MappingFacts, map: (post: Fields, facts: MappingFacts) => ChannelInboundEvent | undefined): MappedUpdate {
  const { chat } = chatRefOf(post, facts.account.groups);
  const named = Object.hasOwn(facts.account.groups, chat.id) || Object.hasOwn(facts.account.groups, "*");
  if (!named) return { events: [], ignored: `channel ${chat.id} is not in channels.telegram.groups` };
  return events(map(post, facts), "it says nothing");
}

/** Throws {@link MalformedUpdate} for what the Bot API would not send. */
export function mapUpdate(update: unknown, facts: MappingFacts): MappedUpdate {
  const fields = fieldsOf(update);
  const updateId = updateIdOf(update);
  if (fields === undefined || updateId === undefined) throw new MalformedUpdate("it has no update_id");
  const at = (kind: (typeof ALLOWED_UPDATES)[number]): Fields | undefined => {
    const value = fieldsOf(fields[kind]);
    if (value === undefined && fields[kind] !== undefined) throw new MalformedUpdate(`its ${kind} is no object`);
    return value;
  };
  const message = at("message");
  if (message) return messageUpdate(message, facts);
  const edited = at("edited_message");
  if (edited) return events(editEvent(edited, facts), "it says nothing");
  const post = at("channel_post");
  if (post) return postUpdate(post, facts, messageEvent);
  const editedPost = at("edited_channel_post");
  if (editedPost) return postUpdate(editedPost, facts, editEvent);
  const query = at("callback_query");
  if (query) {
    const mapped = events(buttonEvent(query, facts), "the button is not for a chat where buttons are on");
    return typeof query["id"] === "string" ? { ...mapped, callbackId: query["id"] } : mapped;
  }
  const reaction = at("message_reaction");
  if (reaction) return events(reactionEvent(reaction, updateId, facts), "reactions like this are not reported");
  const membership = at("my_chat_member") ?? at("chat_member");
  if (membership) return events(membershipEvent(membership, facts), "only rights changed");
  const kinds = Object.keys(fields).filter((key) => key !== "update_id");
  return { events: [], ignored: `updates of the kind ${kinds.join(", ").slice(0, 100) || "(none)"} are not read` };
}
