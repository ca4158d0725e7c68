/** What is stored about an account: its polls, because votes name only their number, and chats and stickers of accepted messages, to be listed and found. */
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { defined, type Fields, fieldsOf, messageOf, textOf, textsOf, wholeOf } from "openclaw/plugin-sdk/channel-kit";
import type { TelegramPluginOptions } from "./channel.ts";
import type { ChannelInboundEvent } from "./types.ts";
import { isDirect, parseTarget } from "./send/sender.ts";

export interface SentPoll {
  readonly chatId: number;
  readonly topicId?: number | undefined;
  readonly question: string;
  readonly options: readonly string[];
}

export interface SeenSticker {
  readonly fileId: string;
  readonly emoji?: string | undefined;
  readonly setName?: string | undefined;
}

/** A chat that wrote. The Bot API lists none. */
export interface SeenChat {
  readonly id: string;
  readonly isGroup: boolean;
  readonly name?: string | undefined;
  /** Without the `@`. */
  readonly username?: string | undefined;
}

export interface Records {
  /** Reads what an earlier process stored. */
  load(accountId: string): Promise<void>;
  poll(accountId: string, pollId: string): SentPoll | undefined;
  pollSent(accountId: string, pollId: string, ctx: Parameters<NonNullable<NonNullable<ChannelPlugin["outbound"]>["sendPoll"]>>[0]): void;
  /** The host accepted this event. */
  accepted(accountId: string, event: ChannelInboundEvent): void;
  /** Groups or people that wrote, the latest first. */
  chats(accountId: string, isGroup: boolean): readonly SeenChat[];
  /** Stickers whose emoji or set fits, the latest first. */
  stickers(accountId: string, query: string, limit: number): readonly SeenSticker[];
}

const MOST = 500;
const POLL_MS = 30 * 24 * 3_600_000;

function readPoll(raw: unknown): SentPoll | undefined {
  const fields = fieldsOf(raw);
  const [chatId, question] = [wholeOf(fields?.["chatId"]), textOf(fields?.["question"])];
  if (chatId === undefined || question === undefined) return undefined;
  return defined({ chatId, topicId: wholeOf(fields?.["topicId"]), question, options: textsOf(fields?.["options"]) });
}

function readSticker(raw: unknown): SeenSticker | undefined {
  const fields = fieldsOf(raw);
  const fileId = textOf(fields?.["fileId"]);
  return fileId === undefined ? undefined : defined({ fileId, emoji: textOf(fields?.["emoji"]), setName: textOf(fields?.["setName"]) });
}

function readChat(raw: unknown): SeenChat | undefined {
  const fields = fieldsOf(raw);
  const id = textOf(fields?.["id"]);
  if (id === undefined) return undefined;
  return defined({ id, isGroup: fields?.["isGroup"] === true, name: textOf(fields?.["name"]), username: textOf(fields?.["username"]) });
}

/** The group of an event, and the person behind it. */
function chatsIn({ chat, sender }: ChannelInboundEvent): readonly SeenChat[] {
  const person: SeenChat = defined({ id: sender.id, isGroup: false, name: sender.name, username: sender.username });
  const group: SeenChat = defined({ id: chat.id, isGroup: true, name: chat.title, username: chat.channelName?.replace(/^@/, "") });
  return [...(sender.isBot === true || sender.id.startsWith("-") ? [] : [person]), ...(chat.type === "direct" ? [] : [group])];
}

/** The message that a vote is about, as far as its chat goes. */
export function pollPlace({ chatId, topicId }: SentPoll): Fields {
  const chat = { id: chatId, type: isDirect({ chatId }) ? "private" : "supergroup", ...(topicId === undefined ? {} : { is_forum: true }) };
  return { chat, ...(topicId === undefined ? {} : { message_thread_id: topicId, is_topic_message: true }) };
}

export function createRecords({ runtime, log }: Pick<TelegramPluginOptions, "runtime" | "log">): Records {
  function open<T>(namespace: string, read: (raw: unknown) => T | undefined, ttlMs?: number) {
    const known = new Map<string, T>();
    const store = () => runtime?.state.openKeyedStore?.({ namespace, maxEntries: 10 * MOST });
    function hold(key: string, value: T): void {
      known.delete(key);
      known.set(key, value);
      const [oldest] = known.size > MOST ? known.keys() : [];
      if (oldest !== undefined) known.delete(oldest);
    }
    return {
      async load(accountId: string): Promise<void> {
        const entries = (await store()?.entries()) ?? [];
        for (const { key, value } of entries.toSorted((one, other) => one.createdAt - other.createdAt)) {
          const found = key.startsWith(`${accountId}:`) && !known.has(key) ? read(value) : undefined;
          if (found) hold(key, found);
        }
      },
      add(accountId: string, id: string, value: T): void {
        const key = `${accountId}:${id}`;
        const isSame = JSON.stringify(known.get(key)) === JSON.stringify(value);
        hold(key, value);
        if (isSame) return;
        store()
          ?.register(key, value, ttlMs === undefined ? {} : { ttlMs })
          .catch((error: unknown) => log?.warn(`Telegram: ${namespace} could not be stored: ${messageOf(error)}`));
      },
      get: (accountId: string, id: string): T | undefined => known.get(`${accountId}:${id}`),
      list: (accountId: string): T[] => [...known].flatMap(([key, value]) => (key.startsWith(`${accountId}:`) ? [value] : [])).toReversed(),
    };
  }
  const polls = open("polls", readPoll, POLL_MS);
  const stickers = open("stickers", readSticker);
  const chats = open("chats", readChat);
  return {
    async load(accountId) {
      await polls.load(accountId);
      await stickers.load(accountId);
      await chats.load(accountId);
    },
    poll: (accountId, pollId) => polls.get(accountId, pollId),
    pollSent(accountId, pollId, { to, threadId, poll, isAnonymous }) {
      const { chatId, threadId: topicId } = parseTarget(to, threadId);
      // Votes in an anonymous poll are not reported; a public name has no number that its votes could be sorted to.
      if (isAnonymous !== false || typeof chatId !== "number") return;
      const options = poll.options.map((option) => option.trim()).filter(Boolean);
      polls.add(accountId, pollId, defined({ chatId, topicId, question: poll.question.trim(), options }));
    },
    accepted(accountId, event) {
      for (const chat of chatsIn(event)) chats.add(accountId, chat.id, chat);
      const raw = fieldsOf(event.context?.["Sticker"]);
      const sticker = raw && readSticker(raw);
      if (sticker) stickers.add(accountId, textOf(raw["fileUniqueId"]) ?? sticker.fileId, sticker);
    },
    chats: (accountId, isGroup) => chats.list(accountId).filter((chat) => chat.isGroup === isGroup),
    stickers(accountId, query, limit) {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      const fits = ({ emoji = "", setName = "" }: SeenSticker): boolean => words.every((word) => emoji.includes(word) || setName.toLowerCase().includes(word));
      return stickers.list(accountId).filter(fits).slice(0, limit);
    },
  };
}
