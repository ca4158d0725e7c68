/** Reactions, votes, deleted messages, and people who leave. */
import { defined, type Fields, fieldsOf, listOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { DiscordAccount } from "../account.ts";
import type { ChannelInboundEvent, ChannelInboundSender } from "../types.ts";
import { chatRefOf, MalformedEvent, senderOf, type Surroundings } from "./chat.ts";

export interface ReactionFacts {
  readonly account: DiscordAccount;
  readonly botId: string;
  readonly around: Surroundings;
  /** Names this event for good. */
  readonly key: string;
  /** Roles of the person, where the event does not bring them. */
  readonly roles: string[] | undefined;
  /** Whether we wrote the message. */
  isOurs(channelId: string, messageId: string): Promise<boolean>;
}

/** As it is written in a message. */
function emojiText(raw: unknown): string {
  const emoji = fieldsOf(raw);
  const [id, name] = [textOf(emoji?.["id"]), textOf(emoji?.["name"]) ?? "?"];
  return id === undefined ? name : `<${emoji?.["animated"] === true ? "a" : ""}:${name}:${id}>`;
}

export async function reactionEvent(isAdded: boolean, data: Fields, facts: ReactionFacts): Promise<ChannelInboundEvent | undefined> {
  const [userId, channelId, messageId] = [textOf(data["user_id"]), textOf(data["channel_id"]), textOf(data["message_id"])];
  if (userId === undefined || channelId === undefined || messageId === undefined) throw new MalformedEvent("its reaction has no message or no user");
  if (userId === facts.botId) return undefined;
  const ref = chatRefOf(facts.around, userId, facts.account);
  const mode = ref.layers.map((layer) => textOf(layer["reactionNotifications"])).find((one) => one !== undefined) ?? "own";
  if (mode === "off") return undefined;
  const author = textOf(data["message_author_id"]);
  const isOurs = author === undefined ? () => facts.isOurs(channelId, messageId) : () => Promise.resolve(author === facts.botId);
  if (mode === "own" && !(await isOurs())) return undefined;
  const member = fieldsOf(data["member"]);
  const sender = senderOf(member?.["user"] ?? { id: userId }, member) ?? { id: userId };
  const emoji = emojiText(data["emoji"]);
  return {
    kind: "reaction",
    id: `${messageId}:reaction:${facts.key}`,
    chat: ref.chat,
    sender: defined({ ...sender, roles: sender.roles ?? facts.roles }),
    text: isAdded ? emoji : `${emoji} (taken back)`,
    to: ref.to,
    replyTo: { id: messageId },
    context: { ...ref.context, ReplyToId: messageId },
  };
}

/** Someone left the server: reported where it announces such things. */
export function memberLeftEvent(data: Fields, facts: Pick<ReactionFacts, "account" | "around" | "key" | "botId">): ChannelInboundEvent | undefined {
  const sender = senderOf(data["user"], undefined);
  if (sender === undefined) throw new MalformedEvent("its member has no id");
  if (sender.id === facts.botId) return undefined;
  const ref = chatRefOf(facts.around, sender.id, facts.account);
  const text = `Discord: ${sender.name ?? sender.id} left the server`;
  return { kind: "member", id: `member:${sender.id}:left:${facts.key}`, chat: ref.chat, sender, text, to: ref.to, context: ref.context };
}

/** Who deleted it is not known: it counts as its author's, and passes the same gate as the message did. */
export function deletedEvent(messageId: string, sender: ChannelInboundSender, around: Surroundings, account: DiscordAccount): ChannelInboundEvent {
  const ref = chatRefOf(around, sender.id, account);
  const text = `Discord: message ${messageId} by ${sender.name ?? sender.id} was deleted`;
  return { kind: "notice", id: `${messageId}:deleted`, chat: ref.chat, sender, text, to: ref.to, context: ref.context };
}

interface Vote {
  readonly messageId: string;
  readonly userId: string;
  readonly answerId: unknown;
  readonly poll: Fields;
}

const answerText = (poll: Fields, answerId: unknown): string => {
  const answer = listOf(poll["answers"]).find((raw) => String(fieldsOf(raw)?.["answer_id"]) === String(answerId));
  return textOf(fieldsOf(fieldsOf(answer)?.["poll_media"])?.["text"]) ?? `answer ${String(answerId)}`;
};

export function voteEvent(isAdded: boolean, vote: Vote, facts: Pick<ReactionFacts, "account" | "around" | "key" | "roles">): ChannelInboundEvent {
  const { messageId, userId, answerId, poll } = vote;
  const ref = chatRefOf(facts.around, userId, facts.account);
  const what = `${isAdded ? "voted" : "withdrew the vote"} ${JSON.stringify(answerText(poll, answerId))}`;
  const question = textOf(fieldsOf(poll["question"])?.["text"]) ?? "";
  return {
    kind: "notice",
    id: `${messageId}:vote:${facts.key}`,
    chat: ref.chat,
    sender: defined({ id: userId, roles: facts.roles }),
    text: `Discord: ${userId} ${what} in the poll ${JSON.stringify(question)}`,
    to: ref.to,
    context: ref.context,
  };
}
