/** Accounts that are connected, and what is remembered about their chats. */
import type { GroupMetadata, WASocket } from "baileys";
import { notSent } from "openclaw/plugin-sdk/channel-kit";
import { isGroup } from "./address.ts";
import type { Self } from "./inbound/events.ts";
import type { SentMessages } from "./sent.ts";
import type { Library } from "./session/library.ts";
import type { Lane } from "./session/storing.ts";

/** A connected account. */
export interface Live {
  readonly socket: WASocket;
  readonly library: Library;
  readonly self: Self;
  readonly sent: SentMessages;
  readonly groups: GroupCache;
  readonly authors: Authors;
  readonly lane: Lane;
}

export interface LiveAccounts {
  get(accountId: string): Live | undefined;
  /** Rejects the send where the account is not connected: it waits. */
  need(accountId: string): Live;
  set(accountId: string, live: Live | undefined): void;
}

export function createLiveAccounts(): LiveAccounts {
  const accounts = new Map<string, Live>();
  return {
    get: (accountId) => accounts.get(accountId),
    need(accountId) {
      const live = accounts.get(accountId);
      if (!live) throw notSent("send", `WhatsApp account "${accountId}" is not connected`);
      return live;
    },
    set(accountId, live) {
      if (live) accounts.set(accountId, live);
      else accounts.delete(accountId);
    },
  };
}

const GROUP_MS = 5 * 60_000;
const LOOKUP_MS = 5000;

export interface GroupCache {
  get(group: string): Promise<GroupMetadata | undefined>;
  forget(group: string): void;
}

/** Names and members of groups, asked for every five minutes at most. A group that cannot be asked for in time has none. */
export function createGroupCache(socket: Pick<WASocket, "groupMetadata">, now: () => number): GroupCache {
  const known = new Map<string, { readonly until: number; readonly data: Promise<GroupMetadata | undefined> }>();
  return {
    async get(group) {
      const before = known.get(group);
      if (before && before.until > now()) return before.data;
      const asked = socket.groupMetadata(group).catch(() => {
        known.delete(group);
        return undefined;
      });
      known.set(group, { until: now() + GROUP_MS, data: asked });
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const timer = setTimeout(resolve, LOOKUP_MS, undefined);
      return Promise.race([asked, promise]).finally(() => clearTimeout(timer));
    },
    forget: (group) => void known.delete(group),
  };
}

/** Who wrote the messages of groups: a reaction or an answer has to name them. */
export interface Authors {
  note(chat: string, id: string, author: string | null | undefined, body: string): void;
  find(chat: string, id: string): { readonly author: string | undefined; readonly body: string } | undefined;
}

const MAX_AUTHORS = 3000;
const MAX_BODY = 300;

export function createAuthors(): Authors {
  const known = new Map<string, { readonly author: string | undefined; readonly body: string }>();
  return {
    note(chat, id, author, body) {
      known.set(`${chat} ${id}`, { author: isGroup(chat) ? (author ?? undefined) : undefined, body: body.slice(0, MAX_BODY) });
      const [oldest] = known.keys();
      if (known.size > MAX_AUTHORS && oldest !== undefined) known.delete(oldest);
    },
    find: (chat, id) => known.get(`${chat} ${id}`),
  };
}
