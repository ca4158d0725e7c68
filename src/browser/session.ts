import type { Download, Page } from "playwright-core";
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import type { StoredDownload } from "./files.ts";
import { attach, launchOwn, type LaunchDeps, type Running } from "./launch.ts";
import type { ProfileSettings } from "./settings.ts";
import { answers, within } from "./read-tab.ts";
import { changed, createTab, expectPopups, MAX_DIALOGS, MAX_POPUPS, note, noteDownload, reportOpened, watchTab, type Tab } from "./tab.ts";

export interface SessionDeps extends LaunchDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** The number of the next tab; none is used twice, also after a restart. */
  readonly nextTab: () => number;
  /** Connects to the tabs that the user's own Chrome shares. */
  readonly shared: (profile: ProfileSettings) => Promise<Running>;
  /** Stores a finished download. */
  readonly store: (download: Download) => Promise<StoredDownload>;
}

/** The browser of one profile: started when it is needed, and again when it ended on its own, with the tabs it had. */
export interface BrowserSession {
  readonly profile: ProfileSettings;
  /** Undefined while none runs. */
  running(): Running | undefined;
  start(): Promise<Running>;
  stop(): Promise<void>;
  /** Ends the browser; its tabs come back with the next start. */
  pause(): Promise<void>;
  tabs(): readonly Tab[];
  /** Whether something is being done in another tab. */
  isUsedBeside(tab: Tab): boolean;
  tab(id: string): Tab | undefined;
  open(): Promise<Tab>;
  close(tab: Tab): Promise<void>;
  /**
   * Does something in a tab, after everything else that was asked of it. When the browser ends meanwhile it is started again: what may be done twice is
   * repeated, anything else fails and says so.
   */
  use<T>(tab: Tab, what: Use, work: () => Promise<T>): Promise<T>;
}

export interface Use {
  /** Ends the sentence "the browser ended during …". */
  readonly name: string;
  readonly repeatable: boolean;
  /** It shows another page: one that does not answer is replaced by an empty one first. */
  readonly leavesPage?: boolean | undefined;
  readonly signal: AbortSignal;
}

const MAX_TABS = 30;
const STORM_MS = 3000;
/** Downloads of one tab that run at the same time. */
const MAX_DOWNLOADS = 5;
const RESTORE_MS = 10_000;
const NEW_PAGE_MS = 20_000;
/** A page that hangs is closed in the background. */
const CLOSE_PAGE_MS = 5000;
/** Everything that is done in a tab has shorter limits of its own; none may hold up the tab without end. */
const MOST_USE_MS = 300_000;

/** What a session holds. */
interface State {
  readonly profile: ProfileSettings;
  readonly deps: SessionDeps;
  readonly tabs: Map<string, Tab>;
  /** The last work of each tab. */
  readonly queues: Map<string, Promise<unknown>>;
  starting?: Promise<Running> | undefined;
  current?: Running | undefined;
  /** The last page that was closed at once: the tab that it came from, and when. */
  refused?: { readonly root: string | undefined; readonly at: number } | undefined;
  /** Pages that are being opened on request. */
  opening: number;
  /** Pages that came meanwhile: requested ones, and those that a page opened. */
  readonly cameMeanwhile: Set<Page>;
}

/** Stands for work that the browser's end interrupted. */
class BrowserEnded extends Error {}

const alive = ({ current }: State): Running | undefined => (current && !current.gone.aborted ? current : undefined);

const tabOf = ({ tabs }: State, page: Page | null): Tab | undefined => [...tabs.values()].find((tab) => tab.page === page);

function watch(state: State, tab: Tab, page: Page, running: Running): void {
  const { tabs, deps } = state;
  void expectPopups(tab, page, isRelay(state)).catch(() => undefined);
  watchTab(tab, page, {
    download(download) {
      if (tab.downloads.size >= MAX_DOWNLOADS) {
        note(tab, `a download was cancelled: at most ${MAX_DOWNLOADS} run at a time`);
        download.cancel().catch(() => undefined);
        return;
      }
      const stored = deps.store(download).then(
        (one) => noteDownload(tab, one),
        (error: unknown) => note(tab, `download failed: ${messageOf(error)}`),
      );
      tab.downloads.add(stored);
      void stored.then(() => tab.downloads.delete(stored));
    },
    crashed: () => (tab.ended ??= "crash"),
    closed() {
      // When the whole browser goes, its tabs come back with it.
      setImmediate(() => {
        if (state.current === running && !running.gone.aborted && tab.page === page && tab.ended === undefined) tabs.delete(tab.id);
      });
    },
  });
}

function adopt(state: State, page: Page, running: Running, root?: string): Tab {
  const known = tabOf(state, page);
  if (known) return known;
  const tab = createTab(`t${state.deps.nextTab()}`, page, root);
  state.tabs.set(tab.id, tab);
  watch(state, tab, page, running);
  return tab;
}

/** A page that opened by itself, or that a click opened. */
function onPopup(state: State, page: Page, running: Running): void {
  if (tabOf(state, page) || page.isClosed()) return;
  if (state.opening > 0) return void state.cameMeanwhile.add(page);
  const place = async (): Promise<void> => {
    // Most links to new tabs hide who opened them.
    const from = tabOf(state, await page.opener().catch(() => null)) ?? [...state.tabs.values()].find(({ popups }) => popups.expected > 0);
    if (tabOf(state, page) || page.isClosed()) return;
    const root = from ? rootOf(from) : stormOf(state);
    const tab = mayStay(state, root) ? adopt(state, page, running, root) : undefined;
    if (!tab) {
      state.refused = { root, at: state.deps.clock.monotonic() };
      void page.close().catch(() => undefined);
    }
    if (!from) return;
    if (tab) reportOpened(from, tab, page);
    else ((root === undefined ? undefined : state.tabs.get(root)) ?? from).popups.refused += 1;
    from.popups.expected = Math.max(0, from.popups.expected - 1);
    changed(from);
  };
  void place().catch(() => undefined);
}

const rootOf = ({ id, root }: Tab): string => root ?? id;

/** A page that is being closed may open others: nobody is named as their opener, so that they count as those of the page that was refused last. */
function stormOf({ refused, deps }: State): string | undefined {
  return refused && deps.clock.monotonic() - refused.at < STORM_MS ? refused.root : undefined;
}

/** Pages cannot take the places of tabs that others ask for: those that opened each other have a few together. */
function mayStay({ tabs }: State, from: string | undefined): boolean {
  if (tabs.size >= MAX_TABS) return false;
  return from === undefined || [...tabs.values()].filter(({ root }) => root === from).length < MAX_POPUPS;
}

/** Which tabs there are is up to the user. */
const isRelay = ({ profile }: State): boolean => profile.kind === "relay";

function notShared({ tabs, profile }: State): AppError {
  const there = [...tabs.keys()].join(", ");
  const text = `the profile ${profile.name} has only tabs that the user shares, and this one is not (or no longer) shared`;
  const advice =
    there === ""
      ? "ask the user to open it and click the OpenClaw button in Chrome there"
      : `use navigate in one that is shared (${there}), or ask the user to share another one`;
  return new AppError("PERMISSION_DENIED", `${text}: ${advice}`);
}

/** A page that is asked for by name: it is no popup. */
async function newPage(state: State, running: Running): Promise<Page> {
  if (isRelay(state)) throw notShared(state);
  state.opening += 1;
  try {
    const opened = running.context.newPage().then(async (page) => {
      await running.guarded?.(page);
      return page;
    });
    return await within(state.deps.clock, NEW_PAGE_MS, opened, "the browser did not open a tab in time; stop it and try again");
  } finally {
    state.opening -= 1;
    // Those that were requested are tabs by then.
    setImmediate(() => {
      if (state.opening > 0) return;
      const came = [...state.cameMeanwhile];
      state.cameMeanwhile.clear();
      for (const page of came) onPopup(state, page, running);
    });
  }
}

const LOADED_AGAIN = "was reloaded; text typed into it is lost, and its refs are new";
const CRASHED = `the page crashed and ${LOADED_AGAIN}`;
const BROWSER_ENDED = `the browser was restarted, and the page ${LOADED_AGAIN}`;

/** Shows a tab's address in a page. What does not load is left as it is. `again`: what the next answer says about it. */
async function show(state: State, tab: Tab, page: Page, running: Running, again?: string): Promise<void> {
  const { url } = tab;
  if (again !== undefined && url !== "about:blank") tab.reloaded = again;
  watch(state, tab, page, running);
  state.tabs.set(tab.id, tab);
  tab.ended = undefined;
  tab.dialogsInRow = 0;
  if (/^https?:/.test(url)) await page.goto(url, { waitUntil: "domcontentloaded", timeout: RESTORE_MS }).catch(() => undefined);
}

async function launch(state: State): Promise<Running> {
  const { profile, deps, tabs } = state;
  const isAttached = profile.kind !== "own";
  const running = await (isRelay(state) ? deps.shared(profile) : isAttached ? attach(profile, deps) : launchOwn(profile, deps));
  running.context.on("page", (page) => onPopup(state, page, running));
  const former = isAttached ? [] : [...tabs.values()];
  const pages = running.context.pages();
  if (isAttached) tabs.clear();
  if (former.length === 0) for (const page of pages) adopt(state, page, running);
  await Promise.all(
    former.map(async (tab, at) => show(state, tab, (at === 0 ? pages[0] : undefined) ?? (await newPage(state, running)), running, BROWSER_ENDED)),
  );
  running.gone.addEventListener("abort", () => deps.log.info(`the browser of the profile ${profile.name} ended`), { once: true });
  state.current = running;
  return running;
}

async function start(state: State): Promise<Running> {
  const there = alive(state);
  if (there) return there;
  state.starting ??= launch(state).finally(() => (state.starting = undefined));
  return state.starting;
}

/** A tab whose page ended gets a new one; one whose page did not stop gets an empty one. */
async function revive(state: State, tab: Tab, running: Running): Promise<Running> {
  if (tab.ended === undefined && !tab.page.isClosed()) return running;
  if (isRelay(state)) {
    state.tabs.delete(tab.id);
    throw notShared(state);
  }
  const [former, why] = [tab.page, tab.ended];
  if (why === "dialogs") tab.notes = [TOO_MANY_DIALOGS];
  if (why === "dialogs" || why === "busy") tab.url = "about:blank";
  const page = await newPage(state, running).catch((error: unknown) => {
    if (why !== "crash" || state.profile.kind !== "own") throw error;
    state.deps.log.warn(`the browser of the profile ${state.profile.name} opens no tab after a crash: it is being restarted (${messageOf(error)})`);
  });
  if (!page) {
    await end(state);
    return start(state);
  }
  await show(state, tab, page, running, why === "dialogs" || why === "busy" ? undefined : CRASHED);
  await closePage(state, former);
  return running;
}

const TOO_MANY_DIALOGS = `the page opened more than ${MAX_DIALOGS} dialogs in a row and was closed; this tab is empty now`;

async function closePage({ deps }: State, page: Page): Promise<void> {
  if (!page.isClosed()) await within(deps.clock, CLOSE_PAGE_MS, page.close(), "still closing").catch(() => undefined);
}

/** The work, or a rejection when the browser or the tab's page ends before it. */
async function whileAlive<T>(tab: Tab, running: Running, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  const onGone = (): void => reject(new BrowserEnded());
  const onAbort = (): void => reject(signal.reason);
  const onChange = (): void => {
    if (tab.ended !== undefined) reject(new BrowserEnded());
  };
  if (running.gone.aborted) onGone();
  if (signal.aborted) onAbort();
  const { page } = tab;
  running.gone.addEventListener("abort", onGone, { once: true });
  signal.addEventListener("abort", onAbort, { once: true });
  tab.listeners.add(onChange);
  page.on("crash", onGone);
  try {
    const done = work();
    done.catch(() => undefined);
    return await Promise.race([done, promise]);
  } catch (error) {
    // What a page was doing fails a moment before its end is reported.
    if (!(error instanceof AppError) && !running.gone.aborted && page.isClosed()) await new Promise((resolve) => setImmediate(resolve));
    throw running.gone.aborted || tab.ended !== undefined ? new BrowserEnded() : error;
  } finally {
    running.gone.removeEventListener("abort", onGone);
    signal.removeEventListener("abort", onAbort);
    tab.listeners.delete(onChange);
    page.off("crash", onGone);
  }
}

async function attempt<T>(state: State, tab: Tab, { name, repeatable, leavesPage, signal }: Use, task: () => Promise<T>): Promise<T> {
  const { deps, profile } = state;
  const there = await start(state);
  const work = (): Promise<T> => within(deps.clock, MOST_USE_MS, task(), `the ${name} did not finish within ${MOST_USE_MS / 1000} seconds; close the tab`);
  const mayReplace = leavesPage === true && !isRelay(state) && !tab.page.isClosed() && tab.ended === undefined;
  if (mayReplace && !(await answers(tab, deps.clock))) tab.ended = "busy";
  const running = await revive(state, tab, there);
  try {
    return await whileAlive(tab, running, signal, work);
  } catch (error) {
    if (isRelay(state) && (error instanceof BrowserEnded || tab.page.isClosed())) throw takenAway(running, name, repeatable, error);
    if (!(error instanceof BrowserEnded)) throw error;
    const [isBrowser, why] = [running.gone.aborted, tab.ended];
    const next = await revive(state, tab, await start(state));
    if (!isBrowser && why === "dialogs") {
      tab.notes = [];
      throw new AppError("UNAVAILABLE", TOO_MANY_DIALOGS);
    }
    const happened = isBrowser ? "the browser ended" : "the page's process ended";
    deps.log.warn(`${happened} during ${name}; it was restarted`, { profile: profile.name });
    if (repeatable) return repeated(tab, name, () => whileAlive(tab, next, signal, work));
    const lost = "text typed into the page is lost";
    const text = `${happened} during the ${name} and was restarted with its tabs; ${lost}. The ${name} may have taken effect: take a snapshot before you repeat it`;
    throw new AppError("UNAVAILABLE", text, { details: { recovered: true, uncertain: true } });
  }
}

/** The user took the tab back, or their Chrome ended: it is not brought back for them. */
function takenAway({ gone }: Running, name: string, repeatable: boolean, cause: unknown): AppError {
  const happened = gone.aborted ? "the connection to Chrome ended" : "the tab was closed, or is no longer shared,";
  const effect = repeatable ? "" : `. The ${name} may have taken effect`;
  const text = `${happened} during the ${name}${effect}; tabs lists the shared tabs`;
  return new AppError("UNAVAILABLE", text, { cause, details: repeatable ? {} : { uncertain: true } });
}

/** A page that crashes again in the second attempt would crash in a third one as well. */
async function repeated<T>(tab: Tab, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BrowserEnded)) throw error;
    if (tab.ended === "dialogs") throw new AppError("UNAVAILABLE", TOO_MANY_DIALOGS);
    const text = `the page crashed during the ${name}, was reloaded and crashed again: navigate elsewhere or close the tab`;
    throw new AppError("UNAVAILABLE", text, { details: { recovered: false } });
  }
}

async function end(state: State): Promise<void> {
  const there = alive(state) ?? (await state.starting?.catch(() => undefined));
  state.current = undefined;
  await there?.close();
}

/** The empty tab that a new browser begins with. */
const spareTab = ({ tabs }: State): Tab | undefined => {
  const [first] = tabs.values();
  return tabs.size === 1 && first?.url === "about:blank" && first.nextRef === 1 && !first.page.isClosed() ? first : undefined;
};

export function createSession(profile: ProfileSettings, deps: SessionDeps): BrowserSession {
  const state: State = { profile, deps, tabs: new Map(), queues: new Map(), opening: 0, cameMeanwhile: new Set() };
  const { tabs, queues } = state;
  return {
    profile,
    running: () => alive(state),
    start: () => start(state),
    async stop() {
      tabs.clear();
      await end(state);
    },
    pause: () => end(state),
    tabs: () => [...tabs.values()],
    isUsedBeside: (tab) => [...queues.keys()].some((id) => id !== tab.id),
    tab: (id) => tabs.get(id),
    async open() {
      const running = await start(state);
      const spare = isRelay(state) ? undefined : spareTab(state);
      if (spare) return spare;
      if (tabs.size >= MAX_TABS) throw new AppError("OVERLOADED", `${MAX_TABS} tabs are open: close some first`);
      return adopt(state, await newPage(state, running), running);
    },
    async close(tab) {
      tabs.delete(tab.id);
      const running = alive(state);
      // A browser without a page ends by itself.
      if (running && tabs.size === 0 && !isRelay(state)) adopt(state, await newPage(state, running), running);
      await closePage(state, tab.page);
    },
    use(tab, what, work) {
      const before = queues.get(tab.id) ?? Promise.resolve();
      const done = before.then(() => attempt(state, tab, what, work));
      const end = done.then(
        () => undefined,
        () => undefined,
      );
      queues.set(tab.id, end);
      void end.then(() => queues.get(tab.id) === end && queues.delete(tab.id));
      return done;
    },
  };
}
