import type { Download, Page } from "playwright-core";
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import { attach, launchOwn, type LaunchDeps, type Running } from "./launch.ts";
import type { ProfileSettings } from "./settings.ts";
import { createTab, note, watchTab, type Tab } from "./tab.ts";

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

/** Stands for work that the browser's end interrupted. */
class BrowserEnded extends Error {}

export function createSession(profile: ProfileSettings, deps: SessionDeps): BrowserSession {
  const { log } = deps;
  const tabs = new Map<string, Tab>();
  const queues = new Map<string, Promise<unknown>>();
  let starting: Promise<Running> | undefined;
  let current: Running | undefined;
  let count = 0;

  const alive = (): Running | undefined => (current && !current.gone.aborted ? current : undefined);

  function watch(tab: Tab, page: Page, running: Running): void {
    watchTab(tab, page, {
      download(download) {
        const stored = deps.store(download).then(
          (line) => note(tab, line),
          (error: unknown) => note(tab, `download failed: ${messageOf(error)}`),
        );
        tab.downloads.add(stored);
        void stored.then(() => tab.downloads.delete(stored));
      },
      crashed: () => (tab.ended ??= "its process ended"),
      closed() {
        // When the whole browser goes, its tabs come back with it.
        setImmediate(() => {
          if (!running.gone.aborted && tab.page === page && tab.ended === undefined) tabs.delete(tab.id);
        });
      },
    });
  }

  function adopt(page: Page, running: Running): Tab {
    const known = [...tabs.values()].find((tab) => tab.page === page);
    if (known) return known;
    count += 1;
    const tab = createTab(`t${count}`, page);
    tabs.set(tab.id, tab);
    watch(tab, page, running);
    return tab;
  }

  function onPopup(page: Page, running: Running): void {
    if ([...tabs.values()].some((tab) => tab.page === page)) return;
    if (tabs.size >= MAX_TABS) return void page.close().catch(() => undefined);
    const tab = adopt(page, running);
    void page.opener().then(
      (opener) => {
        const from = [...tabs.values()].find((other) => other.page === opener);
        if (from) note(from, `opened tab ${tab.id}: ${page.url().slice(0, 200)}`);
      },
      () => undefined,
    );
  }

  /** Loads the addresses that the tabs had. A page that does not load is left as it is. */
  async function restore(running: Running, wanted: readonly Tab[], spare: Page | undefined): Promise<void> {
    let empty = spare;
    await Promise.all(
      wanted.map(async (tab) => {
        const page = empty ?? (await running.context.newPage());
        empty = undefined;
        const { url } = tab;
        watch(tab, page, running);
        tab.ended = undefined;
        tab.dialogsInRow = 0;
        if (/^https?:/.test(url)) await page.goto(url, { waitUntil: "domcontentloaded", timeout: RESTORE_MS }).catch(() => undefined);
      }),
    );
  }

  async function launch(): Promise<Running> {
    const running = await (profile.kind === "attached" ? attach(profile, deps) : launchOwn(profile, deps));
    const former = [...tabs.values()];
    const pages = running.context.pages();
    if (profile.kind === "attached") tabs.clear();
    if (profile.kind === "attached" || former.length === 0) for (const page of pages) adopt(page, running);
    else await restore(running, former, pages[0]);
    running.context.on("page", (page) => onPopup(page, running));
    running.gone.addEventListener("abort", () => log.info(`the browser of the profile ${profile.name} ended`), { once: true });
    current = running;
    return running;
  }

  async function start(): Promise<Running> {
    const there = alive();
    if (there) return there;
    starting ??= launch().finally(() => (starting = undefined));
    return starting;
  }

  /** A tab whose page ended gets a new one. */
  async function revive(tab: Tab, running: Running): Promise<void> {
    if (tab.ended === undefined && !tab.page.isClosed()) return;
    const blank = tab.ended?.includes("dialogs") === true;
    const former = tab.page;
    const page = await running.context.newPage();
    if (blank) tab.url = "about:blank";
    const { url } = tab;
    const own = [...tabs.values()].find((other) => other.page === page && other !== tab);
    if (own) tabs.delete(own.id);
    tabs.set(tab.id, tab);
    watch(tab, page, running);
    tab.ended = undefined;
    tab.dialogsInRow = 0;
    if (!former.isClosed()) await former.close().catch(() => undefined);
    if (/^https?:/.test(url)) await page.goto(url, { waitUntil: "domcontentloaded", timeout: RESTORE_MS }).catch(() => undefined);
  }

  /** The work, or a rejection when the browser or the tab's page ends before it. */
  async function whileAlive<T>(tab: Tab, running: Running, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    const onGone = (): void => reject(new BrowserEnded("the browser ended"));
    const onAbort = (): void => reject(signal.reason);
    const onChange = (): void => {
      if (tab.ended !== undefined) reject(new BrowserEnded(tab.ended));
    };
    const onCrash = (): void => reject(new BrowserEnded("its process ended"));
    if (running.gone.aborted) onGone();
    if (signal.aborted) onAbort();
    const { page } = tab;
    running.gone.addEventListener("abort", onGone, { once: true });
    signal.addEventListener("abort", onAbort, { once: true });
    tab.listeners.add(onChange);
    page.on("crash", onCrash);
    try {
      const done = work();
      done.catch(() => undefined);
      return await Promise.race([done, promise]);
    } catch (error) {
      // What a page was doing fails a moment before its end is reported.
      if (!(error instanceof AppError) && !(error instanceof BrowserEnded)) await new Promise((resolve) => setImmediate(resolve));
      if (running.gone.aborted || tab.ended !== undefined) throw new BrowserEnded(tab.ended ?? "the browser ended");
      throw error;
    } finally {
      running.gone.removeEventListener("abort", onGone);
      signal.removeEventListener("abort", onAbort);
      tab.listeners.delete(onChange);
      page.off("crash", onCrash);
    }
  }

  async function attempt<T>(tab: Tab, { name, repeatable, signal }: Use, work: () => Promise<T>): Promise<T> {
    const running = await start();
    await revive(tab, running);
    try {
      return await whileAlive(tab, running, signal, work);
    } catch (error) {
      if (!(error instanceof BrowserEnded)) throw error;
      const isBrowser = running.gone.aborted;
      const why = tab.ended;
      const next = await start();
      await revive(tab, next);
      if (!isBrowser && why?.includes("dialogs")) throw new AppError("UNAVAILABLE", `${why}; tab ${tab.id} is empty now`);
      const happened = isBrowser ? "the browser ended" : "the page's process ended";
      log.warn(`${happened} during ${name}; it was started again`, { profile: profile.name });
      if (repeatable) return whileAlive(tab, next, signal, work);
      throw new AppError(
        "UNAVAILABLE",
        `${happened} during ${name} and was started again with its tabs. The ${name} may or may not have taken effect: take a snapshot before you repeat it`,
        { details: { recovered: true, uncertain: true } },
      );
    }
  }

  return {
    profile,
    running: alive,
    start,
    async stop() {
      const there = alive();
      tabs.clear();
      current = undefined;
      await there?.close();
    },
    tabs: () => [...tabs.values()],
    tab: (id) => tabs.get(id),
    async open() {
      const running = await start();
      const spare = [...tabs.values()].find((tab) => tab.url === "about:blank" && tab.nextRef === 1 && tabs.size === 1 && !tab.page.isClosed());
      if (spare) return spare;
      if (tabs.size >= MAX_TABS) throw new AppError("OVERLOADED", `${MAX_TABS} tabs are open: close some first`);
      return adopt(await running.context.newPage(), running);
    },
    async close(tab) {
      tabs.delete(tab.id);
      if (!tab.page.isClosed()) await tab.page.close();
    },
    use(tab, what, work) {
      const before = queues.get(tab.id) ?? Promise.resolve();
      const done = before.then(() => attempt(tab, what, work));
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
