import type { ReadContext } from "../handlers.ts";
import { searchable, loadSearchText, waitingTitles, type SessionRef } from "./session-previews.ts";
import { allRows, eachRow } from "../../rows.ts";

/** Which sessions to search, as conditions on columns that `sessions` and `session_search` both have. */
export interface Searched {
  readonly where: string;
  readonly values: readonly (string | number)[];
  readonly order: "newest" | "oldest" | "key";
  readonly offset: number;
  readonly limit: number | undefined;
}

/** A session that contains the words, with its sort columns. */
interface Hit {
  readonly key: string;
  readonly updatedAt: number;
}

export interface Found {
  /** Keys of the page, in order. */
  readonly keys: readonly string[];
  readonly total: number;
}

const ORDERS = { newest: "updated_at DESC, key", oldest: "updated_at, key", key: "key" } as const;
/** Trigrams need at least this length; shorter words are searched in the rows of the index. */
const INDEXED_CHARS = 3;
/** Sessions whose index entry is not current: the index is behind or still being filled, or their first message is not in a transcript yet. */
const UNINDEXED = `SELECT session_key FROM session_unsearched UNION SELECT value FROM json_each(?)
  UNION SELECT key FROM sessions WHERE key > (SELECT value FROM meta WHERE key = 'sessions.searched')`;

const isIndexed = (word: string): boolean => Array.from(word).length >= INDEXED_CHARS && !word.includes("\0");
const byKey = (a: Hit, b: Hit): number => (a.key < b.key ? -1 : 1);

function comparing(order: Searched["order"]): (a: Hit, b: Hit) => number {
  if (order === "key") return byKey;
  const sign = order === "newest" ? -1 : 1;
  return (a, b) => sign * (a.updatedAt - b.updatedAt) || byKey(a, b);
}

/** The condition that all words occur, on rows of the index. */
function withWords(words: readonly string[], withLast: boolean): { readonly text: string; readonly values: readonly string[] } {
  const indexed = words.filter(isIndexed).map((word) => `"${word.replaceAll('"', '""')}"`);
  const short = words.filter((word) => !isIndexed(word));
  const match = `${withLast ? "" : "words : "}(${indexed.join(" AND ")})`;
  const searched = withLast ? "words || char(10) || last" : "words";
  return {
    text: [
      ...(indexed.length === 0 ? [] : ["n IN (SELECT rowid FROM session_words WHERE session_words MATCH ?)"]),
      ...short.map(() => `instr(${searched}, ?) > 0`),
    ].join(" AND "),
    values: [...(indexed.length === 0 ? [] : [match]), ...short],
  };
}

/** Searches sessions without a current index entry, one by one. */
function scan(context: ReadContext, searched: Searched, words: readonly string[], withLast: boolean, waiting: ReadonlyMap<string, string>): readonly Hit[] {
  const query = `SELECT key, agent_id AS agentId, session_id AS sessionId, version, updated_at AS updatedAt FROM sessions
    WHERE key IN (${UNINDEXED}) AND ${searched.where}`;
  const rows = eachRow<SessionRef & Hit>(context.sql(query), JSON.stringify([...waiting.keys()]), ...searched.values);
  const hits: Hit[] = [];
  for (const session of rows) {
    const { title, searchText: own, lastSearchText } = loadSearchText(context, session);
    const begun = title === undefined ? searchable(waiting.get(session.key) ?? "") : "";
    const text = `${own}\n${begun}\n${withLast ? lastSearchText : ""}`;
    if (words.every((word) => text.includes(word))) hits.push({ key: session.key, updatedAt: session.updatedAt });
  }
  return hits;
}

/** Sessions that contain each of the words (in lower case) in their display fields; with `withLast` also in the last message. */
export function searchSessions(context: ReadContext, searched: Searched, words: readonly string[], withLast: boolean): Found {
  const waiting = waitingTitles(context)();
  const scanned = scan(context, searched, words, withLast, waiting);
  const { text, values } = withWords(words, withLast);
  const where = `${text} AND n NOT IN (SELECT n FROM session_search WHERE key IN (${UNINDEXED})) AND ${searched.where}`;
  const bound = [...values, JSON.stringify([...waiting.keys()]), ...searched.values];
  const end = searched.limit === undefined ? -1 : searched.offset + searched.limit;
  // Counted in the same pass: most of the work is finding them.
  const query = `SELECT key, updated_at AS updatedAt, count(*) OVER () AS found FROM session_search WHERE ${where} ORDER BY ${ORDERS[searched.order]} LIMIT ?`;
  const hits = allRows<Hit & { readonly found: number }>(context.sql(query), ...bound, end);
  const all: readonly Hit[] = scanned.length === 0 ? hits : [...hits, ...scanned].sort(comparing(searched.order));
  return { keys: all.slice(searched.offset, end < 0 ? undefined : end).map(({ key }) => key), total: (hits[0]?.found ?? 0) + scanned.length };
}
