import { isRecord } from "../../base/records.ts";
import { AppError } from "../../base/errors.ts";
import type { InboxRow, OutboxRow, TurnRow } from "../../store/index.ts";
import type { StoryStore } from "./story.ts";

/** What a story is asked for. */
export type Found =
  /** Messages; each is a story of its own. `others` came under the same id. */
  | { readonly kind: "messages"; readonly rows: readonly InboxRow[]; readonly others: readonly InboxRow[] }
  | { readonly kind: "turns"; readonly turns: readonly TurnRow[] }
  | { readonly kind: "delivery"; readonly row: OutboxRow };

const OUTBOX = /^(?:out|outbox)[:#](\d{1,15})$/i;
/** A shell takes `#` for a comment, so that there is another way to say it. */
const INBOX = /^(?:#|in[:#]|inbox[:#])(\d{1,15})$/i;
/** The newest messages of all sessions. No platform's message, session or run is called so. */
const RECENT = "recent";
const MOST_PARTS = 12;
const RECENT_ROWS = 1000;

/** Finds the message, turn, session or delivery that is meant. `NOT_FOUND` says what can be asked for. */
export async function find(store: StoryStore, what: string, last: number): Promise<Found> {
  const asked = what.trim();
  if (asked === RECENT) return { kind: "messages", rows: await store.read("inbox.recent", { limit: last }), others: [] };
  const found =
    (await byRow(store, asked)) ??
    (await bySession(store, asked, last)) ??
    (await byMessage(store, asked)) ??
    (await byTurn(store, asked)) ??
    (await bySessionId(store, asked, last)) ??
    (await byReceipt(store, asked));
  if (found) return found;
  const forms = "a platform message id, channel:account:chat:message, a session key or id, a run id, in:<inbox row>, out:<outbox row> or recent";
  throw new AppError(
    "NOT_FOUND",
    `nothing found for ${JSON.stringify(asked.slice(0, 200))}; expected ${forms}. Data older than the retention period is deleted`,
    {
      details: { what: asked.slice(0, 200) },
    },
  );
}

async function byRow(store: StoryStore, asked: string): Promise<Found | undefined> {
  const [, out] = OUTBOX.exec(asked) ?? [];
  if (out !== undefined) {
    const row = await store.read("outbox.get", { id: Number(out) });
    return row && { kind: "delivery", row };
  }
  const [, id] = INBOX.exec(asked) ?? [];
  const row = id === undefined ? undefined : await store.read("inbox.get", { id: Number(id) });
  return row && { kind: "messages", rows: [row], others: [] };
}

/** The last messages of a session, or where it had none, its last turns. */
async function ofSession(store: StoryStore, sessionKey: string, last: number): Promise<Found | undefined> {
  const rows = await store.read("inbox.recent", { sessionKey, limit: last });
  if (rows.length > 0) return { kind: "messages", rows, others: [] };
  const turns = await store.read("turns.ofSession", { sessionKey, limit: last });
  return turns.length > 0 ? { kind: "turns", turns } : undefined;
}

const bySession = (store: StoryStore, asked: string, last: number): Promise<Found | undefined> => ofSession(store, asked, last);

async function bySessionId(store: StoryStore, asked: string, last: number): Promise<Found | undefined> {
  const [session] = await store.read("sessions.bySessionId", { sessionId: asked });
  return session && ofSession(store, session.key, last);
}

async function byTurn(store: StoryStore, asked: string): Promise<Found | undefined> {
  const turn = await store.read("turns.get", { id: asked });
  if (!turn) return undefined;
  return { kind: "turns", turns: [turn] };
}

const arrivals = ([newest, ...others]: readonly InboxRow[]): Found | undefined => newest && { kind: "messages", rows: [newest], others };

/** Chats and messages of some platforms have colons in their ids, so that every way to read them is tried, the longest chat last. */
async function byMessage(store: StoryStore, asked: string): Promise<Found | undefined> {
  const plain = arrivals(await store.read("inbox.find", { messageId: asked }));
  if (plain) return plain;
  const parts = asked.split(":");
  if (parts.length < 2 || parts.length > MOST_PARTS) return undefined;
  const [channel = "", account = ""] = parts;
  const text = (from: number, to?: number): string => parts.slice(from, to).join(":");
  for (let at = 3; at < parts.length; at += 1) {
    const found = arrivals(await store.read("inbox.find", { channel, account, conversation: text(2, at), messageId: text(at) }));
    if (found) return found;
  }
  for (let at = 2; at < parts.length; at += 1) {
    const found = arrivals(await store.read("inbox.find", { channel, conversation: text(1, at), messageId: text(at) }));
    if (found) return found;
  }
  return arrivals(await store.read("inbox.find", { channel, messageId: text(1) }));
}

/** One of our own messages, by the id that the platform gave it. */
async function byReceipt(store: StoryStore, asked: string): Promise<Found | undefined> {
  const rows = await store.read("outbox.recent", { state: "sent", limit: RECENT_ROWS });
  const row = rows.find(({ receipt }) => isRecord(receipt) && receipt["messageId"] === asked);
  return row && { kind: "delivery", row };
}
