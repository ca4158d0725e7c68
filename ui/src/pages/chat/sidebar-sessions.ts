import type { MethodResult } from "openclaw/client";
import { keep } from "../../base/keep.ts";
import { createSignal, type Signal } from "../../base/signal.ts";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";
import { createFinder, type FindMessages, type Found } from "./sidebar-finder.ts";
import { withSeen, type Seen, type SessionRow } from "./sidebar-groups.ts";
import { createPagedList, listSessions, type PagedList } from "./sidebar-paging.ts";

/** Sessions that are listed apart from the conversations, while they are shown. */
export interface ApartState {
  readonly rows: readonly SessionRow[];
  readonly total: number;
  /** There are more than were read. */
  readonly more: boolean;
}

/** A folder of the list. Its conversations are read while it is open. */
export interface FolderState extends ApartState {
  readonly name: string;
  readonly isOpen: boolean;
}

/** What the list shows: conversations, those that it hides, or those in which nobody writes. */
export type ListView = "chats" | "archive" | "automation";

export interface SessionsState extends Found {
  /** Conversations, also those in open folders. */
  readonly rows: readonly SessionRow[];
  readonly folders: readonly FolderState[];
  /** Sessions of jobs, webhooks, sub-agents and heartbeats: they would bury the conversations. */
  readonly automation: ApartState;
  readonly archive: ApartState;
  readonly view: ListView;
  readonly defaults: MethodResult<"sessions.list">["defaults"];
  /** There are more conversations than were read. */
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
  /** These are gone from where they were listed, or are listed elsewhere now. */
  moved(keys: readonly string[]): void;
  /** More of a list: `chats`, `archive`, `automation`, or `folder:<name>`. */
  more(list: string): void;
  /** More of what was found. */
  moreFound(): void;
  search(words: string): void;
  markSeen(key: string): void;
  show(view: ListView): void;
  openFolder(name: string, isOpen: boolean): void;
  /** More of the messages that were found. */
  moreHits(): void;
}

const SOON_MS = 400;
const OPEN_FOLDERS = "sessions.folders";

const withRun = (running: ReadonlyMap<string, string>, runId: string, key: string): ReadonlyMap<string, string> => new Map([...running, [runId, key]]);
const withoutRun = (running: ReadonlyMap<string, string>, runId: string): ReadonlyMap<string, string> =>
  running.has(runId) ? new Map([...running].filter(([other]) => other !== runId)) : running;

/** Keeps that a session was shown. Another tab may have seen others meanwhile. */
function markSeen(key: string, { rows, seen }: SessionsState, change: (part: Partial<SessionsState>) => void): void {
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

const NOTHING: ApartState = { rows: [], total: 0, more: false };

function unknown(): SessionsState {
  const seen = keep.json<Seen>("seen") ?? { since: Date.now(), at: {} };
  keep.setJson("seen", seen);
  const defaults = { modelProvider: null, model: null, contextTokens: null };
  const lists = { rows: [], folders: [], automation: NOTHING, archive: NOTHING, view: "chats", found: undefined, more: false } as const;
  return { ...lists, defaults, running: new Map(), seen, loaded: false };
}

const apart = ({ now: { rows, total, next } }: PagedList): ApartState => ({ rows, total, more: next !== undefined });

/** The lists of the gateway that the sidebar is made of. */
function createLists(link: Link) {
  const list = listSessions(link);
  const others = { automation: false, archived: false } as const;
  const chats = createPagedList(list, { ...others, pinned: false, filed: false, includeFolders: true });
  const pinned = createPagedList(list, { pinned: true, archived: false });
  const aside = { archive: createPagedList(list, { archived: true }), automation: createPagedList(list, { automation: true, archived: false }) } as const;
  const folders = new Map<string, PagedList>();
  let names: readonly { readonly name: string; readonly sessions: number }[] = [];
  let view: ListView = "chats";

  const folder = (name: string): PagedList => {
    const known = folders.get(name) ?? createPagedList(list, { folder: name, archived: false });
    folders.set(name, known);
    return known;
  };

  /** Of what is not shown only the number is known. */
  const total = async (filter: Parameters<typeof list>[1]): Promise<number> => (await list(1, filter)).total ?? 0;
  const counts = { archive: 0, automation: 0 };
  async function readAside(name: "archive" | "automation", how: "refresh" | "reload"): Promise<void> {
    if (view === name) counts[name] = (await aside[name][how]()).total ?? 0;
    else counts[name] = await total(name === "archive" ? { archived: true } : { automation: true, archived: false });
  }

  return {
    list,
    folder,
    async read(how: "refresh" | "reload"): Promise<MethodResult<"sessions.list">> {
      const open = [...folders.values()];
      const [page] = await Promise.all([
        chats[how](),
        pinned[how](),
        readAside("archive", how),
        readAside("automation", how),
        ...open.map((one) => one[how]()),
      ]);
      names = page.folders ?? [];
      for (const name of folders.keys()) if (!names.some((one) => one.name === name)) folders.delete(name);
      return page;
    },
    more: (name: string): Promise<boolean> => {
      if (name === "archive" || name === "automation") return aside[name].more();
      return name === "chats" ? chats.more() : folder(name.replace(/^folder:/, "")).more();
    },
    drop(keys: readonly string[]): void {
      for (const one of [chats, pinned, aside.archive, aside.automation, ...folders.values()]) one.drop(keys);
    },
    close: (name: string): void => void folders.delete(name),
    show: (next: ListView): void => void (view = next),
    state(): Pick<SessionsState, "rows" | "folders" | "automation" | "archive" | "view" | "more"> {
      const shown = (name: "archive" | "automation"): ApartState => ({ ...(view === name ? apart(aside[name]) : NOTHING), total: counts[name] });
      const filed = [...folders.values()].flatMap(({ now }) => now.rows);
      const known = new Set(pinned.now.rows.map(({ key }) => key));
      return {
        rows: [...pinned.now.rows, ...filed.filter(({ key }) => !known.has(key)), ...chats.now.rows],
        folders: names.map(({ name, sessions }) => {
          const open = folders.get(name);
          return { name, isOpen: open !== undefined, ...(open ? apart(open) : NOTHING), total: sessions };
        }),
        automation: shown("automation"),
        archive: shown("archive"),
        view: view !== "chats" && counts[view] === 0 ? "chats" : view,
        more: chats.now.next !== undefined,
      };
    },
  };
}

export function createSessions(link: Link): Sessions {
  const state = createSignal<SessionsState>(unknown());
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reload = false;
  const change = (part: Partial<SessionsState>): void => state.update((now) => ({ ...now, ...part }));
  const lists = createLists(link);
  for (const name of keep.json<readonly string[]>(OPEN_FOLDERS) ?? []) lists.folder(name);
  const messages: FindMessages = async (query, cursor) =>
    link.has("chat.search") ? link.request("chat.search", { query, ...(cursor === undefined ? {} : { cursor }) }) : undefined;
  const finder = createFinder(lists.list, messages, change);

  async function read(how: "refresh" | "reload"): Promise<void> {
    try {
      const { defaults } = await lists.read(how);
      state.update(({ error: _gone, ...now }) => ({ ...now, ...lists.state(), defaults, loaded: true }));
    } catch (error) {
      change({ loaded: true, error: failureText(error) });
    }
  }
  function soon(all: boolean): void {
    reload ||= all;
    timer ??= setTimeout(() => {
      timer = undefined;
      finder.again();
      void read(reload ? "reload" : "refresh");
      reload = false;
    }, SOON_MS);
  }
  const lifecycle = link.on("agent", ({ runId, stream, sessionKey, data }) => {
    if (stream !== "lifecycle" || sessionKey === undefined) return;
    const { running } = state.value;
    change({ running: data.phase === "start" ? withRun(running, runId, sessionKey) : withoutRun(running, runId) });
    soon(false);
  });
  const said = link.on("chat", ({ runId, state: how }) => {
    if (how === "delta") return;
    change({ running: withoutRun(state.value.running, runId) });
    soon(false);
  });
  // Other browsers pin, archive and delete, too.
  const seenAgain = (): void => void (document.visibilityState === "visible" && soon(true));
  document.addEventListener("visibilitychange", seenAgain);
  return {
    state,
    load: async () => void (await Promise.all([read("reload"), loadOverview(link).then(change)])),
    refresh: () => soon(false),
    moved(keys) {
      lists.drop(keys);
      change(lists.state());
      // Where they are listed now may be far back.
      soon(true);
    },
    more: (name) =>
      void lists.more(name).then(
        (read) => void (read && change(lists.state())),
        () => undefined,
      ),
    moreFound: () => void finder.further(),
    search: finder.search,
    markSeen: (key) => markSeen(key, state.value, change),
    show(view) {
      lists.show(view);
      change(lists.state());
      void read("refresh");
    },
    openFolder(name, isOpen) {
      if (isOpen) lists.folder(name);
      else lists.close(name);
      change(lists.state());
      const open = state.value.folders.flatMap((folder) => (folder.isOpen ? [folder.name] : []));
      keep.setJson(OPEN_FOLDERS, open.length === 0 ? undefined : open);
      if (isOpen) void read("refresh");
    },
    moreHits: () => void finder.moreHits().catch(() => undefined),
    [Symbol.dispose]() {
      document.removeEventListener("visibilitychange", seenAgain);
      clearTimeout(timer);
      lifecycle[Symbol.dispose]();
      said[Symbol.dispose]();
    },
  };
}
