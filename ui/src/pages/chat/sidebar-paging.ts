import type { MethodParams, MethodResult } from "openclaw/client";
import type { Link } from "../../link/link.ts";
import type { SessionRow } from "./sidebar-groups.ts";

export type SessionPage = MethodResult<"sessions.list">;
export type SessionFilter = Pick<
  MethodParams<"sessions.list">,
  "search" | "automation" | "archived" | "pinned" | "filed" | "folder" | "offset" | "cursor" | "includeFolders"
>;
export type ListSessions = (limit: number, filter: SessionFilter) => Promise<SessionPage>;

export const listSessions =
  (link: Pick<Link, "request">): ListSessions =>
  (limit, filter) =>
    link.request("sessions.list", { limit, includeDerivedTitles: true, includeLastMessage: true, includeGlobal: true, ...filter });

/** Sessions as far as they were read, newest first. */
export interface PagedRows {
  readonly rows: readonly SessionRow[];
  /** All that there are. */
  readonly total: number;
  /** Where the next page begins; undefined when all were read. */
  readonly next: string | undefined;
}

export const NO_ROWS: PagedRows = { rows: [], total: 0, next: undefined };

/** Rows of the first page, and of each further one. */
export const FIRST = 60;
const PAGE = 200;

/** True when a row comes behind another in the gateway's order. */
function isBehind(row: SessionRow, other: SessionRow): boolean {
  const [at, otherAt] = [row.updatedAt ?? 0, other.updatedAt ?? 0];
  return at < otherAt || (at === otherAt && row.key > other.key);
}

/** The newest rows once more, in front of older ones that were read before. What was among the newest and no longer is has gone elsewhere. */
export function withNewest(known: PagedRows, { sessions, total, next }: Pick<SessionPage, "sessions" | "total" | "next">): PagedRows {
  const last = sessions.at(-1);
  const fresh = new Set(sessions.map(({ key }) => key));
  const older = next === undefined || last === undefined ? [] : known.rows.filter((row) => !fresh.has(row.key) && isBehind(row, last));
  return { rows: [...sessions, ...older], total: total ?? sessions.length, next: older.length === 0 ? next : known.next };
}

/** With the next page behind. One that was used meanwhile has moved to the front. */
export function withNext(known: PagedRows, { sessions, total, next }: Pick<SessionPage, "sessions" | "total" | "next">): PagedRows {
  const seen = new Set(known.rows.map(({ key }) => key));
  return { rows: [...known.rows, ...sessions.filter(({ key }) => !seen.has(key))], total: total ?? known.total, next };
}

/** A list of the gateway's sessions that is read page by page, and kept in step. */
export interface PagedList {
  readonly now: PagedRows;
  /** Reads the newest ones again. */
  refresh(): Promise<SessionPage>;
  /** Reads all again that were read before. */
  reload(): Promise<SessionPage>;
  /** Reads the next page, unless there is none or it is on its way. False when nothing was read. */
  more(): Promise<boolean>;
  /** These are no longer part of it. */
  drop(keys: readonly string[]): void;
}

export function createPagedList(list: ListSessions, filter: SessionFilter): PagedList {
  let now = NO_ROWS;
  let reading = false;

  async function refresh(): Promise<SessionPage> {
    const page = await list(Math.min(PAGE, Math.max(FIRST, now.rows.length)), filter);
    now = withNewest(now, page);
    return page;
  }

  async function more(): Promise<boolean> {
    const { next } = now;
    if (next === undefined || reading) return false;
    reading = true;
    try {
      const page = await list(PAGE, { ...filter, cursor: next });
      // Read again meanwhile, it may end elsewhere.
      if (now.next === next) now = withNext(now, page);
      return true;
    } finally {
      reading = false;
    }
  }

  return {
    get now() {
      return now;
    },
    refresh,
    more,
    async reload() {
      const wanted = now.rows.length;
      let page = await list(Math.min(PAGE, Math.max(FIRST, wanted)), filter);
      const first = page;
      let all = withNext({ ...NO_ROWS, total: page.total ?? 0 }, page);
      while (all.rows.length < wanted && all.next !== undefined) {
        page = await list(PAGE, { ...filter, cursor: all.next });
        if (page.sessions.length === 0) break;
        all = withNext(all, page);
      }
      now = { ...all, total: first.total ?? all.rows.length };
      return first;
    },
    drop(keys) {
      const gone = new Set(keys);
      const rows = now.rows.filter(({ key }) => !gone.has(key));
      now = { ...now, rows, total: now.total - (now.rows.length - rows.length) };
    },
  };
}
