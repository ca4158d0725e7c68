/** Targets, and requests that post something to them, with the ways out that Telegram's refusals leave. */
import { asChannelError, type ChannelError, unfit } from "openclaw/plugin-sdk/channel-kit";
import type { TelegramAccount } from "../account.ts";
import type { TelegramClient } from "../api/client.ts";
import { movedTo } from "../api/failure.ts";
import type { Render } from "../accounts.ts";

/** Whom a message goes to. */
export interface Target {
  /** A number, or `@name` of a public channel or group. */
  readonly chatId: number | string;
  readonly threadId?: number;
}

/** General has no id of its own in requests that send. */
export const GENERAL_TOPIC = 1;
/** Ids of messages are 32 bits wide; what is larger is the id of something else, such as a pressed button. */
const MAX_MESSAGE_ID = 2 ** 31 - 1;

const NUMBERED = /^(-?\d{1,16})(?::(?:topic:)?(\d{1,10}))?$/;
const NAMED = /^@?([a-z]\w{4,31})(?::(?:topic:)?(\d{1,10}))?$/i;

/** `telegram:`, `tg:`, `group:`, a chat's number, `@name`, a t.me link; `:topic:<n>` or `:<n>` behind it. */
export function parseTarget(to: string, threadId?: string | number | null): Target {
  const bare = to
    .trim()
    .replace(/^(?:(?:telegram|tg|group):)+/i, "")
    .replace(/^(?:https?:\/\/)?t\.me\//i, "@")
    .trim();
  const topic = (text: string | undefined): { threadId?: number } => {
    const id = messageId(threadId ?? text);
    return id === undefined ? {} : { threadId: id };
  };
  const numbered = NUMBERED.exec(bare);
  if (numbered) return { chatId: Number(numbered[1]), ...topic(numbered[2]) };
  const named = NAMED.exec(bare);
  if (named) return { chatId: `@${named[1]}`, ...topic(named[2]) };
  throw unfit("send", `"${to}" is not a Telegram chat; use a chat's number such as 123456789 or -1001234567890, or @name of a public one`);
}

/** The id of a message or topic, if this is one. */
export function messageId(value: string | number | null | undefined): number | undefined {
  const text = String(value ?? "").trim();
  if (!/^\d{1,10}$/.test(text)) return undefined;
  const id = Number(text);
  return id > 0 && id <= MAX_MESSAGE_ID ? id : undefined;
}

/** Chats with people have their numbers above zero. */
export function isDirect({ chatId }: Target): boolean {
  return typeof chatId === "number" && chatId > 0;
}

/** One account that can send. */
export interface Sender {
  readonly account: TelegramAccount;
  readonly client: TelegramClient;
  readonly render: Render;
  /** What messages show while an answer is written. */
  readonly preview: {
    shown(chatId: number | string, messageId: number, text: string): void;
    /** The text it showed last, as far as that is known; it is dropped with this. */
    take(chatId: number | string, messageId: number): string | undefined;
  };
  /** We sent this one. */
  sent(chatId: string, messageId: number): void;
  /** The id that a group has by now. */
  currentId(chatId: number | string): number | string;
  /** A group was found under another id. */
  migrated(from: string, to: string): Promise<void>;
}

export interface Posted {
  readonly message_id: number;
  readonly date?: number;
  readonly chat?: { readonly id: number };
}

export interface PostOptions {
  readonly to: string;
  readonly threadId?: string | number | null | undefined;
  readonly replyToId?: string | null | undefined;
  readonly silent?: boolean | undefined;
}

/** What all requests that post have in common. */
export interface PostFields {
  chat_id: number | string;
  message_thread_id?: number;
  disable_notification?: true;
  reply_parameters?: { message_id: number; allow_sending_without_reply: true };
}

export function postFields(sender: Sender, options: PostOptions): PostFields {
  const target: Target = parseTarget(options.to, options.threadId);
  const reply = messageId(options.replyToId);
  const thread = target.threadId;
  return {
    chat_id: sender.currentId(target.chatId),
    ...(thread === undefined || thread === GENERAL_TOPIC ? {} : { message_thread_id: thread }),
    ...(options.silent === true ? { disable_notification: true } : {}),
    ...(reply === undefined ? {} : { reply_parameters: { message_id: reply, allow_sending_without_reply: true } }),
  };
}

/** Another form of the request for a refusal that has one; `undefined`: none. */
export type Detour<T> = (failure: ChannelError, fields: T) => T | undefined;

/** The topic is gone: the chat is still there. */
function withoutThread<T extends PostFields>(failure: ChannelError, fields: T): T | undefined {
  if (fields.message_thread_id === undefined || !failure.mentions("message thread not found", "TOPIC_CLOSED", "TOPIC_DELETED")) return undefined;
  const { message_thread_id: _thread, ...rest } = fields;
  return rest as T;
}

/** Also where Telegram does not let go of it by itself. */
function withoutReply<T extends PostFields>(failure: ChannelError, fields: T): T | undefined {
  if (fields.reply_parameters === undefined || !failure.mentions("message to be replied not found", "replied message not found", "MESSAGE_ID_INVALID"))
    return undefined;
  const { reply_parameters: _reply, ...rest } = fields;
  return rest as T;
}

/** Each way out is taken once at most, so this ends. */
export async function post<T extends PostFields>(
  sender: Sender,
  fields: T,
  request: (fields: T) => Promise<Posted>,
  detours: readonly Detour<T>[] = [],
): Promise<Posted> {
  const left = new Set<Detour<T>>([...detours, withoutThread, withoutReply]);
  /** The request in its next form. */
  function changed(failure: ChannelError, refused: T): T | undefined {
    for (const detour of left) {
      const next = detour(failure, refused);
      if (next === undefined) continue;
      left.delete(detour);
      return next;
    }
    return undefined;
  }
  let current = fields;
  let mayMigrate = true;
  for (;;) {
    try {
      const posted = await request(current);
      sender.sent(String(posted.chat?.id ?? current.chat_id), posted.message_id);
      return posted;
    } catch (error) {
      const failure = asChannelError(error);
      if (failure?.status !== 400) throw error;
      const moved = movedTo(failure);
      if (moved !== undefined && mayMigrate) {
        mayMigrate = false;
        await sender.migrated(String(current.chat_id), String(moved));
        current = { ...current, chat_id: moved };
        continue;
      }
      const next = changed(failure, current);
      if (!next) throw failure;
      current = next;
    }
  }
}

/** In the form that the host expects. */
export function receipt(posted: Posted, chatId: number | string) {
  return {
    channel: "telegram",
    messageId: String(posted.message_id),
    chatId: String(posted.chat?.id ?? chatId),
    ...(posted.date === undefined ? {} : { timestamp: posted.date * 1000 }),
  };
}
