/** Who wrote, and in which chat. */
import { groupRules, type TelegramAccount } from "../account.ts";
import { defined, fieldsOf, type Fields, textOf, wholeOf } from "openclaw/plugin-sdk/channel-kit";
import type { SentPoll } from "../records.ts";
import { GENERAL_TOPIC } from "../send/sender.ts";
import type { ChannelInboundEvent, ChannelInboundSender } from "../types.ts";
import type { LongTexts, Self } from "./text.ts";

/** What has to be known to read an update. */
export interface MappingFacts {
  readonly self: Self;
  readonly account: Pick<TelegramAccount, "groups" | "buttons" | "reactionNotices">;
  /** Whether we sent that message, among the latest ones. */
  isOurs(chatId: string, messageId: number): boolean;
  /** A poll that we sent, as far as people see who votes. */
  poll(pollId: string): SentPoll | undefined;
  /** Whether the menu that people see offers this command. */
  offers(command: string): boolean;
  readonly longTexts: LongTexts;
}

/** An update that is not what the Bot API promises. */
export class MalformedUpdate extends Error {
  override readonly name = "MalformedUpdate";
}

/** Accounts of Telegram itself that stand in for a chat: anonymous admins, posts of channels, what a linked channel posts. */
const STAND_INS: ReadonlySet<number> = new Set([1_087_968_824, 136_817_688, 777_000]);

export function nameOf(person: Fields | undefined): string | undefined {
  const name = `${textOf(person?.["first_name"])?.trim() ?? ""} ${textOf(person?.["last_name"])?.trim() ?? ""}`.trim();
  return name || textOf(person?.["title"])?.trim() || textOf(person?.["username"]) || undefined;
}

/** A person or, where someone writes as a chat, that chat: its id is below zero and equals nobody's. */
export function senderOf(from: unknown, as?: unknown): ChannelInboundSender | undefined {
  const person = fieldsOf(from);
  const chat = fieldsOf(as);
  const personId = wholeOf(person?.["id"]);
  const author = chat && (personId === undefined || STAND_INS.has(personId)) ? chat : person;
  const id = wholeOf(author?.["id"]);
  if (author === undefined || id === undefined) return undefined;
  return defined({
    id: String(id),
    name: nameOf(author),
    username: textOf(author["username"]),
    isBot: author === person && person["is_bot"] === true ? true : undefined,
  });
}

export interface ChatRef {
  readonly chat: ChannelInboundEvent["chat"];
  readonly to: string;
  /** `From`, `To` and the label of the message context. */
  readonly context: Record<string, unknown>;
  /** From the configuration of the group and its topic. */
  readonly rules: Pick<ChannelInboundEvent, "groupSystemPrompt" | "skillFilter">;
}

/** In a forum every message has a topic. Other groups number their reply threads the same way, which are none. */
function topicOf(message: Fields, chat: Fields): number | undefined {
  if (chat["is_forum"] !== true) return undefined;
  const id = wholeOf(message["message_thread_id"]);
  return id !== undefined && message["is_topic_message"] === true ? id : GENERAL_TOPIC;
}

/** The chat of a message, or of anything else that has a `chat`. Channels count as groups: they have to be configured. */
export function chatRefOf(message: Fields, groups: Fields): ChatRef {
  const chat = fieldsOf(message["chat"]);
  const id = wholeOf(chat?.["id"]);
  const type = textOf(chat?.["type"]);
  if (chat === undefined || id === undefined || type === undefined) throw new MalformedUpdate("its chat has no id or no type");
  const isDirect = type === "private";
  const to = `telegram:${id}`;
  // The first message of a topic is the one that created it, and it has the topic's name.
  const topicName = textOf(fieldsOf(fieldsOf(message["reply_to_message"])?.["forum_topic_created"])?.["name"]);
  const label = topicName === undefined ? {} : { ThreadLabel: `${nameOf(chat) ?? "group"} topic: ${topicName}` };
  if (isDirect) {
    const threadId = wholeOf(message["message_thread_id"]);
    const thread = threadId === undefined ? {} : { threadId };
    return { chat: { type: "direct", id: String(id), ...thread }, to, context: { From: to, To: to, ...label }, rules: {} };
  }
  const topic = topicOf(message, chat);
  const rules = groupRules(groups, String(id), topic);
  const username = textOf(chat["username"]);
  return {
    chat: defined({
      type: "group" as const,
      id: String(id),
      threadId: topic,
      isForum: chat["is_forum"] === true ? true : undefined,
      title: nameOf(chat),
      channelName: username === undefined ? undefined : `@${username}`,
    }),
    to,
    context: { From: `telegram:group:${id}${topic === undefined ? "" : `:topic:${topic}`}`, To: to, ...label },
    rules: defined({ groupSystemPrompt: rules.systemPrompt, skillFilter: rules.skills }),
  };
}
