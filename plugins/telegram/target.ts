/** Whom a message goes to, as people and the host write it. */
import { unfit } from "./api/failure.ts";

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
  throw unfit("send", `"${to}" names no Telegram chat; write a chat's number such as 123456789 or -1001234567890, or @name of a public one`);
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
