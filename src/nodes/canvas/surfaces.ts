import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import { loadA2ui, type A2uiMessage, type A2uiModel, type EventName, type EventPayload, type MethodParams, type MethodResult } from "../../protocol/index.ts";
import { CANVAS_ERROR } from "../tool/failure.ts";
import { canvasTarget, type CanvasTarget } from "./paths.ts";
import type { SavedCanvas, SavedCanvases } from "./saved.ts";

export interface SurfacesDeps {
  readonly ids: Ids;
  readonly clock: Clock;
  /** To one connection; false when it could not be sent. */
  readonly send: <E extends EventName>(connId: string, event: E, payload: EventPayload<E>) => boolean;
}

export interface SavingDeps extends SurfacesDeps {
  /** Whether a path is a page of the canvas folder. */
  readonly hasPage: (path: string) => Promise<boolean>;
  readonly saved: SavedCanvases;
}

export type CanvasView = MethodResult<"canvas.attach">["view"];

/** Canvases of sessions, and the pages that show them. */
export interface CanvasSurfaces {
  /** The connection shows the canvas of a session from now on. */
  attach(sessionKey: string, connId: string): Promise<CanvasView>;
  detach(sessionKey: string, connId: string): void;
  disconnected(connId: string): void;
  /** True while a page shows the session. */
  isShown(sessionKey: string): boolean;
  /** Runs a `canvas.*` command. Throws `UNAVAILABLE` when no page shows the session. */
  invoke(sessionKey: string, command: string, params: Fields, options: InvokeOptions): Promise<unknown>;
  /** A page's answer; false when nobody waits for it. */
  answer(answer: MethodParams<"canvas.result">, connId: string): boolean;
}

export interface InvokeOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

interface Shown {
  readonly sessionKey: string;
  /** The one that came last is asked. */
  readonly connIds: Set<string>;
  visible: boolean;
  target: CanvasTarget;
  revision: number;
  model: A2uiModel;
}

interface Waiting {
  readonly connId: string;
  readonly end: (outcome: { readonly payload: unknown } | { readonly error: AppError }) => void;
}

const MOST_SESSIONS = 200;
/** Characters of everything that A2UI shows in one session. */
const MOST_SHOWN = 2_000_000;
const MOST_WAITING = 64;
const DEFAULT_MS = 20_000;
const MOST_MS = 120_000;
const MOST_CODE = 200_000;
const NO_PAGE = "no page shows this conversation, so it has no canvas; open it in the Control UI (openclaw dashboard), or connect a node that has a canvas";

const viewOf = ({ visible, target, revision, model }: Shown): CanvasView => ({ visible, target: { ...target }, revision, messages: [...model.toMessages()] });

async function targetIn(params: Fields, { hasPage }: Pick<SavingDeps, "hasPage">): Promise<CanvasTarget | undefined> {
  const url = params["url"];
  if (url === undefined || url === null || url === "") return undefined;
  const written = typeof url === "string" ? url : JSON.stringify(url);
  const target = typeof url === "string" ? canvasTarget(url) : undefined;
  if (target?.kind === "file" && !(await hasPage(target.path)))
    throw new AppError("INVALID_INPUT", `the canvas folder has no page ${JSON.stringify(clip(target.path, 100))}; write it first`);
  if (target) return target;
  throw new AppError(
    "INVALID_INPUT",
    `the canvas of the Control UI shows files of the canvas folder and A2UI, not ${JSON.stringify(clip(written, 100))}; expected a path such as index.html`,
  );
}

/** Messages of a push, in whichever form they came. */
async function messagesIn(params: Fields): Promise<readonly A2uiMessage[]> {
  const { parseJsonl, parseMessage } = await loadA2ui();
  const { jsonl, messages } = params;
  if (typeof jsonl === "string") return parseJsonl(jsonl);
  if (Array.isArray(messages)) return parseJsonl(messages.map((message) => JSON.stringify(message)).join("\n"));
  if (isRecord(params["message"])) return parseMessage(params["message"]);
  throw new AppError("INVALID_INPUT", "expected jsonl: A2UI messages, one JSON object to a line");
}

/** Requests that pages have not answered yet. */
function createWaiting({ ids, clock, send }: SurfacesDeps) {
  const waiting = new Map<string, Waiting>();
  return {
    ask(connId: string, sessionKey: string, command: "eval" | "snapshot", params: Fields, { signal, timeoutMs = DEFAULT_MS }: InvokeOptions) {
      if (waiting.size >= MOST_WAITING) throw new AppError("OVERLOADED", "too many requests to canvases are open; wait for one of them");
      const id = ids.uuid();
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const end: Waiting["end"] = (outcome) => {
        if (!waiting.delete(id)) return;
        timer[Symbol.dispose]();
        signal.removeEventListener("abort", onAbort);
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.payload);
      };
      const failed = (message: string): void => end({ error: new AppError("UNAVAILABLE", message) });
      const onAbort = (): void => failed("the request was cancelled");
      const timer = clock.after(Math.min(timeoutMs, MOST_MS), () => failed(`the canvas did not answer within ${Math.min(timeoutMs, MOST_MS)} ms`));
      waiting.set(id, { connId, end });
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      else if (!send(connId, "canvas.request", { id, sessionKey, command, params: { ...params } })) failed("the page that shows the canvas was closed");
      return promise;
    },
    answer({ id, ok, payload, error }: MethodParams<"canvas.result">, connId: string): boolean {
      const one = waiting.get(id);
      if (!one || one.connId !== connId) return false;
      const failed = (): AppError => new AppError("UNAVAILABLE", clip(error ?? "the canvas reported a failure", 2000), { details: { code: CANVAS_ERROR } });
      one.end(ok ? { payload } : { error: failed() });
      return true;
    },
    gone(connId: string): void {
      for (const one of waiting.values())
        if (one.connId === connId) one.end({ error: new AppError("UNAVAILABLE", "the page that shows the canvas was closed; the outcome is unknown") });
    },
  };
}

/** Changes of canvases, announced to the pages that show them. */
function createChanges({ send }: SurfacesDeps, createModel: () => A2uiModel) {
  function change(canvas: Shown, next: Partial<Pick<Shown, "visible" | "target">>, messages: readonly A2uiMessage[] = [], reset = false): void {
    Object.assign(canvas, next);
    canvas.revision += 1;
    const { sessionKey, visible, target, revision } = canvas;
    const payload = { sessionKey, visible, target: { ...target }, revision, messages: [...messages], reset };
    for (const connId of canvas.connIds) send(connId, "canvas.changed", payload);
  }
  return {
    change,
    async push(canvas: Shown, params: Fields): Promise<void> {
      const messages = await messagesIn(params);
      // On a copy first: a push that fails changes nothing.
      const next = createModel();
      next.apply(canvas.model.toMessages());
      next.apply(messages);
      const { length } = JSON.stringify(next.toMessages());
      if (length > MOST_SHOWN)
        throw new AppError("INVALID_INPUT", `expected at most ${MOST_SHOWN} characters on one canvas, got ${length}; delete surfaces or reset it first`);
      canvas.model = next;
      change(canvas, { visible: true, target: { kind: "a2ui" } }, messages);
    },
    reset(canvas: Shown): void {
      canvas.model.reset();
      change(canvas, {}, [], true);
    },
  };
}

type Run = (canvas: Shown, params: Fields, options: InvokeOptions) => unknown;

function createCommands(
  deps: Pick<SavingDeps, "hasPage">,
  { change, push, reset }: ReturnType<typeof createChanges>,
  waiting: ReturnType<typeof createWaiting>,
): Readonly<Record<string, Run>> {
  function ask(canvas: Shown, command: "eval" | "snapshot", params: Fields, options: InvokeOptions): Promise<unknown> {
    if (!canvas.visible) throw new AppError("INVALID_INPUT", "the canvas is hidden; present it first");
    return waiting.ask([...canvas.connIds].at(-1)!, canvas.sessionKey, command, params, options);
  }
  return {
    async "canvas.present"(canvas, params) {
      const target = await targetIn(params, deps);
      change(canvas, { visible: true, ...(target ? { target } : {}) });
    },
    "canvas.hide": (canvas) => change(canvas, { visible: false }),
    async "canvas.navigate"(canvas, params) {
      const target = await targetIn(params, deps);
      if (!target) throw new AppError("INVALID_INPUT", "url required");
      change(canvas, { target });
    },
    "canvas.eval"(canvas, params, options) {
      const code = params["javaScript"];
      if (typeof code !== "string" || code.trim() === "") throw new AppError("INVALID_INPUT", "javaScript required");
      if (code.length > MOST_CODE) throw new AppError("INVALID_INPUT", `javaScript has ${code.length} characters; the limit is ${MOST_CODE}`);
      return ask(canvas, "eval", { javaScript: code }, options);
    },
    "canvas.snapshot": (canvas, params, options) => ask(canvas, "snapshot", params, options),
    "canvas.a2ui.push": push,
    "canvas.a2ui.pushJSONL": push,
    "canvas.a2ui.reset": reset,
  };
}

/** Commands that ask the page and change nothing that is stored. */
const ASKED: ReadonlySet<string> = new Set(["canvas.eval", "canvas.snapshot"]);

export async function createSurfaces(deps: SavingDeps): Promise<CanvasSurfaces> {
  const { createA2uiModel } = await loadA2ui();
  const canvases = new Map<string, Shown>();
  const waiting = createWaiting(deps);
  const commands = createCommands(deps, createChanges(deps, createA2uiModel), waiting);

  async function canvasOf(sessionKey: string): Promise<Shown> {
    const saved = canvases.has(sessionKey) ? undefined : await deps.saved.load(sessionKey);
    const known = canvases.get(sessionKey);
    if (known) return known;
    for (const [key, { connIds }] of canvases) {
      if (canvases.size < MOST_SESSIONS) break;
      if (connIds.size === 0) canvases.delete(key);
    }
    const { messages = [], ...shown } = saved ?? { visible: false, target: { kind: "file" as const, path: "" }, revision: 0 };
    const made: Shown = { sessionKey, connIds: new Set(), ...shown, model: createA2uiModel() };
    try {
      made.model.apply(messages);
    } catch {
      // An earlier version stored what this one does not draw.
      made.model.reset();
    }
    canvases.set(sessionKey, made);
    return made;
  }

  return {
    async attach(sessionKey, connId) {
      const canvas = await canvasOf(sessionKey);
      canvas.connIds.delete(connId);
      canvas.connIds.add(connId);
      return viewOf(canvas);
    },
    detach: (sessionKey, connId) => void canvases.get(sessionKey)?.connIds.delete(connId),
    disconnected(connId) {
      for (const { connIds } of canvases.values()) connIds.delete(connId);
      waiting.gone(connId);
    },
    isShown: (sessionKey) => (canvases.get(sessionKey)?.connIds.size ?? 0) > 0,
    async invoke(sessionKey, command, params, options) {
      const run = Object.hasOwn(commands, command) ? commands[command] : undefined;
      if (!run) throw new AppError("INVALID_INPUT", `unknown command ${JSON.stringify(clip(command, 100))}; expected ${Object.keys(commands).join(", ")}`);
      const canvas = canvases.get(sessionKey);
      if (!canvas || canvas.connIds.size === 0) throw new AppError("UNAVAILABLE", NO_PAGE, { details: { code: "NOT_CONNECTED" } });
      const payload = await run(canvas, params, options);
      if (!ASKED.has(command)) await deps.saved.save(sessionKey, viewOf(canvas) as SavedCanvas);
      return payload;
    },
    answer: waiting.answer,
  };
}
