/** Messages, with their files and threads; edited and deleted ones. */
import { defined, type Fields, fieldsOf, listOf, numberOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { ChannelInboundEvent, ChannelInboundMedia } from "../types.ts";
import { chatRefOf, isOurs, MalformedEvent, type ReadingFacts, senderOf, timeOf } from "./chat.ts";
import { readText } from "./text.ts";
import { threadContext } from "./thread.ts";

const MAX_FILES = 8;
const QUICK_MS = 1500;

function kindOf(mimeType: string): ChannelInboundMedia["kind"] {
  const [type = ""] = mimeType.split("/");
  return type === "image" || type === "video" || type === "audio" ? type : "document";
}

/** Files that Slack keeps itself. Others are links. */
function mediaOf(message: Fields): ChannelInboundMedia[] {
  return listOf(message["files"])
    .slice(0, MAX_FILES)
    .flatMap((entry) => {
      const file = fieldsOf(entry);
      const url = textOf(file?.["url_private_download"]) ?? textOf(file?.["url_private"]);
      if (file === undefined || url === undefined || file["mode"] === "external" || file["is_external"] === true) return [];
      const facts = defined({ mimeType: textOf(file["mimetype"]), fileName: textOf(file["name"]), bytes: numberOf(file["size"]) });
      return [{ kind: kindOf(facts.mimeType ?? ""), ref: { url, ...facts }, ...facts }];
    });
}

/** The text, else what its attachments say: other apps write so. */
function rawText(message: Fields): string {
  const text = textOf(message["text"]);
  if (text !== undefined) return text;
  const parts = listOf(message["attachments"]).flatMap((entry) => {
    const { pretext, title, text: body, fallback } = fieldsOf(entry) ?? {};
    const found = [pretext, title, body].flatMap((part) => textOf(part) ?? []);
    return found.length > 0 ? found : (textOf(fallback) ?? []);
  });
  return parts.join("\n");
}

/** The thread of a reply. Slack leaves it out sometimes, and the history has it. */
async function threadIn(message: Fields, channel: string, { workspace }: ReadingFacts): Promise<string | undefined> {
  const [ts, thread, parent] = [textOf(message["ts"]), textOf(message["thread_ts"]), textOf(message["parent_user_id"])];
  if (thread !== undefined) return thread !== ts || parent !== undefined ? thread : undefined;
  if (parent === undefined || ts === undefined) return undefined;
  const params = { channel, latest: ts, oldest: ts, inclusive: true, limit: 1 };
  const { messages } = await workspace.api.call("conversations.history", params, { timeoutMs: QUICK_MS }).catch((): Fields => ({}));
  return textOf(fieldsOf(listOf(messages)[0])?.["thread_ts"]);
}

interface Author {
  readonly id: string;
  readonly isBot: boolean;
}

function authorOf(message: Fields): Author | undefined {
  const botId = textOf(message["bot_id"]);
  const id = textOf(message["user"]) ?? botId;
  return id === undefined ? undefined : { id, isBot: botId !== undefined };
}

/** Subtypes that are something that a person or a bot wrote. */
const WRITTEN: ReadonlySet<unknown> = new Set([undefined, "file_share", "bot_message", "thread_broadcast", "me_message"]);

/** Undefined: it is one of ours, empty, or Slack's own announcement. */
export async function messageEvent(message: Fields, facts: ReadingFacts): Promise<ChannelInboundEvent | undefined> {
  const { self } = facts;
  const [ts, channel] = [textOf(message["ts"]), textOf(message["channel"])];
  if (ts === undefined || channel === undefined) throw new MalformedEvent("its message has no ts or no channel");
  const author = authorOf(message);
  if (!WRITTEN.has(message["subtype"]) || isOurs(self, message) || author === undefined) return undefined;
  const { text, mentioned, others } = readText(rawText(message), self.userId);
  const media = mediaOf(message);
  if (text.trim() === "" && media.length === 0) return undefined;
  const thread = await threadIn(message, channel, facts);
  const [ref, sender] = await Promise.all([
    chatRefOf(facts, channel, author.id, textOf(message["channel_type"]), thread),
    senderOf(facts, author.id, author.isBot),
  ]);
  const isNamed = mentioned || message["type"] === "app_mention";
  const isImplicit = thread !== undefined && message["parent_user_id"] === self.userId;
  const wantsThread =
    thread !== undefined && ref.mayRead(author.id, author.isBot) && (ref.chat.type === "direct" || isNamed || isImplicit || ref.requireMention === false);
  const context = wantsThread ? await threadContext(facts, ref, thread, ts) : {};
  return defined({
    kind: "message" as const,
    id: ts,
    chat: ref.chat,
    sender,
    text,
    to: ref.to,
    at: timeOf(ts),
    mention: defined({ mentioned: isNamed, implicit: isImplicit, others, botUsername: self.name }),
    media: media.length > 0 ? media : undefined,
    ...ref.rules,
    untrusted: ref.untrusted,
    backlog: facts.isBacklog,
    context: { ...ref.context, ReplyToId: thread ?? ts, ...context },
  });
}

/** What `message_changed` and `message_deleted` are about. Nothing where only a preview of a link was added. */
export async function changeEvent(event: Fields, facts: ReadingFacts): Promise<ChannelInboundEvent | undefined> {
  const isDeleted = event["subtype"] === "message_deleted";
  const [message, before] = [fieldsOf(event["message"]), fieldsOf(event["previous_message"])];
  const source = isDeleted ? before : message;
  const author = source && authorOf(source);
  const ts = textOf(event["deleted_ts"]) ?? textOf(source?.["ts"]);
  if (!source || !author || ts === undefined || isOurs(facts.self, source)) return undefined;
  if (!isDeleted && rawText(source) === rawText(before ?? {})) return undefined;
  const editor = textOf(fieldsOf(source["edited"])?.["user"]) ?? author.id;
  const thread = textOf(source["thread_ts"]);
  const ref = await chatRefOf(facts, textOf(event["channel"]), author.id, textOf(event["channel_type"]), thread === ts ? undefined : thread);
  const stamp = textOf(fieldsOf(source["edited"])?.["ts"]) ?? textOf(event["event_ts"]) ?? textOf(event["ts"]) ?? "";
  const common = { chat: ref.chat, to: ref.to, replyTo: { id: ts }, context: { ...ref.context, MessageSid: ts } };
  if (isDeleted)
    return { kind: "notice", id: `${ts}:deleted`, sender: await senderOf(facts, author.id, author.isBot), text: `message ${ts} was deleted`, ...common };
  const text = readText(rawText(source), facts.self.userId).text;
  return defined({ kind: "edit" as const, id: `${ts}:edit:${stamp}`, sender: await senderOf(facts, editor, author.isBot), text, at: timeOf(stamp), ...common });
}
