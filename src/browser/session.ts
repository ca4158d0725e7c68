import type { Download, Page } from "playwright-core";
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import { attach, launchOwn, type LaunchDeps, type Running } from "./launch.ts";
import type { ProfileSettings } from "./settings.ts";
import { createTab, MAX_DIALOGS, note, watchTab, type Tab } from "./tab.ts";

export interface SessionDeps extends LaunchDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Stores a finished download; gives a line about it. */
  readonly store: (download: Download) => Promise<string>;
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
  readonly signal: AbortSignal;
}

const MAX_TABS = 30;
const RESTORE_MS = 10_000;

/** What a session holds. */
interface State {
  readonly profile: ProfileSettings;
  readonly deps: SessionDeps;
  readonly tabs: Map<string, Tab>;
  /** The last work of each tab. */
  readonly queues: Map<string, Promise<unknown>>;
  starting?: Promise<Running> | undefined;
  current?: Running | undefined;
  /** Tabs that were ever opened. */
  count: number;
  /** Pages that are being opened on request. */
  opening: number;
}

/** Stands for work that the browser's end interrupted. */
class BrowserEnded extends Error {}

const alive = ({ current }: State): Running | undefined => (current && !current.gone.aborted ? current : undefined);

const tabOf = ({ tabs }: State, page: Page | null): Tab | undefined => [...tabs.values()].find((tab) => tab.page === page);

function watch(state: State, tab: Tab, page: Page, running: Running): void {
  const { tabs, deps } = state;
  watchTab(tab, page, {
    download(download) {
      const stored = deps.store(download).then(
        (line) => note(tab, line),
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

function adopt(state: State, page: Page, running: Running): Tab {
  const known = tabOf(state, page);
  if (known) return known;
  state.count += 1;
  const tab = createTab(`t${state.count}`, page);
  state.tabs.set(tab.id, tab);
  watch(state, tab, page, running);
  return tab;
}

/** A page that opened by itself, or that a click opened. */
function onPopup(state: State, page: Page, running: Running): void {
  if (state.opening || tabOf(state, page)) return;
  if (state.tabs.size >= MAX_TABS) return void page.close().catch(() => undefined);
  const tab = adopt(state, page, running);
  const report = async (): Promise<void> => {
    const from = tabOf(state, await page.opener());
    if (from) note(from, `opened tab ${tab.id}: ${page.url().slice(0, 200)}`);
  };
  void report().catch(() => undefined);
}

/** A page that is asked for by name: it is no popup. */
async function newPage(state: State, running: Running): Promise<Page> {
  state.opening += 1;
  try {
    return await running.context.newPage();
  } finally {
    state.opening -= 1;
  }
}

/** Shows a tab's address in a page. What does not load is left as it is. */
async function show(state: State, tab: Tab, page: Page, running: Running): Promise<void> {
  const { url } = tab;
  watch(state, tab, page, running);
  state.tabs.set(tab.id, tab);
  tab.ended = undefined;
  tab.dialogsInRow = 0;
  if (/^https?:/.test(url)) await page.goto(url, { waitUntil: "domcontentloaded", timeout: RESTORE_MS }).catch(() => undefined);
}

async function launch(state: State): Promise<Running> {
  const { profile, deps, tabs } = state;
  const isAttached = profile.kind === "attached";
  const running = await (isAttached ? attach(profile, deps) : launchOwn(profile, deps));
  running.context.on("page", (page) => onPopup(state, page, running));
  const former = isAttached ? [] : [...tabs.values()];
  const pages = running.context.pages();
  if (isAttached) tabs.clear();
  if (former.length === 0) for (const page of pages) adopt(state, page, running);
  await Promise.all(former.map(async (tab, at) => show(state, tab, (at === 0 ? pages[0] : undefined) ?? (await newPage(state, running)), running)));
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
async function revive(state: State, tab: Tab, running: Running): Promise<void> {
  if (tab.ended === undefined && !tab.page.isClosed()) return;
  const former = tab.page;
  if (tab.ended === "dialogs") tab.url = "about:blank";
  await show(state, tab, await newPage(state, running), running);
  if (!former.isClosed()) await former.close().catch(() => undefined);
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

async function attempt<T>(state: State, tab: Tab, { name, repeatable, signal }: Use, work: () => Promise<T>): Promise<T> {
  const { deps, profile } = state;
  const running = await start(state);
  await revive(state, tab, running);
  try {
    return await whileAlive(tab, running, signal, work);
  } catch (error) {
    if (!(error instanceof BrowserEnded)) throw error;
    const [isBrowser, why] = [running.gone.aborted, tab.ended];
    const next = await start(state);
    await revive(state, tab, next);
    if (!isBrowser && why === "dialogs")
      throw new AppError("UNAVAILABLE", `the page opened more than ${MAX_DIALOGS} dialogs in a row and was closed; tab ${tab.id} is empty now`);
    const happened = isBrowser ? "the browser ended" : "the page's process ended";
    deps.log.warn(`${happened} during ${name}; it was started again`, { profile: profile.name });
    if (repeatable) return whileAlive(tab, next, signal, work);
    const text = `${happened} during the ${name} and was started again with its tabs. It is not known whether the ${name} took effect: take a snapshot before you repeat it`;
    throw new AppError("UNAVAILABLE", text, { details: { recovered: true, uncertain: true } });
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
  const state: State = { profile, deps, tabs: new Map(), queues: new Map(), count: 0, opening: 0 };
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
    tab: (id) => tabs.get(id),
    async open() {
      const running = await start(state);
      const spare = spareTab(state);
      if (spare) return spare;
      if (tabs.size >= MAX_TABS) throw new AppError("OVERLOADED", `${MAX_TABS} tabs are open: close some first`);
      return adopt(state, await newPage(state, running), running);
    },
    async close(tab) {
      tabs.delete(tab.id);
      const running = alive(state);
      // A browser without a page ends by itself.
      if (running && tabs.size === 0) adopt(state, await newPage(state, running), running);
      if (!tab.page.isClosed()) await tab.page.close();
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
