/** What methods of the Web API have in common: how they are declared, and what they check. */
import { type Message, messageObject, type World } from "./world.ts";
import { SlackRefusal } from "./refusal.ts";

export type Args = Readonly<Record<string, string>>;
export type TokenKind = "bot" | "user" | "app";

export interface Caller {
  readonly kind: TokenKind;
  readonly scopes: ReadonlySet<string>;
}

export interface MethodHost {
  readonly world: World;
  readonly fileHost: () => string;
  /** An upload that was announced: its address. */
  announce(name: string, length: number): { readonly id: string; readonly url: string };
  /** An upload whose bytes came, with its title from now on. */
  uploaded(id: string, title?: string): Message["files"][number] | undefined;
  /** A single-use address of a socket. */
  openSocket(): string;
  /** Sockets are switched off for the app. */
  readonly hasSockets: () => boolean;
  /** What the bot did: events for subscribers, also of its own. */
  posted(message: Message): void;
  changed(message: Message, before: string): void;
  deleted(message: Message): void;
  reacted(message: Message, name: string, what: "added" | "removed"): void;
  pinned(message: Message, what: "added" | "removed"): void;
  readonly statuses: { readonly channel: string; readonly threadTs: string; readonly status: string }[];
}

export interface Method {
  readonly scope?: string;
  readonly tokens?: readonly TokenKind[];
  readonly required?: readonly string[];
  run(args: Args, host: MethodHost, caller: Caller): object;
}

export const MAX_TEXT = 40_000;
export const MAX_UPDATE = 4000;
export const MAX_MARKDOWN = 12_000;

export function conversationOf({ world }: MethodHost, id: string | undefined) {
  const found = world.conversations.get(id ?? "");
  if (!found) throw new SlackRefusal("channel_not_found");
  return found;
}

export function writable(host: MethodHost, id: string | undefined) {
  const found = conversationOf(host, id);
  if (found.isArchived) throw new SlackRefusal("is_archived");
  if (!found.members.has(host.world.bot.id)) throw new SlackRefusal("not_in_channel");
  return found;
}

export function jsonIn(text: string | undefined, error: string): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new SlackRefusal(error);
  }
}

export function messageIn(host: MethodHost, channel: string | undefined, ts: string | undefined, error = "message_not_found"): Message {
  const found = host.world.find(channel ?? "", ts ?? "");
  if (!found) throw new SlackRefusal(error);
  return found;
}

export function ownMessage(host: MethodHost, args: Args, error: string): Message {
  const found = messageIn(host, args["channel"], args["ts"]);
  if (found.botId !== host.world.bot.botId) throw new SlackRefusal(error);
  return found;
}

export function checkedText(args: Args, most: number, hasMore: boolean): string {
  const text = args["text"] ?? "";
  if (text === "" && !hasMore) throw new SlackRefusal("no_text");
  if (text.length > most) throw new SlackRefusal("msg_too_long");
  return text;
}

export function threadOf(host: MethodHost, channel: string, ts: string | undefined): string | undefined {
  if (ts === undefined) return undefined;
  if (!/^\d{10}\.\d{6}$/.test(ts)) throw new SlackRefusal("invalid_thread_ts");
  return messageIn(host, channel, ts, "thread_not_found").threadTs ?? ts;
}

export const shown = (host: MethodHost, message: Message): object => messageObject(message, host.world, host.fileHost());
