import { automationOf, isMainKey, sessionName, type MethodResult } from "openclaw/client";
import { plain } from "../../base/plain.ts";
import { locale, t } from "../../words/words.ts";

/** A session as the gateway lists it. */
export type SessionRow = MethodResult<"sessions.list">["sessions"][number];

/** A session as the sidebar shows it. */
export interface ListedSession {
  readonly key: string;
  readonly title: string;
  readonly agentId: string;
  /** Where it is held, when that is not this page: a channel, `cron`, `subagent`. */
  readonly where: string | undefined;
  readonly updatedAt: number;
  readonly preview: string | undefined;
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly folder: string | undefined;
  /** What it is found by, in lower case. */
  readonly words: string;
}

export interface SessionGroup {
  readonly name: string;
  readonly sessions: readonly ListedSession[];
}

export type Grouping = "day" | "agent";

const DAY = 86_400_000;
/** First words behind the agent that are no channel. */
const OWN = new Set(["main", "web", "direct", "group", "channel", "thread"]);
/** Channels that are this page, or as good as it. */
const HERE = new Set(["webchat", "internal", "unknown"]);

/** The agent in a key; of `global` and the like the default one. */
export const agentOf = (key: string, otherwise: string): string => (key.startsWith("agent:") ? (key.split(":")[1] ?? otherwise) : otherwise);

/** What stands behind `agent:<id>:`. */
const restOf = (key: string): string => (key.startsWith("agent:") ? key.split(":").slice(2).join(":") : key);

/** True for the session that messages go to by default. */
export const isMain = isMainKey;

/** Where a session is held, when that is not this page. */
export function whereOf(row: SessionRow): string | undefined {
  const [first = "", ...more] = restOf(row.key).split(":");
  const named = (more.length > 0 && !OWN.has(first) ? first : undefined) ?? row.channel ?? row.lastChannel;
  return named === undefined || HERE.has(named) ? undefined : named;
}

/** A session's name for people, as the gateway tells it everywhere. */
export const titleOf = (row: SessionRow): string => row.name ?? sessionName({ ...row, title: row.derivedTitle });

export function listed(row: SessionRow, defaultAgentId: string): ListedSession {
  const [title, where] = [titleOf(row), whereOf(row)];
  const preview = row.lastMessagePreview === undefined ? undefined : plain(row.lastMessagePreview);
  return {
    key: row.key,
    title,
    agentId: agentOf(row.key, defaultAgentId),
    where,
    updatedAt: row.updatedAt ?? 0,
    preview,
    pinned: row.pinnedAt !== undefined,
    archived: row.archivedAt !== undefined,
    folder: row.folder,
    words: `${title} ${row.key} ${where ?? ""} ${preview ?? ""}`.toLowerCase(),
  };
}

/** Lists rows. The same row is the same session: long lists are drawn again and again. */
export function createListing(): typeof listed {
  const made = new WeakMap<SessionRow, ListedSession>();
  return (row, defaultAgentId) => {
    const session = made.get(row) ?? listed(row, defaultAgentId);
    made.set(row, session);
    return session;
  };
}

/** True when every word is somewhere in what is shown of the session. */
export function matches(session: ListedSession, words: string): boolean {
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => session.words.includes(word));
}

const month = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" });
/** Names days as seen from `now`. Each month is named once: lists are long. */
function createDayNames(now: number): (at: number) => string {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const months = new Map<number, string>();
  const monthName = (date: Date): string => {
    const number = date.getFullYear() * 12 + date.getMonth();
    const name = months.get(number) ?? month.format(date);
    months.set(number, name);
    return name;
  };
  return (at) => {
    if (at >= midnight) return t("Today");
    if (at >= midnight - DAY) return t("Yesterday");
    if (at >= midnight - 6 * DAY) return t("This week");
    return at === 0 ? t("Never used") : monthName(new Date(at));
  };
}

/** Sessions under headings, newest first in each; pinned ones first, then groups in the order of their newest. */
export function grouped(sessions: readonly ListedSession[], by: Grouping, now: number): readonly SessionGroup[] {
  const pinned = sessions.filter((session) => session.pinned).toSorted((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1));
  const sorted = sessions.filter((session) => !session.pinned).toSorted((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1));
  const dayName = createDayNames(now);
  const groups = Map.groupBy(sorted, (session) => (by === "agent" ? session.agentId : dayName(session.updatedAt)));
  const rest = [...groups].map(([name, members]) => ({ name, sessions: members }));
  return pinned.length === 0 ? rest : [{ name: t("Pinned"), sessions: pinned }, ...rest];
}

const KINDS = { cron: t("Jobs"), hook: t("Webhooks"), subagent: t("Sub-agents"), heartbeat: t("Heartbeats") } as const;

/** Whether nobody writes in a session: it belongs to a job, a webhook, a sub-agent or heartbeats. */
export const isAutomation = ({ key }: Pick<ListedSession, "key">): boolean => automationOf(key) !== undefined;

/** Sessions of automation under what they belong to, newest first in each. */
export function groupedByKind(sessions: readonly ListedSession[]): readonly SessionGroup[] {
  const sorted = sessions.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1));
  const groups = Map.groupBy(sorted, ({ key }) => automationOf(key));
  return Object.entries(KINDS).flatMap(([kind, name]) => {
    const members = groups.get(kind as keyof typeof KINDS);
    return members ? [{ name, sessions: members }] : [];
  });
}

/** When this browser last showed each session. `since`: when it first kept that; what is older was seen. */
export interface Seen {
  readonly since: number;
  readonly at: Readonly<Record<string, number>>;
}

const MAX_SEEN = 300;

export const isUnread = (session: ListedSession, seen: Seen): boolean => session.updatedAt > Math.max(seen.since, seen.at[session.key] ?? 0);

/** Notes that a session was shown as it was at `at`. Only the newest notes are kept. */
export function withSeen(seen: Seen, key: string, at: number): Seen {
  if ((seen.at[key] ?? 0) >= at) return seen;
  const notes = Object.entries({ ...seen.at, [key]: at }).toSorted((a, b) => b[1] - a[1]);
  return { since: Math.max(seen.since, notes[MAX_SEEN]?.[1] ?? 0), at: Object.fromEntries(notes.slice(0, MAX_SEEN)) };
}

const browserRandom = (): number => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;

/** A key for a conversation that begins: `agent:<id>:web:<random>`. */
export function newSessionKey(agentId: string, random = browserRandom): string {
  const letters = Array.from({ length: 10 }, () => Math.floor(random() * 36).toString(36));
  return `agent:${agentId.toLowerCase()}:web:${letters.join("")}`;
}
