import { createSignal, type Signal } from "../../base/signal.ts";
import type { Link } from "../../link/link.ts";
import type { SessionRow } from "./sidebar-groups.ts";
import type { SessionsState } from "./sidebar-sessions.ts";

/** What is known of the list. */
export type Listed = Pick<SessionsState, "rows" | "found" | "loaded">;

/** The row of the session that is open, listed or not: the list has the newest ones only. */
export interface OpenRow extends Disposable {
  readonly state: Signal<SessionRow | undefined>;
  /** Turns to another session. */
  follow(key: string): void;
}

/** Rows that have a key in theirs, at most: of `…:main` there may be some. */
const MOST = 20;

export function createOpenRow(link: Pick<Link, "request">, sessions: Signal<Listed>): OpenRow {
  const state = createSignal<SessionRow | undefined>(undefined);
  let wanted = "";
  let asked = 0;
  let seen: Listed["rows"] | undefined;

  async function ask(key: string): Promise<void> {
    const mine = (asked += 1);
    const answer = await link
      .request("sessions.list", { search: key, limit: MOST, includeDerivedTitles: true, includeLastMessage: true, includeGlobal: true })
      .catch(() => undefined);
    if (mine === asked && answer) state.set(answer.sessions.find((row) => row.key === key));
  }

  /** The list was read again: what it has counts, and what it does not have is asked for again, too. */
  function look(): void {
    const { rows, found, loaded } = sessions.value;
    if (!loaded || wanted === "") return;
    const row = [...rows, ...(found ?? [])].find(({ key }) => key === wanted);
    if (row) {
      asked += 1;
      if (state.value !== row) state.set(row);
    } else if (rows !== seen) void ask(wanted);
    seen = rows;
  }

  const listening = sessions.subscribe(look);
  return {
    state,
    follow(key) {
      if (key === wanted) return;
      wanted = key;
      asked += 1;
      seen = undefined;
      state.set(undefined);
      look();
    },
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
