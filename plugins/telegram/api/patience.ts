/** How long Telegram asked to wait before a chat gets anything more. It holds for the whole chat, not only for the request that got the 429. */
import { TelegramError } from "./failure.ts";

export interface Patience {
  /** The refusal that a request would only meet again; undefined: it may be made. */
  refused(method: string, payload: object): TelegramError | undefined;
  /** A request was refused. */
  learn(method: string, payload: object, failure: TelegramError): void;
}

/** What people see as a message, new or changed. */
const POSTS = /^(?:send|edit|copy|forward|stop(?:Poll|MessageLiveLocation))/;
/** Telegram limits them on their own; they wait for the chat like all others. */
const ACTION = "sendChatAction";

const chatOf = (payload: object): string | undefined => {
  const id = (payload as { readonly chat_id?: unknown }).chat_id;
  // No chat has the number 0: it stands where nothing shall be sent.
  return (typeof id === "number" && id !== 0) || typeof id === "string" ? String(id) : undefined;
};

export function createPatience(now: () => number): Patience {
  const until = new Map<string, number>();
  return {
    refused(method, payload) {
      const chat = POSTS.test(method) ? chatOf(payload) : undefined;
      const left = chat === undefined ? 0 : (until.get(chat) ?? 0) - now();
      if (left <= 0) {
        if (chat !== undefined) until.delete(chat);
        return undefined;
      }
      return new TelegramError(`Telegram asked for a pause in this chat: ${method} has to wait for ${Math.ceil(left / 1000)} s`, {
        method,
        status: 429,
        delivery: { state: "retry", retryAfterMs: Math.ceil(left) },
      });
    },
    learn(method, payload, failure) {
      const ms = failure.status === 429 ? failure.delivery.retryAfterMs : undefined;
      const chat = POSTS.test(method) && method !== ACTION ? chatOf(payload) : undefined;
      if (ms !== undefined && chat !== undefined) until.set(chat, Math.max(until.get(chat) ?? 0, now() + ms));
    },
  };
}
