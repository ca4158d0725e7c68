import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Download, Frame, JSHandle, Page, Request } from "playwright-core";
import { ensureFolder, writeAtomic } from "../base/files.ts";
import type { Ids } from "../base/ids.ts";
import { formatBytes } from "../base/text.ts";
import type { PageReader } from "./page/install.ts";
import type { OutlineLine } from "./snapshot/outline.ts";

/** A message of a page's console. */
export interface ConsoleEntry {
  readonly level: string;
  readonly text: string;
}

export interface RequestEntry {
  readonly method: string;
  readonly url: string;
  readonly kind: string;
  readonly status?: number | undefined;
  readonly failure?: string | undefined;
}

/** What the next dialog is answered with. */
export interface ArmedDialog {
  readonly accept: boolean;
  readonly promptText?: string | undefined;
}

/** Pages that a page opened. */
export interface Popups {
  /** Opened, but not there yet. */
  expected: number;
  /** Lines about the first few, and how many there were. */
  readonly opened: string[];
  count: number;
  /** Closed at once because the page had too many open, or because there were too many in all. */
  refused: number;
}

/** A tab. It stays the same thing when the browser is started again. */
export interface Tab {
  /** Short, and never used twice. */
  readonly id: string;
  page: Page;
  /** The last address that it showed, for a new start. */
  url: string;
  /** Requests that something on the page waits for. */
  readonly pending: Set<Request>;
  readonly readers: Map<Frame, JSHandle<PageReader>>;
  /** The outline that the caller knows. */
  lines: readonly OutlineLine[];
  nextRef: number;
  /** The reader of the document that the outline is of. */
  outlined?: JSHandle<PageReader> | undefined;
  /** Downloads that are running. */
  readonly downloads: Set<Promise<void>>;
  /** Downloads that were stored since the last answer. */
  readonly stored: ReportedDownload[];
  readonly console: ConsoleEntry[];
  readonly requests: RequestEntry[];
  /** What happened since the last answer: dialogs, downloads, new tabs. Text of others. */
  notes: string[];
  dialog?: ArmedDialog | undefined;
  /** Dialogs without anything between them that got through. */
  dialogsInRow: number;
  /** Its page ended: its process crashed, it was closed because its dialogs did not stop, or its scripts left no time for anything else. */
  ended?: "crash" | "dialogs" | "busy" | undefined;
  /** Why its page was loaded again, until an answer has said so. */
  reloaded?: string | undefined;
  /** The page did not answer when it was asked last. */
  isBusy: boolean;
  /** The outline that the caller knows ends before the page does. */
  isCut: boolean;
  /** Hosts that its page asked for, the latest ones. */
  readonly hosts: Set<string>;
  /** The tab that the first page of a chain of pages that opened each other is in. */
  readonly root?: string | undefined;
  /** Pages that it opened since the last answer. */
  readonly popups: Popups;
  /** Called when something changed that a wait may be for. */
  readonly listeners: Set<() => void>;
}

/** A download that was stored, and the line that reports it. */
export interface ReportedDownload {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly event: string;
}

const MAX_CONSOLE = 200;
const MAX_REQUESTS = 200;
const MAX_NOTES = 20;
const MAX_TEXT = 500;
const MAX_HOSTS = 200;
/** A page that opens more dialogs in a row than this is ended. */
export const MAX_DIALOGS = 10;
/** Tabs that a page, and those that it opened, may have open. */
export const MAX_POPUPS = 5;
/** What the state of a page depends on; pictures, videos and open streams are not waited for. */
const AWAITED: ReadonlySet<string> = new Set(["document", "stylesheet", "script", "xhr", "fetch"]);

const pushed = <T>(list: T[], item: T, most: number): void => {
  list.push(item);
  if (list.length > most) list.shift();
};

export function note(tab: Tab, text: string): void {
  pushed(tab.notes, text.slice(0, MAX_TEXT), MAX_NOTES);
}

/** Reports a download with the next answer. */
export function noteDownload(tab: Tab, { path, name, bytes }: Omit<ReportedDownload, "event">): void {
  const event = `downloaded ${JSON.stringify(name.slice(0, 100))} (${formatBytes(bytes)}) to ${path}`.slice(0, MAX_TEXT);
  note(tab, event);
  pushed(tab.stored, { path, name, bytes, event }, MAX_NOTES);
}

/** Calls those who wait for something on the tab. */
export function changed(tab: Tab): void {
  for (const listener of tab.listeners) listener();
}

export function createTab(id: string, page: Page, root?: string): Tab {
  return {
    id,
    page,
    root,
    url: page.url(),
    pending: new Set(),
    readers: new Map(),
    lines: [],
    nextRef: 1,
    downloads: new Set(),
    stored: [],
    console: [],
    requests: [],
    notes: [],
    dialogsInRow: 0,
    isBusy: false,
    isCut: false,
    hosts: new Set(),
    popups: { expected: 0, opened: [], count: 0, refused: 0 },
    listeners: new Set(),
  };
}

export interface TabHandlers {
  download(download: Download): void;
  crashed(): void;
  closed(): void;
}

function watchRequests(tab: Tab, page: Page): void {
  const done = async (request: Request): Promise<void> => {
    tab.pending.delete(request);
    const response = request.failure() ? null : await request.response().catch(() => null);
    const entry = { method: request.method(), url: request.url().slice(0, MAX_TEXT), kind: request.resourceType() };
    pushed(tab.requests, { ...entry, status: response?.status(), failure: request.failure()?.errorText }, MAX_REQUESTS);
    changed(tab);
  };
  page.on("websocket", (socket) => addHost(tab, socket.url()));
  page.on("request", (request) => {
    addHost(tab, request.url());
    if (AWAITED.has(request.resourceType())) tab.pending.add(request);
  });
  page.on("requestfinished", (request) => void done(request));
  page.on("requestfailed", (request) => void done(request));
  page.on("framenavigated", (frame) => {
    if (frame !== page.mainFrame()) return;
    tab.url = page.url();
    // What the former document waited for is nobody's concern any more.
    for (const request of tab.pending) if (request.isNavigationRequest() || isGone(request)) tab.pending.delete(request);
    changed(tab);
  });
}

function addHost({ hosts }: Tab, url: string): void {
  if (!URL.canParse(url)) return;
  const { hostname } = new URL(url);
  hosts.delete(hostname);
  hosts.add(hostname);
  const [oldest] = hosts;
  if (hosts.size > MAX_HOSTS && oldest !== undefined) hosts.delete(oldest);
}

function isGone(request: Request): boolean {
  try {
    return request.frame().isDetached();
  } catch {
    return true;
  }
}

function watchDialogs(tab: Tab, page: Page): void {
  page.on("dialog", (dialog) => {
    const { dialog: armed } = tab;
    const kind = dialog.type();
    const accepts = armed?.accept ?? (kind === "alert" || kind === "beforeunload");
    tab.dialog = undefined;
    tab.dialogsInRow += 1;
    if (tab.dialogsInRow > MAX_DIALOGS) {
      tab.ended ??= "dialogs";
      // The open dialog goes with the page.
      void page.close().catch(() => undefined);
      changed(tab);
      return;
    }
    note(tab, `dialog (${kind}) ${accepts ? "accepted" : "dismissed"}: ${JSON.stringify(dialog.message().slice(0, 200))}`);
    void (accepts ? dialog.accept(armed?.promptText) : dialog.dismiss()).catch(() => undefined);
  });
}

/** Follows what happens on the tab's page. */
export function watchTab(tab: Tab, page: Page, handlers: TabHandlers): void {
  tab.page = page;
  tab.pending.clear();
  tab.readers.clear();
  tab.isBusy = false;
  tab.popups.expected = 0;
  watchRequests(tab, page);
  watchDialogs(tab, page);
  page.on("console", (message) => pushed(tab.console, { level: message.type(), text: message.text().slice(0, MAX_TEXT) }, MAX_CONSOLE));
  page.on("pageerror", (error) => pushed(tab.console, { level: "error", text: `uncaught: ${error.message}`.slice(0, MAX_TEXT) }, MAX_CONSOLE));
  page.on("download", handlers.download);
  page.on("crash", handlers.crashed);
  page.on("close", handlers.closed);
}

/** A page can open tabs without end: the disk is asked once for so many numbers. */
const RESERVED = 20;

/** Notes on a tab that its page opened another one. */
export function reportOpened({ popups }: Tab, { id }: Tab, page: Page): void {
  popups.count += 1;
  if (popups.opened.length < MAX_POPUPS) popups.opened.push(`opened tab ${id}: ${page.url().slice(0, 200)}`);
}

/** Reports a page that is about to open before it is there. */
export async function expectPopups(tab: Tab, page: Page, isShared: boolean): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on("Page.windowOpen", ({ url }) => {
    if (tab.page !== page) return;
    if (isShared) note(tab, `the page opened another tab, which is not shared: ${url.slice(0, 200)}`);
    else tab.popups.expected += 1;
  });
  await session.send("Page.enable");
}

/** Numbers of tabs. They go on after a restart, so that an id in an old transcript never means another tab; those that were reserved are skipped. */
export function createTabNumbers(file: string, ids: Pick<Ids, "hex">): () => number {
  let last: number | undefined;
  let reserved = 0;
  const stored = (): number => {
    try {
      const number = Number(readFileSync(file, "utf8"));
      return Number.isSafeInteger(number) && number > 0 ? number : 0;
    } catch {
      return 0;
    }
  };
  return () => {
    last = (last ?? stored()) + 1;
    if (last <= reserved) return last;
    ensureFolder(dirname(file));
    writeAtomic(file, `${last + RESERVED - 1}\n`, { temporary: `${file}.${ids.hex(4)}.tmp` });
    reserved = last + RESERVED - 1;
    return last;
  };
}
