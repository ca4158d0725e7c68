/** What can be asked of a browser, for the tool and for the gateway's method alike. */
import { AppError, messageOf } from "../base/errors.ts";
import { act, actionError, boundedMs, kindOf, REPEATABLE } from "./actions.ts";
import { changes, newsOf, tabWork, refusedSoFar, snapshotFields, type PageAnswer, type TabWork, type Work } from "./answers.ts";
import { filesToUpload, savePdf, takePicture, type Picture } from "./files.ts";
import { allowedUrl, goTo, NAVIGATE_MS } from "./navigation.ts";
import { flagIn, numberIn, rawIn, required, textIn, textsIn, type Params } from "./params.ts";
import { ANSWER_MS, elementOf, isBusyError, readTab, refNumber, settle, within } from "./read-tab.ts";
import { MOST_CHARS, showOutline } from "./snapshot/outline.ts";
import type { ConsoleEntry } from "./tab.ts";

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
const EFFICIENT_DEPTH = 6;
const TITLE_MS = 2000;

/** Opens an address in a new tab, which becomes the caller's. */
export async function open(work: Work): Promise<PageAnswer> {
  const { browser, caller, params } = work;
  const session = browser.session(caller.profile);
  const url = await allowedUrl(work, addressIn(params));
  const tab = await session.open();
  const inTab: TabWork = { ...work, session, tab };
  try {
    const answer = await session.use(tab, { name: "opening of the page", repeatable: true, signal: caller.signal }, () => goTo(inTab, url));
    browser.choose(caller, tab);
    return answer;
  } catch (error) {
    await session.close(tab).catch(() => undefined);
    throw error;
  }
}

const addressIn = (params: Params): string => textIn(params, "targetUrl") ?? textIn(params, "url") ?? required(params, "targetUrl");

export async function navigate(work: Work): Promise<PageAnswer> {
  const { browser, caller, params } = work;
  const url = await allowedUrl(work, addressIn(params));
  if ((await browser.tabsOf(caller)).length === 0) return open({ ...work, params: { ...params, targetUrl: url } });
  const inTab = await tabWork(work);
  return inTab.session.use(inTab.tab, { name: "navigation", repeatable: true, leavesPage: true, signal: caller.signal }, () => goTo(inTab, url));
}

/** The page as an outline with refs. */
export async function snapshot(work: Work): Promise<PageAnswer & { readonly picture?: Picture | undefined; readonly nodes?: readonly object[] | undefined }> {
  const { browser, caller, params } = work;
  const inTab = await tabWork(work);
  const { tab } = inTab;
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
  return inTab.session.use(tab, { name: "snapshot", repeatable: true, signal: caller.signal }, async () => {
    const since = refusedSoFar(inTab);
    const { page } = tab;
    const answerMs = Math.min(boundedMs(numberIn(params, "timeoutMs"), ANSWER_MS), ANSWER_MS);
    await settle(tab, browser.clock, { answerMs });
    const { lines, title, isCut, framesLeft } = await readTab(tab, browser.clock, { page, selector, frame, answerMs });
    if (selector === undefined && frame === undefined) [tab.lines, tab.isCut] = [lines, isCut];
    const shown = snapshotFields(showOutline(lines, { ...options, isCut, framesLeft }));
    const refs = lines.flatMap(({ ref }) => ref ?? []);
    const picture = flagIn(params, "labels") === true ? await labelled(inTab, refs) : undefined;
    const isAria = (textIn(params, "snapshotFormat") ?? textIn(params, "format")) === "aria";
    const nodes = isAria
      ? lines.slice(0, options.limit ?? 500).map(({ depth, ref, text }) => ({ ...(ref === undefined ? {} : { ref: `e${ref}` }), depth, text }))
      : undefined;
    return {
      ok: true as const,
      targetId: tab.id,
      url: tab.page.url(),
      title,
      ...newsOf(inTab, since),
      ...shown,
      ...(picture ? { picture } : {}),
      ...(nodes ? { nodes } : {}),
    };
  });
}

/** A picture with the refs beside what they stand for. */
async function labelled({ tab, browser, caller }: TabWork, refs: readonly number[]): Promise<Picture> {
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
  const inTab = await tabWork(work);
  const { tab } = inTab;
  const [ref, selector, fullPage] = [textIn(params, "ref"), textIn(params, "element"), flagIn(params, "fullPage") === true];
  if (fullPage && (ref !== undefined || selector !== undefined)) throw new AppError("INVALID_INPUT", "fullPage cannot be combined with ref or element");
  const type = textIn(params, "type") === "jpeg" ? "jpeg" : "png";
  const timeout = boundedMs(numberIn(params, "timeoutMs"), NAVIGATE_MS);
  return withWords("screenshot", timeout, () =>
    inTab.session.use(tab, { name: "screenshot", repeatable: true, signal: caller.signal }, async () => {
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
  const inTab = await tabWork(work);
  const { tab } = inTab;
  return withWords("pdf", NAVIGATE_MS, () =>
    inTab.session.use(tab, { name: "pdf", repeatable: true, signal: caller.signal }, async () => {
      const saved = within(browser.clock, 2 * NAVIGATE_MS, savePdf(tab, browser.files(caller.profile)), "the page could not be printed in time");
      return { path: (await saved).path, targetId: tab.id, url: tab.page.url() };
    }),
  );
}

/** Characters that a script in a page may give back. */
const MOST_RESULT = 1_000_000;

function checkedResult(result: unknown): unknown {
  const chars = typeof result === "string" ? result.length : (JSON.stringify(result) ?? "").length;
  if (chars <= MOST_RESULT) return result;
  throw new AppError("INVALID_INPUT", `the script returned ${chars} characters; the limit is ${MOST_RESULT}: make it return less`);
}

/** Does something on the page; the answer is what changed. */
export async function perform(work: Work): Promise<PageAnswer> {
  const { browser, caller, params } = work;
  const kind = kindOf(params);
  const inTab = await tabWork(work);
  const { tab } = inTab;
  if (kind === "close") {
    await inTab.session.close(tab);
    return { ok: true, targetId: tab.id, url: "", shows: "none", text: "", truncated: false, events: [] };
  }
  const ref = textIn(params, "ref");
  const what = ref === undefined ? kind : `${kind} of e${refNumber(ref)}`;
  const repeatable = REPEATABLE.has(kind);
  const timeout = boundedMs(numberIn(params, "timeoutMs"), kind === "wait" ? NAVIGATE_MS : 8000);
  return withWords(what, timeout, () =>
    inTab.session.use(tab, { name: what, repeatable, signal: caller.signal }, async () => {
      const since = refusedSoFar(inTab);
      const { page } = tab;
      tab.dialogsInRow = 0;
      const result = checkedResult(await act(kind, tab, params, { clock: browser.clock, evaluateRefusal: browser.evaluateRefusal(caller) }));
      return changes(inTab, since, { page, ...(kind === "evaluate" ? { result: result ?? null } : {}) }).catch((error: unknown) => {
        if (!isBusyError(error)) throw error;
        throw new AppError("TIMEOUT", `the ${what} was done; then ${messageOf(error)}`, { cause: error, details: { done: true } });
      });
    }),
  );
}

/** Puts files into a field, or into the chooser that the next click opens. */
export async function upload(work: Work): Promise<PageAnswer> {
  const { browser, caller, params } = work;
  const inTab = await tabWork(work);
  const { tab } = inTab;
  const files = await filesToUpload(textsIn(params, "paths"), browser.files(caller.profile));
  const [inputRef, selector, ref] = [textIn(params, "inputRef"), textIn(params, "element"), textIn(params, "ref")];
  const timeout = boundedMs(numberIn(params, "timeoutMs"), NAVIGATE_MS);
  return withWords("upload", timeout, () =>
    inTab.session.use(tab, { name: "upload", repeatable: false, signal: caller.signal }, async () => {
      const since = refusedSoFar(inTab);
      const { page } = tab;
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
      return changes(inTab, since, { page });
    }),
  );
}

/** What the next dialog of the tab is answered with. */
export async function armDialog(work: Work): Promise<{ readonly ok: true; readonly targetId: string }> {
  const { tab } = await tabWork(work);
  const accept = flagIn(work.params, "accept");
  if (accept === undefined) throw new AppError("INVALID_INPUT", "accept required: true or false");
  const promptText = rawIn(work.params, "promptText");
  tab.dialog = { accept, ...(promptText === undefined ? {} : { promptText }) };
  return { ok: true, targetId: tab.id };
}

const LEVELS: Readonly<Record<string, readonly string[]>> = { error: ["error"], warning: ["error", "warning"], info: ["error", "warning", "info", "log"] };

export async function consoleOf(work: Work): Promise<{ readonly ok: true; readonly targetId: string; readonly messages: readonly ConsoleEntry[] }> {
  const { tab } = await tabWork(work);
  const level = textIn(work.params, "level");
  const shown = level === undefined ? undefined : LEVELS[level === "warn" ? "warning" : level];
  if (level !== undefined && shown === undefined) throw new AppError("INVALID_INPUT", `level must be error, warning or info, not "${level.slice(0, 40)}"`);
  return { ok: true, targetId: tab.id, messages: tab.console.filter((entry) => shown === undefined || shown.includes(entry.level)).slice(-50) };
}

export async function tabRows({ browser, caller }: Work): Promise<readonly TabRow[]> {
  const session = browser.session(caller.profile);
  const tabs = await browser.tabsOf(caller);
  const current = tabs.length === 0 ? undefined : await browser.tabFor(caller);
  return Promise.all(
    tabs.map(async (tab) => ({
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
  const { tab, session, caller } = await tabWork(work);
  await session.use(tab, { name: "focus", repeatable: true, signal: caller.signal }, () => tab.page.bringToFront());
  return { ok: true, targetId: tab.id };
}

export async function closeTab(work: Work): Promise<{ readonly ok: true; readonly targetId: string }> {
  const { tab, session } = await tabWork(work);
  await session.close(tab);
  return { ok: true, targetId: tab.id };
}
