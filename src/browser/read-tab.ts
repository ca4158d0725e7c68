import type { ElementHandle, Frame } from "playwright-core";
import { AppError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import { installReader } from "./page/install.ts";
import type { Walked } from "./page/walk.ts";
import { parseLines, type OutlineLine } from "./snapshot/outline.ts";
import type { Tab } from "./tab.ts";

const MAX_NODES = 200_000;
const MAX_WALK_MS = 2000;
const MAX_FRAMES = 10;
/** A page whose scripts never pause answers nothing. */
const ANSWER_MS = 10_000;
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
}

/** Gives up on work that a page holds up. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  using _timer = clock.after(ms, () => late.reject(new AppError("TIMEOUT", what)));
  work.catch(() => undefined);
  return Promise.race([work, late.promise]);
}

const BUSY = "the page does not answer: its scripts are busy. Navigate elsewhere or close the tab";

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
  const handle = await tab.page.$(selector);
  const frame = await handle?.contentFrame();
  if (!frame) throw new AppError("NOT_FOUND", `no frame matches ${selector}`);
  return frame;
}

async function readFrames(tab: Tab, options: { readonly selector?: string | undefined; readonly frame?: string | undefined }): Promise<Outline> {
  const main = options.frame === undefined ? tab.page.mainFrame() : await frameNamed(tab, options.frame);
  const walked = await walkFrame(tab, main, options.selector);
  if (!walked.found && options.selector !== undefined) throw new AppError("NOT_FOUND", `nothing matches the selector ${options.selector}`);
  tab.nextRef = walked.nextRef;
  const lines = [...parseLines(walked.lines)];
  const others = options.selector === undefined && options.frame === undefined ? tab.page.frames().filter((frame) => frame !== main) : [];
  for (const frame of others.slice(0, MAX_FRAMES)) {
    // A frame that cannot be read now, such as one that is just being removed, is left out.
    const inner = await walkOnce(tab, frame, undefined).catch(() => undefined);
    if (!inner || inner.lines === "") continue;
    tab.nextRef = Math.max(tab.nextRef, inner.nextRef);
    lines.push({ depth: 0, text: `frame ${JSON.stringify(frame.url().slice(0, 100))}` });
    lines.push(...parseLines(inner.lines).map((line) => ({ ...line, depth: line.depth + 1 })));
  }
  for (const frame of tab.readers.keys()) if (frame.isDetached()) tab.readers.delete(frame);
  const isNew = options.frame === undefined && tab.outlined !== tab.readers.get(main);
  if (isNew) tab.outlined = tab.readers.get(main);
  return { lines, title: walked.title, isNew, isCut: walked.isCut };
}

/** The outline of a tab as it is now. Elements keep their numbers while they stay on the page. */
export async function readTab(
  tab: Tab,
  clock: Clock,
  options: { readonly selector?: string | undefined; readonly frame?: string | undefined } = {},
): Promise<Outline> {
  return within(clock, ANSWER_MS, readFrames(tab, options), BUSY);
}

/** `e12`, `12` and `@e12` mean the same. */
export function refNumber(ref: string): number {
  const [, digits] = /^(?:@|ref=)?e?(\d{1,9})$/i.exec(ref.trim()) ?? [];
  if (digits === undefined) throw new AppError("INVALID_INPUT", `"${ref.slice(0, 60)}" is no ref: take one such as e12 from a snapshot`);
  return Number(digits);
}

/** The element of a ref. */
export async function elementOf(tab: Tab, ref: string, clock: Clock): Promise<ElementHandle> {
  const number = refNumber(ref);
  for (const reader of tab.readers.values()) {
    const found = reader.evaluateHandle((made, asked) => made.find(asked), number).catch(() => undefined);
    const element = (await within(clock, ANSWER_MS, found, BUSY))?.asElement();
    if (element) return element;
  }
  throw new AppError("NOT_FOUND", `e${number} is not on the page of tab ${tab.id} any more: take a snapshot and use its refs`);
}

/** Until nothing is loading that the page waits for, at most `ms`. */
async function quiet(tab: Tab, clock: Clock, ms: number): Promise<void> {
  if (tab.pending.size === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = (): void => {
    if (tab.pending.size === 0 || tab.page.isClosed()) resolve();
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
async function drawn(tab: Tab, clock: Clock): Promise<boolean> {
  try {
    const frame = tab.page.mainFrame();
    const reader = tab.readers.get(frame) ?? (await within(clock, ANSWER_MS, installReader(frame), BUSY));
    tab.readers.set(frame, reader);
    await within(
      clock,
      ANSWER_MS,
      reader.evaluate((made) => made.drawn()),
      BUSY,
    );
    return true;
  } catch (error) {
    if (error instanceof AppError) throw error;
    tab.readers.delete(tab.page.mainFrame());
    return false;
  }
}

/** Waits until what an action began has arrived and is drawn. Bounded: a page that never stops loading is read as it is. */
export async function settle(tab: Tab, clock: Clock, ms = SETTLE_MS): Promise<void> {
  const end = clock.monotonic() + ms;
  for (let round = 0; round < SETTLE_ROUNDS && !tab.page.isClosed(); round += 1) {
    const left = Math.max(1, end - clock.monotonic());
    await quiet(tab, clock, left);
    const isDrawn = await drawn(tab, clock);
    if (isDrawn && tab.pending.size === 0) return;
    if (!isDrawn) await tab.page.waitForLoadState("domcontentloaded", { timeout: left }).catch(() => undefined);
    if (clock.monotonic() >= end) return;
  }
}
