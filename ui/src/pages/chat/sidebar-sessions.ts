import type { MethodResult } from "openclaw/client";
import { keep } from "../../base/keep.ts";
import { createSignal, type Signal } from "../../base/signal.ts";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";
import { withSeen, type Seen, type SessionRow } from "./sidebar-groups.ts";

export interface SessionsState {
  readonly rows: readonly SessionRow[];
  /** Found on the gateway by what is searched for; undefined when nothing is. */
  readonly found: readonly SessionRow[] | undefined;
  readonly defaults: MethodResult<"sessions.list">["defaults"];
  readonly more: boolean;
  /** Sessions of runs under way, by run. */
  readonly running: ReadonlyMap<string, string>;
  /** Who answers where nothing else is chosen, when the gateway tells. */
  readonly answering?: MethodResult<"overview">["answering"];
  readonly seen: Seen;
  readonly loaded: boolean;
  readonly error?: string;
}

/** The sessions that the sidebar lists, in step with the gateway. */
export interface Sessions extends Disposable {
  readonly state: Signal<SessionsState>;
  load(): Promise<void>;
  /** Loads soon: many changes in a short time are one. */
  refresh(): void;
  more(): void;
  search(words: string): void;
  markSeen(key: string): void;
}

const FIRST = 60;
const SOON_MS = 400;

const withRun = (running: ReadonlyMap<string, string>, runId: string, key: string): ReadonlyMap<string, string> => new Map([...running, [runId, key]]);
const withoutRun = (running: ReadonlyMap<string, string>, runId: string): ReadonlyMap<string, string> =>
  running.has(runId) ? new Map([...running].filter(([other]) => other !== runId)) : running;

type Change = (part: Partial<SessionsState>) => void;
type List = (search?: string) => Promise<MethodResult<"sessions.list">>;

/** Looks on the gateway for what is not among the sessions that are listed. */
function createSearch(list: List, change: Change): { search(words: string): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  return {
    search(words) {
      clearTimeout(timer);
      const mine = (asked += 1);
      if (words.trim() === "") return change({ found: undefined });
      const tell = (found: readonly SessionRow[]): void => {
        if (mine === asked) change({ found });
      };
      timer = setTimeout(() => {
        list(words.trim()).then(
          ({ sessions }) => tell(sessions),
          () => tell([]),
        );
      }, 200);
    },
    stop: () => clearTimeout(timer),
  };
}

/** Keeps that a session was shown. Another tab may have seen others meanwhile. */
function markSeen(key: string, { rows, seen }: SessionsState, change: Change): void {
  const known = keep.json<Seen>("seen") ?? seen;
  const next = withSeen(known, key, rows.find((row) => row.key === key)?.updatedAt ?? 0);
  if (next === known && known.at[key] === seen.at[key]) return;
  keep.setJson("seen", next);
  change({ seen: next });
}

/** Runs under way, and who answers. */
async function loadOverview(link: Link): Promise<Partial<SessionsState>> {
  const overview = link.has("overview") ? await link.request("overview", {}).catch(() => undefined) : undefined;
  const status = overview || !link.has("setup.status") ? undefined : await link.request("setup.status", {}).catch(() => undefined);
  const answering = overview?.answering ?? status?.answering;
  return { ...(overview ? { running: new Map(overview.runs.map(({ runId, sessionKey }) => [runId, sessionKey])) } : {}), ...(answering ? { answering } : {}) };
}

function unknown(): SessionsState {
  const seen = keep.json<Seen>("seen") ?? { since: Date.now(), at: {} };
  keep.setJson("seen", seen);
  const defaults = { modelProvider: null, model: null, contextTokens: null };
  return { rows: [], found: undefined, defaults, more: false, running: new Map(), seen, loaded: false };
}

export function createSessions(link: Link): Sessions {
  const state = createSignal<SessionsState>(unknown());
  let limit = FIRST;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const change: Change = (part) => state.update((now) => ({ ...now, ...part }));
  const list: List = (search) =>
    link.request("sessions.list", { limit, includeDerivedTitles: true, includeLastMessage: true, includeGlobal: true, ...(search ? { search } : {}) });
  const searching = createSearch(list, change);

  async function load(): Promise<void> {
    try {
      const { sessions, defaults } = await list();
      state.update(({ error: _gone, ...now }) => ({ ...now, rows: sessions, defaults, more: sessions.length >= limit, loaded: true }));
    } catch (error) {
      change({ loaded: true, error: failureText(error) });
    }
  }
  const refresh = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void load();
    }, SOON_MS);
  };
  const lifecycle = link.on("agent", ({ runId, stream, sessionKey, data }) => {
    if (stream !== "lifecycle" || sessionKey === undefined) return;
    const { running } = state.value;
    change({ running: data.phase === "start" ? withRun(running, runId, sessionKey) : withoutRun(running, runId) });
    refresh();
  });
  const said = link.on("chat", ({ runId, state: how }) => {
    if (how === "delta") return;
    change({ running: withoutRun(state.value.running, runId) });
    refresh();
  });
  return {
    state,
    load: async () => void (await Promise.all([load(), loadOverview(link).then(change)])),
    refresh,
    more() {
      limit += FIRST;
      void load();
    },
    search: searching.search,
    markSeen: (key) => markSeen(key, state.value, change),
    [Symbol.dispose]() {
      clearTimeout(timer);
      searching.stop();
      lifecycle[Symbol.dispose]();
      said[Symbol.dispose]();
    },
  };
}
