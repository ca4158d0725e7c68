import type { MethodParams, MethodResult } from "openclaw/client";
import { keep } from "../../base/keep.ts";
import { createSignal, type Signal } from "../../base/signal.ts";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";
import { withSeen, type Seen, type SessionRow } from "./sidebar-groups.ts";

/** What was looked for last. */
export interface Search {
  readonly words: string;
  /** So many there are beyond those that were found. */
  readonly more: number;
  readonly error?: string;
}

/** Sessions of jobs, webhooks, sub-agents and heartbeats: they are folded, so that they do not bury the conversations. */
export interface AutomationState {
  /** The newest ones, while they are shown. */
  readonly rows: readonly SessionRow[];
  readonly total: number;
  readonly isOpen: boolean;
}

export interface SessionsState {
  /** Conversations. */
  readonly rows: readonly SessionRow[];
  readonly automation: AutomationState;
  /** Found on the gateway by what is searched for; undefined when nothing is. */
  readonly found: readonly SessionRow[] | undefined;
  readonly search?: Search;
  readonly defaults: MethodResult<"sessions.list">["defaults"];
  /** So many there are beyond those that are listed. */
  readonly more: number;
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
  /** More of what is listed, or found. */
  more(): void;
  search(words: string): void;
  markSeen(key: string): void;
  /** Shows the sessions of automation, or folds them. */
  openAutomation(isOpen: boolean): void;
}

const FIRST = 60;
const SOON_MS = 400;
const TYPING_MS = 150;

const withRun = (running: ReadonlyMap<string, string>, runId: string, key: string): ReadonlyMap<string, string> => new Map([...running, [runId, key]]);
const withoutRun = (running: ReadonlyMap<string, string>, runId: string): ReadonlyMap<string, string> =>
  running.has(runId) ? new Map([...running].filter(([other]) => other !== runId)) : running;

type Change = (part: Partial<SessionsState>) => void;
type Filter = Pick<MethodParams<"sessions.list">, "search" | "automation">;
type List = (limit: number, filter: Filter) => Promise<MethodResult<"sessions.list">>;

/** A page of the gateway's list holds no more than this. */
const PAGE = 500;

/** As many sessions as are wanted, page by page. */
async function listAll(link: Link, most: number, filter: Filter): Promise<MethodResult<"sessions.list">> {
  const seen = { includeDerivedTitles: true, includeLastMessage: true, includeGlobal: true, ...filter };
  let answer = await link.request("sessions.list", { limit: Math.min(most, PAGE), ...seen });
  while (answer.nextOffset !== undefined && answer.sessions.length < most) {
    const offset = answer.nextOffset;
    const next = await link.request("sessions.list", { limit: Math.min(most - answer.sessions.length, PAGE), offset, ...seen });
    if (next.sessions.length === 0) break;
    // One that was used meanwhile moves to the front, and the last of a page is then seen twice.
    const known = new Set(answer.sessions.map(({ key }) => key));
    answer = { ...next, sessions: [...answer.sessions, ...next.sessions.filter(({ key }) => !known.has(key))] };
  }
  return answer;
}

const beyond = ({ sessions, total }: MethodResult<"sessions.list">, limit: number): number =>
  total === undefined ? Number(sessions.length >= limit) : Math.max(0, total - sessions.length);

interface Finder {
  search(words: string): void;
  /** Looks once more, for what is new; with `further` for more than before. False when nothing is looked for. */
  again(further: boolean): boolean;
  stop(): void;
}

/** Looks through all conversations on the gateway. */
function createFinder(list: List, change: Change): Finder {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  let words = "";
  let limit = FIRST;

  async function look(mine: number): Promise<void> {
    const part = await list(limit, { search: words }).then(
      (answer) => ({ found: answer.sessions, search: { words, more: beyond(answer, limit) } }),
      (error: unknown) => ({ found: [], search: { words, more: 0, error: failureText(error) } }),
    );
    if (mine === asked) change(part);
  }
  return {
    search(typed) {
      clearTimeout(timer);
      const mine = (asked += 1);
      words = typed.trim();
      limit = FIRST;
      if (words === "") return change({ found: undefined });
      timer = setTimeout(() => void look(mine), TYPING_MS);
    },
    again(further) {
      if (words === "") return false;
      if (further) limit += FIRST;
      void look(asked);
      return true;
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
  const automation = { rows: [], total: 0, isOpen: keep.text("sessions.automation") === "open" };
  return { rows: [], automation, found: undefined, defaults, more: 0, running: new Map(), seen, loaded: false };
}

export function createSessions(link: Link): Sessions {
  const state = createSignal<SessionsState>(unknown());
  let limit = FIRST;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const change: Change = (part) => state.update((now) => ({ ...now, ...part }));
  const list: List = (most, filter) => listAll(link, most, filter);
  const searching = createFinder(list, change);

  /** Folded, only how many there are. */
  async function loadAutomation(): Promise<void> {
    const { sessions, total } = await list(state.value.automation.isOpen ? FIRST : 1, { automation: true });
    state.update((now) => ({ ...now, automation: { ...now.automation, rows: now.automation.isOpen ? sessions : [], total: total ?? sessions.length } }));
  }

  async function load(): Promise<void> {
    try {
      const [answer] = await Promise.all([list(limit, { automation: false }), loadAutomation()]);
      const { sessions, defaults } = answer;
      state.update(({ error: _gone, ...now }) => ({ ...now, rows: sessions, defaults, more: beyond(answer, limit), loaded: true }));
    } catch (error) {
      change({ loaded: true, error: failureText(error) });
    }
  }
  const refresh = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      searching.again(false);
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
      if (searching.again(true)) return;
      limit += FIRST;
      void load();
    },
    search: searching.search,
    markSeen: (key) => markSeen(key, state.value, change),
    openAutomation(isOpen) {
      change({ automation: { ...state.value.automation, isOpen } });
      keep.setText("sessions.automation", isOpen ? "open" : undefined);
      void load();
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      searching.stop();
      lifecycle[Symbol.dispose]();
      said[Symbol.dispose]();
    },
  };
}
