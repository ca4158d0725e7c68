import type { ElementHandle } from "playwright-core";
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { flagIn, numberIn, rawIn, recordsIn, required, textIn, textsIn, type Params } from "./params.ts";
import { elementOf, within } from "./read-tab.ts";
import type { Tab } from "./tab.ts";

export const ACT_KINDS = ["click", "type", "press", "hover", "drag", "select", "fill", "resize", "wait", "evaluate", "scrollIntoView", "close"] as const;
export type ActKind = (typeof ACT_KINDS)[number];

/** What may be done twice without a difference. */
export const REPEATABLE: ReadonlySet<string> = new Set<ActKind>(["hover", "resize", "wait", "scrollIntoView", "fill", "select"]);

const DEFAULT_MS = 8000;
const WAIT_MS = 20_000;
const MOST_MS = 120_000;
const BUTTONS = ["left", "right", "middle"] as const;
const MODIFIERS = ["Alt", "Control", "ControlOrMeta", "Meta", "Shift"] as const;
const LOAD_STATES = ["load", "domcontentloaded", "networkidle"] as const;

export interface ActDeps {
  readonly clock: Clock;
  readonly evaluateEnabled: boolean;
}

interface Act extends ActDeps {
  readonly tab: Tab;
  readonly params: Params;
  readonly timeout: number;
}

export const boundedMs = (asked: number | undefined, usual: number): number => Math.min(Math.max(Math.floor(asked ?? usual), 1), MOST_MS);

function oneOf<T extends string>(params: Params, name: string, allowed: readonly T[]): T | undefined {
  const value = textIn(params, name);
  if (value === undefined) return undefined;
  const found = allowed.find((one) => one.toLowerCase() === value.toLowerCase());
  if (found === undefined) throw new AppError("INVALID_INPUT", `${name} must be one of ${allowed.join(", ")}, not "${value.slice(0, 40)}"`);
  return found;
}

const element = ({ tab, params, clock }: Act, name = "ref"): Promise<ElementHandle> => elementOf(tab, required(params, name), clock);

async function click(act: Act): Promise<void> {
  const { params, timeout } = act;
  const modifiers = textsIn(params, "modifiers").map((modifier) => oneOf({ modifier }, "modifier", MODIFIERS)!);
  const handle = await element(act);
  const button = oneOf(params, "button", BUTTONS) ?? "left";
  await handle.click({ timeout, noWaitAfter: true, button, modifiers, clickCount: flagIn(params, "doubleClick") === true ? 2 : 1 });
}

async function type(act: Act): Promise<void> {
  const { params, timeout } = act;
  const text = rawIn(params, "text");
  if (text === undefined) throw new AppError("INVALID_INPUT", "text required");
  const handle = await element(act);
  if (flagIn(params, "slowly") === true) {
    await handle.click({ timeout });
    await handle.type(text, { timeout: MOST_MS });
  } else await handle.fill(text, { timeout });
  if (flagIn(params, "submit") === true) await handle.press("Enter", { timeout, noWaitAfter: true });
}

async function fillField(act: Act, field: Params): Promise<void> {
  const handle = await element({ ...act, params: field });
  const value = rawIn(field, "value") ?? "";
  const { timeout } = act;
  const kind = textIn(field, "type") ?? "text";
  if (kind === "checkbox" || kind === "radio") await handle.setChecked(!["", "false", "0", "off", "no"].includes(value.toLowerCase()), { timeout });
  else if (kind === "select" || kind === "combobox") await handle.selectOption(value, { timeout, noWaitAfter: true });
  else await handle.fill(value, { timeout });
}

async function fill(act: Act): Promise<void> {
  const fields = recordsIn(act.params, "fields");
  if (fields.length === 0) throw new AppError("INVALID_INPUT", "fields required: [{ref, value, type?}]");
  for (const field of fields) await fillField(act, field);
}

async function drag(act: Act): Promise<void> {
  const [from, to] = [await element(act, "startRef"), await element(act, "endRef")];
  const { mouse } = act.tab.page;
  const middle = async (handle: ElementHandle): Promise<{ readonly x: number; readonly y: number }> => {
    await handle.scrollIntoViewIfNeeded({ timeout: act.timeout });
    const box = await handle.boundingBox();
    if (!box) throw new AppError("INVALID_INPUT", "the element to drag is not shown on the page");
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const start = await middle(from);
  await mouse.move(start.x, start.y);
  await mouse.down();
  const end = await middle(to);
  await mouse.move(end.x, end.y, { steps: 5 });
  await mouse.up();
}

/** Each of the conditions that is named, one after the other. */
async function wait(act: Act): Promise<void> {
  const { tab, params, clock } = act;
  const { page } = tab;
  const timeout = boundedMs(numberIn(params, "timeoutMs"), WAIT_MS);
  const [text, gone, selector, url, fn] = ["text", "textGone", "selector", "url", "fn"].map((name) => textIn(params, name));
  const state = oneOf(params, "loadState", LOAD_STATES);
  const ms = numberIn(params, "timeMs");
  if (ms === undefined && state === undefined && (text ?? gone ?? selector ?? url ?? fn) === undefined)
    throw new AppError("INVALID_INPUT", "wait needs text, textGone, selector, url, loadState, fn or timeMs");
  if (fn !== undefined && !act.evaluateEnabled) throw evaluateIsOff();
  if (ms !== undefined) {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = clock.after(boundedMs(ms, 0), resolve);
    await promise;
  }
  if (text !== undefined) await page.getByText(text).first().waitFor({ state: "visible", timeout });
  if (gone !== undefined) await page.getByText(gone).first().waitFor({ state: "hidden", timeout });
  if (selector !== undefined) await page.locator(selector).first().waitFor({ state: "visible", timeout });
  if (url !== undefined) await page.waitForURL(url, { timeout, waitUntil: "commit" });
  if (state !== undefined) await page.waitForLoadState(state, { timeout });
  if (fn !== undefined) await page.waitForFunction(calledIn(fn), undefined, { timeout });
}

const evaluateIsOff = (): AppError =>
  new AppError("PERMISSION_DENIED", "running scripts in pages is turned off by browser.evaluateEnabled; use click, type and snapshot instead");

/** A script may be a function or an expression. */
const calledIn = (fn: string): string => `(() => { const script = (${fn}); return typeof script === "function" ? script() : script; })()`;

/** Calls a function of the caller's in the frame of its element. */
async function evaluateOn(target: ElementHandle, fn: string): Promise<unknown> {
  const frame = await target.ownerFrame();
  if (!frame) throw new AppError("NOT_FOUND", "the element's frame is gone: take a snapshot");
  const script = await frame.evaluateHandle(`(${fn})`);
  return script.evaluate((made, node) => (typeof made === "function" ? (made as (node: unknown) => unknown)(node) : made), target);
}

async function evaluate(act: Act): Promise<unknown> {
  if (!act.evaluateEnabled) throw evaluateIsOff();
  const { tab, params, clock, timeout } = act;
  const fn = required(params, "fn");
  const work: Promise<unknown> = textIn(params, "ref") === undefined ? tab.page.evaluate(calledIn(fn)) : evaluateOn(await element(act), fn);
  return within(clock, timeout, work, `the script did not end within ${timeout} ms`);
}

const KINDS: Readonly<Record<Exclude<ActKind, "close">, (act: Act) => Promise<unknown>>> = {
  click,
  type,
  press: ({ tab, params }) => tab.page.keyboard.press(required(params, "key")),
  hover: async (act) => (await element(act)).hover({ timeout: act.timeout }),
  drag,
  async select(act) {
    const values = textsIn(act.params, "values");
    if (values.length === 0) throw new AppError("INVALID_INPUT", "values required");
    await (await element(act)).selectOption([...values], { timeout: act.timeout, noWaitAfter: true });
  },
  fill,
  async resize({ tab, params }) {
    const [width, height] = [numberIn(params, "width"), numberIn(params, "height")];
    if (!width || !height || width < 1 || height < 1 || width > 4000 || height > 4000)
      throw new AppError("INVALID_INPUT", "width and height required, from 1 to 4000");
    await tab.page.setViewportSize({ width: Math.floor(width), height: Math.floor(height) });
  },
  wait,
  evaluate,
  scrollIntoView: async (act) => (await element(act)).scrollIntoViewIfNeeded({ timeout: act.timeout }),
};

/** The lines of a driver's report that say what stood in the way. */
function reasonOf(error: unknown): string {
  const lines = messageOf(error)
    // eslint-disable-next-line no-control-regex
    .replaceAll(/\u001B\[[0-9;]*m/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*-\s*/, "").trim());
  const telling = lines.filter((line) =>
    /intercepts pointer|not visible|not enabled|not editable|not stable|outside of the viewport|not a valid|Unknown key|did not find|not an? <|Malformed|SyntaxError/i.test(
      line,
    ),
  );
  const [first = ""] = lines.filter((line) => line !== "" && !/^Call log/i.test(line));
  return [...new Set([first.replace(/^\w+\.\w+: /, ""), ...telling.slice(-2)])].join("; ").slice(0, 400);
}

/** A failure of the driver in words that a model can act on. What is typed already, and the browser's end, pass through. */
export function actionError(error: unknown, what: string, timeout: number): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const isLate = error.name === "TimeoutError" || /Timeout \d+ms exceeded/.test(error.message);
  const reason = reasonOf(error);
  return isLate
    ? new AppError(
        "TIMEOUT",
        `${what} was not possible within ${timeout} ms: ${reason.replace(/Timeout \d+ms exceeded\.?(?:; )?/, "") || "the page did not get there"}`,
        { cause: error },
      )
    : new AppError("UNAVAILABLE", `${what} failed: ${reason}`, { cause: error });
}

export function kindOf(params: Params): ActKind {
  const kind = textIn(params, "kind");
  const found = ACT_KINDS.find((known) => known.toLowerCase() === kind?.toLowerCase());
  if (found === undefined)
    throw new AppError("INVALID_INPUT", `request.kind must be one of ${ACT_KINDS.join(", ")}${kind === undefined ? "" : `, not "${kind.slice(0, 40)}"`}`);
  return found;
}

/** Does one thing on a page. `close` is the caller's. */
export async function act(kind: Exclude<ActKind, "close">, tab: Tab, params: Params, deps: ActDeps): Promise<unknown> {
  const timeout = boundedMs(numberIn(params, "timeoutMs"), DEFAULT_MS);
  return KINDS[kind]({ ...deps, tab, params, timeout });
}
