import type { EventName, EventPayload, HelloOk, MethodName, MethodParams, MethodResult, RequestOptions } from "openclaw/client";
import { randomId } from "../base/random-id.ts";
import { createSignal, type Signal } from "../base/signal.ts";
import { isAction } from "./actions.ts";
import { createHeldChanges, type HeldChanges, type Resent } from "./held-changes.ts";
import { browserTokens, onForeignTokens } from "./introduction.ts";
import { enter, hangUp, keptToken, leave, type Line } from "./line.ts";
import { createListeners } from "./listeners.ts";
import { isOut, type Credentials, type LinkState } from "./state.ts";
import { t } from "../words/words.ts";

export type { Credentials, LinkState } from "./state.ts";

/** The one connection of this page. */
export interface Link {
  readonly state: Signal<LinkState>;
  /** Of the last connection; undefined before the first. */
  readonly hello: HelloOk | undefined;
  /** So many changes of conversations are not answered yet. Without a connection they wait, also over a reload. */
  readonly held: Signal<number>;
  /** True when the gateway answers the method and this browser may call it. */
  has(method: string): boolean;
  may(scope: string): boolean;
  /** While the connection is lost a request waits; what changes something is done once, even when only its answer was lost. */
  request<M extends MethodName>(method: M, params: MethodParams<M>, options?: RequestOptions): Promise<MethodResult<M>>;
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): Disposable;
  /** Called at each connection, and when events were missed: load what is shown again. */
  onFresh(listener: () => void): Disposable;
  /** Loads what is shown again: it was changed from another part of the page. */
  refresh(): void;
  /** Called when changes that an earlier page left were sent. */
  onResent(listener: (resent: Resent) => void): void;
  login(credentials: Credentials): Promise<void>;
  /** Tries now instead of waiting. */
  retry(): void;
  /** Every tab of this browser is out from now on. */
  logout(): void;
}

/** Other gateways take no key where it is not documented. */
const takesKeys = ({ hello }: Line): boolean => hello?.features.methods.includes("chat.page") ?? true;

const notConnected = (): Error => new Error(t("The page is not connected to the gateway."));

const LEFT = t("This browser was signed out. Sign in again.");

/** All tabs of a browser share one token: they are in together, and out together. */
async function followTabs(line: Line): Promise<void> {
  const kept = (await keptToken(line)) !== undefined;
  const { value } = line.state;
  if (isOut(value)) return kept ? enter(line, {}) : undefined;
  const isOurs = line.hello?.auth !== undefined && Object.keys(line.secret).length === 0;
  if (!kept && isOurs && value.kind !== "starting") await leave(line, { kind: "login", message: LEFT });
}

/**
 * A browser may put a page aside as it is and bring it back with the back button, hours later. What is put aside shows nothing, and what comes back asks
 * first whether it is still let in.
 */
function followPage(line: Line): void {
  addEventListener("pagehide", ({ persisted }) => {
    if (!persisted || isOut(line.state.value)) return;
    hangUp(line);
    line.state.set({ kind: "starting" });
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) void (isOut(line.state.value) ? followTabs(line) : enter(line, line.secret));
  });
}

/** Sends with the first connection what an earlier page of this browser left. Then everything is loaded again: it may have been read before. */
async function sendLeft(line: Line, held: HeldChanges, connected: Promise<void>): Promise<Resent> {
  await connected;
  const resent = takesKeys(line) ? await held.resend() : { done: 0, failed: [] };
  if (resent.done > 0) line.listeners.tellFresh();
  return resent;
}

/** `forget` is called when this browser is put out, or logs out: what others must not find has to go. */
export function createLink({ forget }: { readonly forget: () => void }): Link {
  const state = createSignal<LinkState>({ kind: "starting" });
  const listeners = createListeners();
  const line: Line = {
    state,
    listeners,
    tokens: browserTokens(),
    forget() {
      held.clear();
      forget();
    },
    client: undefined,
    hello: undefined,
    device: undefined,
    secret: {},
    turn: 0,
    timer: undefined,
  };
  const connected = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listening = listeners.onFresh(() => {
      listening[Symbol.dispose]();
      resolve();
    });
    return promise;
  };
  const held = createHeldChanges({
    request: (params, options) => line.client?.request("sessions.patch", params, options) ?? Promise.reject(notConnected()),
    isOpen: () => state.value.kind === "open",
    connected,
  });
  const resent = sendLeft(line, held, connected());
  onForeignTokens(() => void followTabs(line));
  followPage(line);
  return {
    state,
    held: held.count,
    onResent: (listener) => void resent.then(listener),
    get hello() {
      return line.hello;
    },
    has: (method) => line.hello?.features.methods.includes(method) ?? false,
    may: (scope) => line.hello?.auth?.scopes.some((held) => held === scope || held === "operator.admin") ?? true,
    request(method, params, options) {
      const isKept = isAction(method) && takesKeys(line);
      if (isKept && method === "sessions.patch") return held.send(params as MethodParams<"sessions.patch">, options) as Promise<MethodResult<typeof method>>;
      if (!line.client) return Promise.reject(notConnected());
      return line.client.request(method, isKept ? Object.assign({ idempotencyKey: randomId() }, params) : params, options);
    },
    on: listeners.on,
    onFresh: listeners.onFresh,
    refresh: listeners.tellFresh,
    login: (credentials) => enter(line, credentials),
    retry: () => void enter(line, line.secret),
    logout: () => void leave(line, { kind: "login" }),
  };
}
