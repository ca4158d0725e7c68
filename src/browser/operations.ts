/** What can be asked of a browser, for the tool and for the gateway's method alike. */
import { AppError, messageOf, systemCode } from "../base/errors.ts";
import { checkedAddresses } from "../base/guarded-fetch.ts";
import { act, actionError, boundedMs, kindOf, REPEATABLE } from "./actions.ts";
import type { Browser, Caller } from "./create-browser.ts";
import { filesToUpload, savePdf, takePicture, type Picture } from "./files.ts";
import { REFUSED_HEADER } from "./guard-proxy.ts";
import { flagIn, numberIn, rawIn, required, textIn, textsIn, type Params } from "./params.ts";
import { elementOf, readTab, refNumber, settle, within } from "./read-tab.ts";
import type { BrowserSession } from "./session.ts";
import { showDiff } from "./snapshot/diff.ts";
import { showOutline, type ShownOutline } from "./snapshot/outline.ts";
import type { ConsoleEntry, Tab } from "./tab.ts";

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

export interface TabRow {
  readonly targetId: string;
  readonly title: string;
  readonly url: string;
  readonly type: "page";
  readonly current?: boolean | undefined;
}

/** A snapshot is at most this long unless more is asked for; a token is at least three characters of it. */
const SNAPSHOT_CHARS = 16_000;
const EFFICIENT_CHARS = 10_000;
const MOST_CHARS = 80_000;
const EFFICIENT_DEPTH = 6;
/** After an action: what is new, and a new page. */
const DIFF_CHARS = 1600;
const ARRIVAL_CHARS = 6000;
const NAVIGATE_MS = 20_000;
const DOWNLOAD_MS = 15_000;
const TITLE_MS = 2000;

interface Work {
  readonly browser: Browser;
  readonly caller: Caller;
  readonly params: Params;
}

interface Place extends Work {
  readonly session: BrowserSession;
  readonly tab: Tab;
}

async function placeOf(work: Work): Promise<Place> {
  const { browser, caller, params } = work;
  const tab = await browser.tabFor(caller, textIn(params, "targetId"));
  browser.choose(caller, tab);
  return { ...work, session: browser.session(caller.profile), tab };
}

/** Waits for downloads that an action began. */
async function downloadsDone({ tab, browser }: Place): Promise<void> {
  if (tab.downloads.size === 0) return;
  await within(browser.clock, DOWNLOAD_MS, Promise.all(tab.downloads), "still downloading").catch(() =>
    tab.notes.push("a download is still running; its end is reported with a later answer"),
  );
}

function eventsOf({ tab, session }: Place, since: number): readonly string[] {
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
async function changes(place: Place, since: number, result?: unknown): Promise<PageAnswer> {
  const { tab, browser } = place;
  await settle(tab, browser.clock);
  await downloadsDone(place);
  const before = tab.lines;
  const { lines, title, isNew } = await readTab(tab, browser.clock);
  tab.lines = lines;
  const base = { ok: true, targetId: tab.id, url: tab.page.url(), title, events: eventsOf(place, since), ...(result === undefined ? {} : { result }) } as const;
  if (isNew) return { ...base, ...shownAs(showOutline(lines, { maxChars: ARRIVAL_CHARS })) };
  const diff = showDiff(before, lines, DIFF_CHARS);
  return { ...base, shows: diff.isSame ? "same" : "diff", text: diff.text, truncated: diff.truncated };
}

function shownAs({ text, truncated, note, lines, refs }: ShownOutline): Pick<PageAnswer, "shows" | "text" | "truncated" | "note" | "stats"> {
  return { shows: "snapshot", text, truncated, ...(note === undefined ? {} : { note }), stats: { lines, chars: text.length, refs } };
}

const refusedSoFar = ({ session }: { readonly session: BrowserSession }): number => session.running()?.refused() ?? 0;

/** The address that was asked for: http and https only, and only where the policy lets a page be. */
async function allowedUrl({ browser }: Work, written: string): Promise<string> {
  const text = /^[a-z][a-z0-9+.-]*:/i.test(written) && !/^[^/:]+:\d+(?:[/?#]|$)/.test(written) ? written : `https://${written}`;
  if (text === "about:blank") return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new AppError("INVALID_INPUT", `"${written.slice(0, 100)}" is no http or https address; other kinds are not opened`);
  try {
    await checkedAddresses(url.hostname, browser.settings().policy, browser.lookup);
  } catch (error) {
    if (error instanceof AppError && error.code === "HOST_BLOCKED") throw refusal(error.message);
    const code = systemCode(error);
    if (code === "ENOTFOUND" || code === "EAI_AGAIN")
      throw new AppError("UNAVAILABLE", `${url.host} could not be reached: its name is not known; check the address`);
    throw error;
  }
  return url.href;
}

const refusal = (why: string): AppError =>
  new AppError("HOST_BLOCKED", `${why}. The owner can allow it with browser.ssrfPolicy (allowedHostnames, allowPrivateNetwork, hostnameAllowlist)`, {
    details: { reason: "ssrfPolicy" },
  });

const NETWORK: readonly (readonly [RegExp, string])[] = [
  [/ERR_TOO_MANY_REDIRECTS/, "it redirects without end"],
  [/ERR_(?:TUNNEL|PROXY)_CONNECTION_FAILED|ERR_CONNECTION|ERR_ADDRESS_UNREACHABLE|ERR_EMPTY_RESPONSE/, "it could not be reached; check the address"],
  [/ERR_CERT|ERR_SSL/, "its certificate is not trusted"],
  [/ERR_INVALID_AUTH|ERR_RESPONSE_HEADERS|ERR_HTTP2|ERR_INVALID/, "it answered with something that is no page"],
];

/** A navigation that did not arrive, in words. Undefined: it did arrive, in its way. */
function navigationError(error: unknown, url: string, timeout: number, place: Place, since: number): AppError | undefined {
  const text = messageOf(error);
  const host = URL.canParse(url) ? new URL(url).host : url;
  const last = place.session.running()?.refusals(since).at(-1);
  if (/Download is starting/i.test(text)) return undefined;
  if (last && /ERR_TUNNEL|ERR_FAILED|ERR_BLOCKED|ERR_ABORTED/.test(text)) return refusal(last.why);
  // The address answered with nothing to show, or the page went on to another one.
  if (/ERR_ABORTED|interrupted by another navigation/.test(text)) return undefined;
  if (/Timeout/.test(text)) return new AppError("TIMEOUT", `${host} did not answer within ${timeout} ms`);
  const known = NETWORK.find(([pattern]) => pattern.test(text))?.[1];
  return new AppError("UNAVAILABLE", `${host} was not opened: ${known ?? (/net::\w+/.exec(text)?.[0] || text.split("\n")[0]?.slice(0, 200))}`);
}

/** Goes to an address. A page that does not finish loading is shown as far as it is there. */
async function goTo(place: Place, url: string): Promise<PageAnswer> {
  const { tab, params } = place;
  const timeout = boundedMs(numberIn(params, "timeoutMs"), NAVIGATE_MS);
  const since = refusedSoFar(place);
  const notes: string[] = [];
  try {
    const response = await tab.page.goto(url, { waitUntil: "commit", timeout });
    const own = response?.headers()[REFUSED_HEADER];
    const last = place.session.running()?.refusals(since).at(-1);
    if (own === "refused" && last) throw refusal(last.why);
    if (own === "unreachable") throw new AppError("UNAVAILABLE", `${new URL(response?.url() ?? url).host} could not be reached; check the address`);
    if (response && response.status() >= 400) notes.push(`the server answered with status ${response.status()}`);
    await tab.page
      .waitForLoadState("domcontentloaded", { timeout })
      .catch(() => notes.push(`the page was still loading after ${timeout} ms; this is what was there`));
  } catch (error) {
    if (error instanceof AppError) throw error;
    const failed = tab.page.isClosed() ? error : navigationError(error, url, timeout, place, since);
    if (failed !== undefined) {
      await stopLoading(tab);
      throw failed;
    }
  }
  tab.notes.push(...notes);
  tab.dialogsInRow = 0;
  return changes(place, since);
}

/** Ends a load that nobody waits for any more. */
async function stopLoading(tab: Tab): Promise<void> {
  if (tab.page.isClosed()) return;
  const session = await tab.page
    .context()
    .newCDPSession(tab.page)
    .catch(() => undefined);
  await session?.send("Page.stopLoading").catch(() => undefined);
  await session?.detach().catch(() => undefined);
  tab.pending.clear();
}

/** Opens an address in a new tab, which becomes the caller's. */
export async function open(work: Work): Promise<PageAnswer> {
  const { browser, caller, params } = work;
  const session = browser.session(caller.profile);
  const url = await allowedUrl(work, textIn(params, "targetUrl") ?? required(params, "url"));
  const tab = await session.open();
  browser.choose(caller, tab);
  const place: Place = { ...work, session, tab };
  return session.use(tab, { name: "opening of the page", repeatable: true, signal: caller.signal }, () => goTo(place, url));
}

export async function navigate(work: Work): Promise<PageAnswer> {
  const { browser, caller, params } = work;
  const url = await allowedUrl(work, textIn(params, "targetUrl") ?? required(params, "url"));
  if (browser.session(caller.profile).tabs().length === 0) return open({ ...work, params: { ...params, targetUrl: url } });
  const place = await placeOf(work);
  return place.session.use(place.tab, { name: "navigation", repeatable: true, signal: caller.signal }, () => goTo(place, url));
}

/** The page as an outline with refs. */
export async function snapshot(work: Work): Promise<PageAnswer & { readonly picture?: Picture | undefined; readonly nodes?: readonly object[] | undefined }> {
  const { browser, caller, params } = work;
  const place = await placeOf(work);
  const { tab } = place;
  const isEfficient =
    textIn(params, "mode") === "efficient" || (browser.settings().efficient && textIn(params, "mode") === undefined && params["maxChars"] === undefined);
  const [selector, frame] = [textIn(params, "selector"), textIn(params, "frame")];
  const usual = isEfficient ? EFFICIENT_CHARS : SNAPSHOT_CHARS;
  const options = {
    interactive: flagIn(params, "interactive") ?? isEfficient,
    compact: flagIn(params, "compact") ?? isEfficient,
    depth: numberIn(params, "depth") ?? (isEfficient ? EFFICIENT_DEPTH * 3 : undefined),
    limit: numberIn(params, "limit"),
    maxChars: Math.min(Math.max(numberIn(params, "maxChars") ?? usual, 500), MOST_CHARS),
  };
  return place.session.use(tab, { name: "snapshot", repeatable: true, signal: caller.signal }, async () => {
    const since = refusedSoFar(place);
    await settle(tab, browser.clock);
    const { lines, title, isCut } = await readTab(tab, browser.clock, { selector, frame });
    if (selector === undefined && frame === undefined) tab.lines = lines;
    const shown = shownAs(showOutline(lines, options));
    const note = [shown.note, isCut ? "the page is too large to be read as a whole" : undefined].filter((text) => text !== undefined).join("; ");
    const refs = lines.flatMap(({ ref }) => ref ?? []);
    const picture = flagIn(params, "labels") === true ? await labelled(place, refs) : undefined;
    const isAria = (textIn(params, "snapshotFormat") ?? textIn(params, "format")) === "aria";
    const nodes = isAria
      ? lines.slice(0, options.limit ?? 500).map(({ depth, ref, text }) => ({ ...(ref === undefined ? {} : { ref: `e${ref}` }), depth, text }))
      : undefined;
    return {
      ok: true as const,
      targetId: tab.id,
      url: tab.page.url(),
      title,
      events: eventsOf(place, since),
      ...shown,
      ...(note === "" ? {} : { note }),
      ...(picture ? { picture } : {}),
      ...(nodes ? { nodes } : {}),
    };
  });
}

/** A picture with the refs beside what they stand for. */
async function labelled({ tab, browser, caller }: Place, refs: readonly number[]): Promise<Picture> {
  const reader = tab.readers.get(tab.page.mainFrame());
  try {
    await reader?.evaluate((made, shown) => made.label(shown), refs.slice(0, 300));
    return await takePicture(tab, { type: "png", fullPage: false, timeout: NAVIGATE_MS }, browser.files(caller.profile));
  } finally {
    await reader?.evaluate((made) => made.label([])).catch(() => undefined);
  }
}

export async function screenshot(work: Work): Promise<Picture & { readonly targetId: string; readonly url: string }> {
  const { browser, caller, params } = work;
  const place = await placeOf(work);
  const { tab } = place;
  const [ref, selector, fullPage] = [textIn(params, "ref"), textIn(params, "element"), flagIn(params, "fullPage") === true];
  if (fullPage && (ref !== undefined || selector !== undefined)) throw new AppError("INVALID_INPUT", "fullPage cannot be combined with ref or element");
  const type = textIn(params, "type") === "jpeg" ? "jpeg" : "png";
  const timeout = boundedMs(numberIn(params, "timeoutMs"), NAVIGATE_MS);
  return withWords("screenshot", timeout, () =>
    place.session.use(tab, { name: "screenshot", repeatable: true, signal: caller.signal }, async () => {
      await settle(tab, browser.clock);
      const target = ref === undefined ? (selector === undefined ? undefined : tab.page.locator(selector).first()) : await elementOf(tab, ref, browser.clock);
      const picture = await takePicture(tab, { type, fullPage, target, timeout }, browser.files(caller.profile));
      return { ...picture, targetId: tab.id, url: tab.page.url() };
    }),
  );
}

/** Failures of the driver in words. */
async function withWords<T>(what: string, timeout: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw actionError(error, what, timeout);
  }
}

export async function pdf(work: Work): Promise<{ readonly path: string; readonly targetId: string; readonly url: string }> {
  const { browser, caller } = work;
  const place = await placeOf(work);
  const { tab } = place;
  return withWords("pdf", NAVIGATE_MS, () =>
    place.session.use(tab, { name: "pdf", repeatable: true, signal: caller.signal }, async () => {
      const saved = within(browser.clock, 2 * NAVIGATE_MS, savePdf(tab, browser.files(caller.profile)), "the page could not be printed in time");
      return { path: (await saved).path, targetId: tab.id, url: tab.page.url() };
    }),
  );
}

/** Does something on the page; the answer is what changed. */
export async function perform(work: Work): Promise<PageAnswer> {
  const { browser, caller, params } = work;
  const kind = kindOf(params);
  const place = await placeOf(work);
  const { tab } = place;
  if (kind === "close") {
    await place.session.close(tab);
    return { ok: true, targetId: tab.id, url: "", shows: "none", text: "", truncated: false, events: [] };
  }
  const ref = textIn(params, "ref");
  const what = ref === undefined ? kind : `${kind} of e${refNumber(ref)}`;
  const repeatable = REPEATABLE.has(kind);
  const timeout = boundedMs(numberIn(params, "timeoutMs"), kind === "wait" ? NAVIGATE_MS : 8000);
  return withWords(what, timeout, () =>
    place.session.use(tab, { name: what, repeatable, signal: caller.signal }, async () => {
      const since = refusedSoFar(place);
      tab.dialogsInRow = 0;
      const result = await act(kind, tab, params, { clock: browser.clock, evaluateEnabled: browser.settings().evaluateEnabled });
      return changes(place, since, kind === "evaluate" ? (result ?? null) : undefined);
    }),
  );
}

/** Puts files into a field, or into the chooser that the next click opens. */
export async function upload(work: Work): Promise<PageAnswer> {
  const { browser, caller, params } = work;
  const place = await placeOf(work);
  const { tab } = place;
  const files = await filesToUpload(textsIn(params, "paths"), browser.files(caller.profile));
  const [inputRef, selector, ref] = [textIn(params, "inputRef"), textIn(params, "element"), textIn(params, "ref")];
  const timeout = boundedMs(numberIn(params, "timeoutMs"), NAVIGATE_MS);
  return withWords("upload", timeout, () =>
    place.session.use(tab, { name: "upload", repeatable: false, signal: caller.signal }, async () => {
      const since = refusedSoFar(place);
      if (inputRef !== undefined) await (await elementOf(tab, inputRef, browser.clock)).setInputFiles(files, { timeout });
      else if (selector !== undefined) await tab.page.locator(selector).first().setInputFiles(files, { timeout });
      else if (ref === undefined) {
        tab.page.once("filechooser", (chooser) => void chooser.setFiles(files).catch(() => undefined));
        return { ok: true, targetId: tab.id, url: tab.page.url(), shows: "none", text: "", truncated: false, events: ["the next file chooser gets the files"] };
      } else {
        const handle = await elementOf(tab, ref, browser.clock);
        const [chooser] = await Promise.all([tab.page.waitForEvent("filechooser", { timeout }), handle.click({ timeout })]);
        await chooser.setFiles(files);
      }
      return changes(place, since);
    }),
  );
}

/** What the next dialog of the tab is answered with. */
export async function armDialog(work: Work): Promise<{ readonly ok: true; readonly targetId: string }> {
  const { tab } = await placeOf(work);
  const accept = flagIn(work.params, "accept");
  if (accept === undefined) throw new AppError("INVALID_INPUT", "accept required: true or false");
  const promptText = rawIn(work.params, "promptText");
  tab.dialog = { accept, ...(promptText === undefined ? {} : { promptText }) };
  return { ok: true, targetId: tab.id };
}

const LEVELS: Readonly<Record<string, readonly string[]>> = { error: ["error"], warning: ["error", "warning"], info: ["error", "warning", "info", "log"] };

export async function consoleOf(work: Work): Promise<{ readonly ok: true; readonly targetId: string; readonly messages: readonly ConsoleEntry[] }> {
  const { tab } = await placeOf(work);
  const level = textIn(work.params, "level");
  const shown = level === undefined ? undefined : LEVELS[level === "warn" ? "warning" : level];
  if (level !== undefined && shown === undefined) throw new AppError("INVALID_INPUT", `level must be error, warning or info, not "${level.slice(0, 40)}"`);
  return { ok: true, targetId: tab.id, messages: tab.console.filter((entry) => shown === undefined || shown.includes(entry.level)).slice(-50) };
}

export async function tabRows({ browser, caller }: Work): Promise<readonly TabRow[]> {
  const session = browser.session(caller.profile);
  const current = session.tabs().length === 0 ? undefined : await browser.tabFor(caller);
  return Promise.all(
    session.tabs().map(async (tab) => ({
      targetId: tab.id,
      title: session.running() && !tab.page.isClosed() ? await within(browser.clock, TITLE_MS, tab.page.title(), "busy").catch(() => "") : "",
      url: tab.url,
      type: "page" as const,
      ...(tab === current ? { current: true } : {}),
    })),
  );
}

export async function focus(work: Work): Promise<{ readonly ok: true; readonly targetId: string }> {
  required(work.params, "targetId");
  const { tab, session, caller } = await placeOf(work);
  await session.use(tab, { name: "focus", repeatable: true, signal: caller.signal }, () => tab.page.bringToFront());
  return { ok: true, targetId: tab.id };
}

export async function closeTab(work: Work): Promise<{ readonly ok: true; readonly targetId: string }> {
  const { tab, session } = await placeOf(work);
  await session.close(tab);
  return { ok: true, targetId: tab.id };
}
