/** Answers about a page: its content, or what changed on it. */
import type { Page } from "playwright-core";
import type { Browser, Caller } from "./create-browser.ts";
import { recordsIn, textIn, type Params } from "./params.ts";
import { readTab, settle, until, within } from "./read-tab.ts";
import type { BrowserSession } from "./session.ts";
import { comparable, showDiff } from "./snapshot/diff.ts";
import { showOutline, type ShownOutline } from "./snapshot/outline.ts";
import { MAX_POPUPS, type ReportedDownload, type Tab } from "./tab.ts";

/** A page's current content, or what changed on it. All fields except ids are untrusted. */
export interface PageAnswer {
  readonly ok: true;
  readonly targetId: string;
  readonly url: string;
  readonly title?: string | undefined;
  /** `diff`: only what changed; `same`: nothing visible changed. */
  readonly shows: "snapshot" | "diff" | "same" | "none";
  readonly text: string;
  readonly truncated: boolean;
  readonly note?: string | undefined;
  /** Dialogs, downloads, new tabs, refused requests. */
  readonly events: readonly string[];
  /** Files that were stored since the last answer; each has its line in the events. */
  readonly downloads?: readonly ReportedDownload[] | undefined;
  readonly stats?: { readonly lines: number; readonly chars: number; readonly refs: number } | undefined;
  readonly result?: unknown;
}

/** Limits after an action: for what changed, and for a new page. */
const DIFF_CHARS = 1600;
const ARRIVAL_CHARS = 6000;
const DOWNLOAD_MS = 15_000;
const POPUP_MS = 5000;

/** One request. */
export interface Work {
  readonly browser: Browser;
  readonly caller: Caller;
  readonly params: Params;
}

/** One request about a tab. */
export interface TabWork extends Work {
  readonly session: BrowserSession;
  readonly tab: Tab;
}

/** Whether the request refers to an element of a page that the caller has seen. */
export const usesRef = (params: Params): boolean =>
  ["ref", "inputRef", "startRef", "endRef"].some((name) => textIn(params, name) !== undefined) || recordsIn(params, "fields").length > 0;

export async function tabWork(work: Work): Promise<TabWork> {
  const { browser, caller, params } = work;
  const tab = await browser.tabFor(caller, textIn(params, "targetId"), usesRef(params));
  browser.choose(caller, tab);
  return { ...work, session: browser.session(caller.profile), tab };
}

/** Waits for downloads that an action started. */
async function downloadsDone({ tab, browser }: TabWork): Promise<void> {
  if (tab.downloads.size === 0) return;
  await within(browser.clock, DOWNLOAD_MS, Promise.all(tab.downloads), "still downloading").catch(() =>
    tab.notes.push("a download is still running; a later answer reports its end"),
  );
}

/** A few lines about the tabs that this tab opened. */
function popupLines({ popups }: Tab): readonly string[] {
  const { count, refused, expected } = popups;
  const opened = popups.opened.splice(0);
  Object.assign(popups, { count: 0, refused: 0, expected: 0 });
  const more = count - opened.length;
  return [
    ...opened,
    ...(more > 0 ? [`opened ${more} more tabs; tabs lists them`] : []),
    ...(refused > 0 ? [`${refused} more tabs were closed at once: a page may have ${MAX_POPUPS} open tabs`] : []),
    ...(expected > 0 ? ["a new tab is being opened; tabs lists it once it has opened"] : []),
  ];
}

/** The proxy cannot tell which page sent a request, so an unattributed one is reported only if this tab is the only candidate. */
const isOwn = ({ tab, session }: TabWork, host: string): boolean =>
  tab.hosts.has(host) || (!session.isUsedBeside(tab) && !session.tabs().some((other) => other.hosts.has(host)));

function eventsOf(inTab: TabWork, since: number): readonly string[] {
  const { tab, session } = inTab;
  const notes = [...(tab.reloaded === undefined ? [] : [tab.reloaded]), ...tab.notes, ...popupLines(tab)];
  tab.reloaded = undefined;
  tab.notes = [];
  const refusals = session.running()?.refusals(since) ?? [];
  const hosts = new Map(refusals.filter(({ host }) => isOwn(inTab, host)).map(({ host, why }) => [host, why]));
  const refused = [...hosts.values()].slice(0, 3).map((why) => `request refused: ${why}`);
  return [...notes, ...refused, ...(hosts.size > 3 ? [`requests to ${hosts.size - 3} more hosts were refused`] : [])];
}

/** What happened since the last answer: it is reported once. */
export function newsOf(inTab: TabWork, since: number): Pick<PageAnswer, "events" | "downloads"> {
  const downloads = inTab.tab.stored.splice(0);
  return { events: eventsOf(inTab, since), ...(downloads.length === 0 ? {} : { downloads }) };
}

interface ChangesOptions {
  /** The page on which the work began. */
  readonly page: Page;
  readonly result?: unknown;
  readonly settleMs?: number | undefined;
  /** How long the page may take to respond. */
  readonly answerMs?: number | undefined;
}

/** What changed since the last answer, or the new page. */
export async function changes(inTab: TabWork, since: number, { page, result, settleMs, answerMs }: ChangesOptions): Promise<PageAnswer> {
  const { tab, browser } = inTab;
  await settle(tab, browser.clock, { ms: settleMs, answerMs });
  await until(tab, browser.clock, POPUP_MS, () => tab.popups.expected === 0);
  await downloadsDone(inTab);
  const [before, wasCut] = [tab.lines, tab.isCut];
  const { lines, title, isNew, isCut, framesLeft } = await readTab(tab, browser.clock, { page, answerMs });
  const isReload = tab.reloaded !== undefined;
  [tab.lines, tab.isCut] = [lines, isCut];
  const base = { ok: true, targetId: tab.id, url: tab.page.url(), title, ...newsOf(inTab, since), ...(result === undefined ? {} : { result }) } as const;
  if (isNew || isReload) return { ...base, ...snapshotFields(showOutline(lines, { maxChars: ARRIVAL_CHARS, isCut, framesLeft })) };
  const diff = wasCut || isCut ? showDiff(...comparable(before, lines), DIFF_CHARS) : showDiff(before, lines, DIFF_CHARS);
  return { ...base, shows: diff.isSame ? "same" : "diff", text: diff.text, truncated: diff.truncated };
}

export function snapshotFields({ text, truncated, note, lines, refs }: ShownOutline): Pick<PageAnswer, "shows" | "text" | "truncated" | "note" | "stats"> {
  return { shows: "snapshot", text, truncated, ...(note === undefined ? {} : { note }), stats: { lines, chars: text.length, refs } };
}

export const refusedSoFar = ({ session }: { readonly session: BrowserSession }): number => session.running()?.refused() ?? 0;
