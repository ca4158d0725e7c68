/** Who wrote which message, as far as this process saw it: reactions and quotations name the author. */
import { createRecent } from "openclaw/plugin-sdk/channel-kit";
import { bareId } from "./target.ts";

export interface MessageRef {
  readonly timestamp: number;
  /** A number, or `uuid:<id>`. */
  readonly author: string | undefined;
}

/** `1737630212345`, or with its author `1737630212345:+49170…`. Undefined: it names no message. */
export function parseMessageId(id: string | null | undefined): MessageRef | undefined {
  const [, digits, author] = /^(\d{10,16})(?::(\+\d{5,15}|uuid:[0-9a-f-]{36}))?$/i.exec((id ?? "").trim()) ?? [];
  return digits === undefined ? undefined : { timestamp: Number(digits), author };
}

export interface Known {
  readonly author: string;
  readonly text: string;
}

export interface RecentMessages {
  note(accountId: string, to: string, timestamp: number, known: Known): void;
  find(accountId: string, to: string, timestamp: number): Known | undefined;
}

const MAX_MESSAGES = 2000;
const MAX_TEXT = 500;

export function createRecentMessages(): RecentMessages {
  const known = createRecent<Known>(MAX_MESSAGES);
  const key = (accountId: string, to: string, timestamp: number): string => `${accountId} ${bareId(to)} ${timestamp}`;
  return {
    note(accountId, to, timestamp, { author, text }) {
      known.set(key(accountId, to, timestamp), { author, text: text.slice(0, MAX_TEXT) });
    },
    find: (accountId, to, timestamp) => known.get(key(accountId, to, timestamp)),
  };
}
