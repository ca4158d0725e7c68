/** The chat that an update belongs to. */
import { placeRules } from "../account.ts";
import { fieldsOf, type Fields, given, textOf, wholeOf } from "../fields.ts";
import { GENERAL_TOPIC } from "../target.ts";
import type { ChannelInboundEvent } from "../types.ts";
import { nameOf } from "./people.ts";

/** An update that is not what the Bot API promises. */
export class MalformedUpdate extends Error {
  override readonly name = "MalformedUpdate";
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
function threadOf(message: Fields, chat: Fields, isDirect: boolean): number | undefined {
  const id = wholeOf(message["message_thread_id"]);
  if (isDirect) return id;
  if (chat["is_forum"] !== true) return undefined;
  return id !== undefined && message["is_topic_message"] === true ? id : GENERAL_TOPIC;
}

function topicName(message: Fields): string | undefined {
  const replied = fieldsOf(message["reply_to_message"]);
  return textOf(fieldsOf(replied?.["forum_topic_created"])?.["name"]);
}

/** The chat of a message, or of anything else that has a `chat`. Channels count as groups: they have to be configured. */
export function chatRefOf(message: Fields, groups: Fields): ChatRef {
  const chat = fieldsOf(message["chat"]);
  const id = wholeOf(chat?.["id"]);
  const type = textOf(chat?.["type"]);
  if (chat === undefined || id === undefined || type === undefined) throw new MalformedUpdate("its chat has no id or no type");
  const isDirect = type === "private";
  const threadId = threadOf(message, chat, isDirect);
  const topic = isDirect ? undefined : threadId;
  const rules = isDirect ? {} : placeRules(groups, String(id), topic);
  const name = topicName(message);
  return {
    chat: given({
      type: isDirect ? ("direct" as const) : ("group" as const),
      id: String(id),
      threadId,
      isForum: chat["is_forum"] === true && !isDirect ? true : undefined,
      title: isDirect ? undefined : nameOf(chat),
      channelName: isDirect || textOf(chat["username"]) === undefined ? undefined : `@${textOf(chat["username"])}`,
    }),
    to: `telegram:${id}`,
    context: given({
      From: isDirect ? `telegram:${id}` : `telegram:group:${id}${topic === undefined ? "" : `:topic:${topic}`}`,
      To: `telegram:${id}`,
      ThreadLabel: name === undefined ? undefined : `${nameOf(chat) ?? "group"} topic: ${name}`,
    }),
    rules: given({ groupSystemPrompt: rules.systemPrompt, skillFilter: rules.skills }),
  };
}
