import type { ElementHandle, Frame, Page } from "playwright-core";
import { AppError, messageOf } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import { installReader } from "./page/install.ts";
import type { Walked } from "./page/walk.ts";
import { parseLines, type OutlineLine } from "./snapshot/outline.ts";
import type { Tab } from "./tab.ts";

const MAX_NODES = 200_000;
const MAX_WALK_MS = 2000;
const MAX_FRAMES = 10;
/** A page whose scripts never pause answers nothing. */
export const ANSWER_MS = 10_000;
const ATTEMPTS = 3;
/** How long the requests of a page are waited for after an action. */
const SETTLE_MS = 3000;
const SETTLE_ROUNDS = 5;

export interface Outline {
  readonly lines: readonly OutlineLine[];
  readonly title: string;
  /** The document is another one than that of the last outline. */
  readonly isNew: boolean;
  /** The page is too large to be read as a whole. */
  readonly isCut: boolean;
  /** Frames that were not read because there are too many. */
  readonly framesLeft: number;
}

/** Gives up on work that a page holds up. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  using _timer = clock.after(ms, () => late.reject(new AppError("TIMEOUT", what)));
  work.catch(() => undefined);
  // Without the await the timer would end with the return.
  return await Promise.race([work, late.promise]);
}

const BUSY = "the page does not respond: its scripts are busy. Navigate elsewhere or close the tab";
const PROBE_MS = 5000;
/** For a page that did not answer the last time. */
const BUSY_PROBE_MS = 1000;

/** Work inside of the page, or a failure that says that the page does not answer. */
export async function inPage<T>(tab: Tab, clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  try {
    const done = await within(clock, ms, work, BUSY);
    tab.isBusy = false;
    return done;
  } catch (error) {
    if (isBusyError(error)) tab.isBusy = true;
    throw error;
  }
}

export const isBusyError = (error: unknown): boolean => error instanceof AppError && error.message === BUSY;

/** Whether the page's scripts leave time for anything else. */
export async function answers(tab: Tab, clock: Clock): Promise<boolean> {
  if (tab.page.url() === "about:blank") return true;
  try {
    await inPage(tab, clock, tab.isBusy ? BUSY_PROBE_MS : PROBE_MS, tab.page.evaluate("1"));
    return true;
  } catch (error) {
    return !isBusyError(error);
  }
}

async function walkOnce(tab: Tab, frame: Frame, selector: string | undefined): Promise<Walked> {
  const options = { nextRef: tab.nextRef, selector, maxNodes: MAX_NODES, maxMs: MAX_WALK_MS };
  const known = tab.readers.get(frame);
  if (known) {
    try {
      return await known.evaluate((reader, asked) => reader.walk(asked), options);
    } catch {
      // Its document is gone.
      tab.readers.delete(frame);
    }
  }
  const reader = await installReader(frame);
  tab.readers.set(frame, reader);
  return reader.evaluate((made, asked) => made.walk(asked), options);
}

/** A page may go to another document while it is read. */
async function walkFrame(tab: Tab, frame: Frame, selector: string | undefined): Promise<Walked> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await walkOnce(tab, frame, selector);
    } catch (error) {
      if (attempt >= ATTEMPTS || tab.page.isClosed() || frame.isDetached()) throw error;
      await tab.page.waitForLoadState("domcontentloaded", { timeout: ANSWER_MS }).catch(() => undefined);
    }
  }
}

async function frameNamed(tab: Tab, selector: string): Promise<Frame> {
  const handle = await tab.page.$(selector).catch((error: unknown) => {
    if (/selector|SyntaxError/i.test(messageOf(error))) throw new AppError("INVALID_INPUT", `${JSON.stringify(selector)} is not a CSS selector`);
    throw error;
  });
  const frame = await handle?.contentFrame();
  if (!frame) throw new AppError("NOT_FOUND", `no frame matches ${selector}`);
  return frame;
}

export interface ReadOptions {
  readonly selector?: string | undefined;
  readonly frame?: string | undefined;
  /** The page that is meant. */
  readonly page?: Page | undefined;
  /** How long the page may take to answer. */
  readonly answerMs?: number | undefined;
}

/** How long the frames of a page may take together: one that never answers does not keep the page from being read. */
const FRAMES_MS = 3000;
const SILENT = "the frame does not respond";

/** Work that began in a page that is gone must not read the one that took its place: nobody gets its answer. */
export function checkPage(tab: Tab, page: Page): void {
  if (tab.page !== page) throw new AppError("UNAVAILABLE", "the page crashed and was reloaded: take a snapshot");
}

async function readFrames(tab: Tab, clock: Clock, options: ReadOptions): Promise<Outline> {
  const page = options.page ?? tab.page;
  checkPage(tab, page);
  const main = options.frame === undefined ? tab.page.mainFrame() : await frameNamed(tab, options.frame);
  const walked = await walkFrame(tab, main, options.selector);
  checkPage(tab, page);
  if (walked.isBadSelector) throw new AppError("INVALID_INPUT", `${JSON.stringify(options.selector)} is not a CSS selector`);
  if (!walked.found && options.selector !== undefined) throw new AppError("NOT_FOUND", `nothing matches the selector ${options.selector}`);
  tab.nextRef = walked.nextRef;
  const lines = [...parseLines(walked.lines)];
  const others = options.selector === undefined && options.frame === undefined ? tab.page.frames().filter((frame) => frame !== main) : [];
  const end = clock.monotonic() + FRAMES_MS;
  for (const frame of others.slice(0, MAX_FRAMES)) {
    // A frame that cannot be read now, such as one that is just being removed, is left out.
    const walk = walkOnce(tab, frame, undefined).catch(() => undefined);
    const inner = await within(clock, Math.max(50, end - clock.monotonic()), walk, SILENT).catch(() => SILENT);
    if (inner === SILENT) lines.push({ depth: 0, text: `frame ${JSON.stringify(frame.url().slice(0, 100))} does not answer` });
    if (inner === undefined || typeof inner === "string" || inner.lines === "") continue;
    tab.nextRef = Math.max(tab.nextRef, inner.nextRef);
    lines.push({ depth: 0, text: `frame ${JSON.stringify(frame.url().slice(0, 100))}` });
    lines.push(...parseLines(inner.lines).map((line) => ({ ...line, depth: line.depth + 1 })));
  }
  checkPage(tab, page);
  for (const frame of tab.readers.keys()) if (frame.isDetached()) tab.readers.delete(frame);
  const isNew = options.frame === undefined && tab.outlined !== tab.readers.get(main);
  if (isNew) tab.outlined = tab.readers.get(main);
  return { lines, title: walked.title, isNew, isCut: walked.isCut, framesLeft: Math.max(0, others.length - MAX_FRAMES) };
}

/** The outline of a tab as it is now. Elements keep their numbers while they stay on the page. */
export async function readTab(tab: Tab, clock: Clock, options: ReadOptions = {}): Promise<Outline> {
  try {
    return await inPage(tab, clock, options.answerMs ?? ANSWER_MS, readFrames(tab, clock, options));
  } catch (error) {
    if (error instanceof AppError || !GONE.test(messageOf(error))) throw error;
    throw new AppError("UNAVAILABLE", "the page keeps redirecting and cannot be read: navigate elsewhere or close the tab", { cause: error });
  }
}

/** What the driver says about a document that went away while it was used. */
const GONE = /context was destroyed|because of a navigation|garbage collected|Cannot find context|frame (?:was|got) detached/i;

/** `e12`, `12` and `@e12` mean the same. */
export function refNumber(ref: string): number {
  const [, digits] = /^(?:@|ref=)?e?(\d{1,9})$/i.exec(ref.trim()) ?? [];
  if (digits === undefined) throw new AppError("INVALID_INPUT", `"${ref.slice(0, 60)}" is not a ref: use one such as e12 from a snapshot`);
  return Number(digits);
}

/** The element of a ref. */
export async function elementOf(tab: Tab, ref: string, clock: Clock): Promise<ElementHandle> {
  const number = refNumber(ref);
  for (const reader of tab.readers.values()) {
    const found = reader.evaluateHandle((made, asked) => made.find(asked), number).catch(() => undefined);
    const element = (await inPage(tab, clock, ANSWER_MS, found))?.asElement();
    if (element) return element;
  }
  const why = tab.reloaded === undefined ? "" : `${tab.reloaded}. `;
  throw new AppError("NOT_FOUND", `${why}e${number} is no longer on the page of tab ${tab.id}: take a snapshot and use its refs`);
}

/** Until nothing is loading that the page waits for, at most `ms`. */
const quiet = (tab: Tab, clock: Clock, ms: number): Promise<void> => until(tab, clock, ms, () => tab.pending.size === 0);

/** Until something holds on the tab, at most `ms`. */
export async function until(tab: Tab, clock: Clock, ms: number, holds: () => boolean): Promise<void> {
  if (holds()) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = (): void => {
    if (holds() || tab.page.isClosed()) resolve();
  };
  using _timer = clock.after(ms, resolve);
  tab.listeners.add(check);
  try {
    await promise;
  } finally {
    tab.listeners.delete(check);
  }
}

/** False: the document went away meanwhile. */
async function drawn(tab: Tab, clock: Clock, ms: number): Promise<boolean> {
  try {
    const frame = tab.page.mainFrame();
    const reader = tab.readers.get(frame) ?? (await inPage(tab, clock, ms, installReader(frame)));
    tab.readers.set(frame, reader);
    await inPage(
      tab,
      clock,
      ms,
      reader.evaluate((made) => made.drawn()),
    );
    return true;
  } catch (error) {
    if (error instanceof AppError) throw error;
    tab.readers.delete(tab.page.mainFrame());
    return false;
  }
}

export interface SettleOptions {
  readonly ms?: number | undefined;
  /** How long the page may take to answer. */
  readonly answerMs?: number | undefined;
}

/** Waits until what an action began has arrived and is drawn. Bounded: a page that never stops loading is read as it is. */
export async function settle(tab: Tab, clock: Clock, { ms = SETTLE_MS, answerMs = ANSWER_MS }: SettleOptions = {}): Promise<void> {
  const end = clock.monotonic() + ms;
  for (let round = 0; round < SETTLE_ROUNDS && !tab.page.isClosed(); round += 1) {
    const left = Math.max(1, end - clock.monotonic());
    await quiet(tab, clock, left);
    const isDrawn = await drawn(tab, clock, answerMs);
    if (isDrawn && tab.pending.size === 0) return;
    if (!isDrawn) await tab.page.waitForLoadState("domcontentloaded", { timeout: left }).catch(() => undefined);
    if (clock.monotonic() >= end) return;
  }
}
