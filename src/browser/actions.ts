import type { ElementHandle } from "playwright-core";
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { flagIn, numberIn, rawIn, recordsIn, required, textIn, textsIn, type Params } from "./params.ts";
import { elementOf, inPage, refNumber, within } from "./read-tab.ts";
import type { Tab } from "./tab.ts";

export const ACT_KINDS = ["click", "type", "press", "hover", "drag", "select", "fill", "resize", "wait", "evaluate", "scrollIntoView", "close"] as const;
export type ActKind = (typeof ACT_KINDS)[number];

/** What may be done twice without a difference. */
export const REPEATABLE: ReadonlySet<string> = new Set<ActKind>(["hover", "resize", "wait", "scrollIntoView", "fill", "select"]);

const DEFAULT_MS = 8000;
const WAIT_MS = 20_000;
export const MOST_MS = 120_000;
const MOST_PAUSE_MS = 30_000;
const BUTTONS = ["left", "right", "middle"] as const;
const MODIFIERS = ["Alt", "Control", "ControlOrMeta", "Meta", "Shift"] as const;
const LOAD_STATES = ["load", "domcontentloaded", "networkidle"] as const;

export interface ActDeps {
  readonly clock: Clock;
  /** Why scripts of the agent may not run; undefined when they may. */
  readonly evaluateRefusal: string | undefined;
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
  if (flagIn(params, "submit") === true) await begun(act, "pressing Enter", handle.press("Enter", { timeout: MOST_MS, noWaitAfter: true }));
}

/** Input that a page has got: when the page does not go on after it, nobody knows what it did with it. */
async function begun<T>({ clock, timeout }: Act, what: string, work: Promise<T>): Promise<T> {
  return within(clock, timeout, work, unknownEffect(what, timeout));
}

const unknownEffect = (what: string, timeout: number): string =>
  `${what} did not finish within ${timeout} ms, and it may have taken effect: take a snapshot before you repeat it`;

interface Field {
  readonly ref: string;
  readonly kind: string;
  readonly value: string;
  readonly handle: ElementHandle;
}

/** Runs in the page: how the element takes a value; `no <name>` when it takes none. */
function fieldKind(node: unknown): string {
  const { tagName, type = "", isContentEditable } = node as { readonly tagName: string; readonly type?: string; readonly isContentEditable?: boolean };
  if (tagName === "SELECT") return "select";
  if (tagName === "INPUT" && (type === "checkbox" || type === "radio")) return "checkbox";
  if (tagName === "INPUT" && ["button", "submit", "reset", "image", "file"].includes(type)) return `no ${type}`;
  return tagName === "INPUT" || tagName === "TEXTAREA" || isContentEditable === true ? "text" : `no ${tagName.toLowerCase()}`;
}

async function fieldOf(act: Act, params: Params): Promise<Field> {
  const handle = await element({ ...act, params });
  const [ref, written, found] = [required(params, "ref"), textIn(params, "type"), await inPage(act.tab, act.clock, act.timeout, handle.evaluate(fieldKind))];
  if (found.startsWith("no ") && written !== "checkbox" && written !== "radio")
    throw new AppError("INVALID_INPUT", `e${refNumber(ref)} is a ${found.slice(3)}, which cannot be filled; nothing was filled`);
  return { ref: `e${refNumber(ref)}`, kind: found.startsWith("no ") ? "checkbox" : found, value: rawIn(params, "value") ?? "", handle };
}

async function fillField({ timeout }: Act, { ref, kind, value, handle }: Field): Promise<void> {
  try {
    if (kind === "checkbox") await handle.setChecked(!["", "false", "0", "off", "no"].includes(value.toLowerCase()), { timeout });
    else if (kind === "select") await handle.selectOption(value, { timeout, noWaitAfter: true });
    else await handle.fill(value, { timeout });
  } catch (error) {
    throw actionError(error, `filling ${ref}`, timeout);
  }
}

/** Runs in the page: the button that sends the element's form; null when there is none. */
function submitButton(node: unknown): unknown {
  const { form } = node as { readonly form?: { readonly elements: Iterable<{ readonly type?: string }> } | null };
  return Array.from(form?.elements ?? []).find(({ type }) => type === "submit") ?? null;
}

/** Presses the button that sends the form, or Enter in the field where no such button is shown. */
async function submitForm(act: Act, handle: ElementHandle): Promise<void> {
  const { tab, clock, timeout } = act;
  const button = (await inPage(tab, clock, timeout, handle.evaluateHandle(submitButton))).asElement() as ElementHandle | null;
  if (button && (await inPage(tab, clock, timeout, button.isVisible()))) await button.click({ timeout, noWaitAfter: true });
  else await begun(act, "pressing Enter", handle.press("Enter", { timeout: MOST_MS, noWaitAfter: true }));
}

async function fill(act: Act): Promise<void> {
  const fields = recordsIn(act.params, "fields");
  if (fields.length === 0) throw new AppError("INVALID_INPUT", "fields required: [{ref, value, type?}]");
  // All of them are looked at before the first is changed.
  const found: Field[] = [];
  for (const field of fields) found.push(await fieldOf(act, field));
  for (const field of found) await fillField(act, field);
  const last = found.at(-1);
  if (last && flagIn(act.params, "submit") === true) await submitForm(act, last.handle);
}

const drag = (act: Act): Promise<void> => begun(act, "the drag", dragTo(act));

async function dragTo(act: Act): Promise<void> {
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
  if (fn !== undefined) checkScripts(act);
  if (ms !== undefined && ms > MOST_PAUSE_MS)
    throw new AppError("INVALID_INPUT", `timeMs is at most ${MOST_PAUSE_MS}, not ${ms}: wait for a text, a selector or a url instead`);
  if (ms !== undefined) {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = clock.after(Math.max(0, ms), resolve);
    await promise;
  }
  if (text !== undefined) await page.getByText(text).first().waitFor({ state: "visible", timeout });
  if (gone !== undefined) await page.getByText(gone).first().waitFor({ state: "hidden", timeout });
  if (selector !== undefined) await page.locator(selector).first().waitFor({ state: "visible", timeout });
  if (url !== undefined) await page.waitForURL(url, { timeout, waitUntil: "commit" });
  if (state !== undefined) await page.waitForLoadState(state, { timeout });
  if (fn !== undefined) await page.waitForFunction(calledIn(fn), undefined, { timeout });
}

function checkScripts({ evaluateRefusal }: Act): void {
  if (evaluateRefusal !== undefined) throw new AppError("PERMISSION_DENIED", `${evaluateRefusal}; use click, type and snapshot instead`);
}

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
  checkScripts(act);
  const { tab, params, clock, timeout } = act;
  const fn = required(params, "fn");
  const work: Promise<unknown> = textIn(params, "ref") === undefined ? tab.page.evaluate(calledIn(fn)) : evaluateOn(await element(act), fn);
  return within(clock, timeout, work, unknownEffect("the script", timeout));
}

const KINDS: Readonly<Record<Exclude<ActKind, "close">, (act: Act) => Promise<unknown>>> = {
  click,
  type,
  press: (act) => begun(act, "the key press", act.tab.page.keyboard.press(required(act.params, "key"))),
  hover: async (act) => (await element(act)).hover({ timeout: act.timeout }),
  drag,
  async select(act) {
    const values = textsIn(act.params, "values");
    if (values.length === 0) throw new AppError("INVALID_INPUT", "values required");
    await (await element(act)).selectOption([...values], { timeout: act.timeout, noWaitAfter: true });
  },
  fill,
  async resize({ tab, params, clock, timeout }) {
    const [width, height] = [numberIn(params, "width"), numberIn(params, "height")];
    if (!width || !height || width < 1 || height < 1 || width > 4000 || height > 4000)
      throw new AppError("INVALID_INPUT", "width and height required, from 1 to 4000");
    await inPage(tab, clock, timeout, tab.page.setViewportSize({ width: Math.floor(width), height: Math.floor(height) }));
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
  const reasons = [first, ...telling.slice(-2)].map((line) => line.replace(/^\w+\.\w+: /, "").replace(/^(?:Protocol error \([\w.]+\)|Error): /, ""));
  return reasons.every((one) => one === "") ? "the browser gave no reason; take a snapshot to see the page" : [...new Set(reasons)].join("; ").slice(0, 400);
}

/** A failure of the driver in words that a model can act on. What is typed already, and the browser's end, pass through. */
export function actionError(error: unknown, what: string, timeout: number): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const isLate = error.name === "TimeoutError" || /Timeout \d+ms exceeded/.test(error.message);
  const reason = reasonOf(error);
  // The driver had already handed the input to the page.
  if (isLate && /performing \w+ action/.test(error.message))
    return new AppError("TIMEOUT", unknownEffect(`the ${what}`, timeout), { cause: error, details: { uncertain: true } });
  if (isLate && what.startsWith("wait"))
    return new AppError("TIMEOUT", `the wait was not satisfied within ${timeout} ms; take a snapshot to see the page`, { cause: error });
  return isLate
    ? new AppError(
        "TIMEOUT",
        `${what} was not possible within ${timeout} ms: ${reason.replace(/Timeout \d+ms exceeded\.?(?:; )?/, "") || "the page did not reach that state"}`,
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
