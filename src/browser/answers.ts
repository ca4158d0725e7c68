/** Answers about a page: what it shows, or what changed on it. */
import type { Browser, Caller } from "./create-browser.ts";
import { textIn, type Params } from "./params.ts";
import { readTab, settle, within } from "./read-tab.ts";
import type { BrowserSession } from "./session.ts";
import { showDiff } from "./snapshot/diff.ts";
import { showOutline, type ShownOutline } from "./snapshot/outline.ts";
import type { Tab } from "./tab.ts";

/** What a page looks like now, or what changed on it. Everything but the ids is text of others. */
export interface PageAnswer {
  readonly ok: true;
  readonly targetId: string;
  readonly url: string;
  readonly title?: string | undefined;
  /** `diff`: only what changed; `same`: nothing that is shown changed. */
  readonly shows: "snapshot" | "diff" | "same" | "none";
  readonly text: string;
  readonly truncated: boolean;
  readonly note?: string | undefined;
  /** Dialogs, downloads, new tabs, refused requests. */
  readonly events: readonly string[];
  readonly stats?: { readonly lines: number; readonly chars: number; readonly refs: number } | undefined;
  readonly result?: unknown;
}

/** After an action: what is new, and a new page. */
const DIFF_CHARS = 1600;
const ARRIVAL_CHARS = 6000;
const DOWNLOAD_MS = 15_000;

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

export async function tabWork(work: Work): Promise<TabWork> {
  const { browser, caller, params } = work;
  const tab = await browser.tabFor(caller, textIn(params, "targetId"));
  browser.choose(caller, tab);
  return { ...work, session: browser.session(caller.profile), tab };
}

/** Waits for downloads that an action began. */
async function downloadsDone({ tab, browser }: TabWork): Promise<void> {
  if (tab.downloads.size === 0) return;
  await within(browser.clock, DOWNLOAD_MS, Promise.all(tab.downloads), "still downloading").catch(() =>
    tab.notes.push("a download is still running; its end is reported with a later answer"),
  );
}

export function eventsOf({ tab, session }: TabWork, since: number): readonly string[] {
  const { notes } = tab;
  tab.notes = [];
  const hosts = new Map(
    session
      .running()
      ?.refusals(since)
      .map(({ host, why }) => [host, why]),
  );
  const refused = [...hosts.values()].slice(0, 3).map((why) => `request refused: ${why}`);
  return [...notes, ...refused, ...(hosts.size > 3 ? [`requests to ${hosts.size - 3} more hosts were refused`] : [])];
}

/** What changed since the last answer, or the new page. */
export async function changes(inTab: TabWork, since: number, { result, settleMs }: { result?: unknown; settleMs?: number } = {}): Promise<PageAnswer> {
  const { tab, browser } = inTab;
  await settle(tab, browser.clock, settleMs);
  await downloadsDone(inTab);
  const before = tab.lines;
  const { lines, title, isNew } = await readTab(tab, browser.clock);
  tab.lines = lines;
  const base = { ok: true, targetId: tab.id, url: tab.page.url(), title, events: eventsOf(inTab, since), ...(result === undefined ? {} : { result }) } as const;
  if (isNew) return { ...base, ...shownAs(showOutline(lines, { maxChars: ARRIVAL_CHARS })) };
  const diff = showDiff(before, lines, DIFF_CHARS);
  return { ...base, shows: diff.isSame ? "same" : "diff", text: diff.text, truncated: diff.truncated };
}

export function shownAs({ text, truncated, note, lines, refs }: ShownOutline): Pick<PageAnswer, "shows" | "text" | "truncated" | "note" | "stats"> {
  return { shows: "snapshot", text, truncated, ...(note === undefined ? {} : { note }), stats: { lines, chars: text.length, refs } };
}

export const refusedSoFar = ({ session }: { readonly session: BrowserSession }): number => session.running()?.refused() ?? 0;
