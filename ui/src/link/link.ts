import type { EventName, EventPayload, HelloOk, MethodName, MethodParams, MethodResult, RequestOptions } from "openclaw/client";
import { randomId } from "../base/random-id.ts";
import { createSignal, type Signal } from "../base/signal.ts";
import { isAction } from "./actions.ts";
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
  /** True when the gateway answers the method and this browser may call it. */
  has(method: string): boolean;
  may(scope: string): boolean;
  /** While the connection is lost a request waits; what changes something is done once, even when only its answer was lost. */
  request<M extends MethodName>(method: M, params: MethodParams<M>, options?: RequestOptions): Promise<MethodResult<M>>;
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): Disposable;
  /** Called at each connection, and when events were missed: load what is shown again. */
  onFresh(listener: () => void): Disposable;
  login(credentials: Credentials): Promise<void>;
  /** Tries now instead of waiting. */
  retry(): void;
  /** Every tab of this browser is out from now on. */
  logout(): void;
}

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

/** `forget` is called when this browser is put out, or logs out: what others must not find has to go. */
export function createLink({ forget }: { readonly forget: () => void }): Link {
  const state = createSignal<LinkState>({ kind: "starting" });
  const listeners = createListeners();
  const line: Line = {
    state,
    listeners,
    tokens: browserTokens(),
    forget,
    client: undefined,
    hello: undefined,
    device: undefined,
    secret: {},
    turn: 0,
    timer: undefined,
  };
  onForeignTokens(() => void followTabs(line));
  followPage(line);
  return {
    state,
    get hello() {
      return line.hello;
    },
    has: (method) => line.hello?.features.methods.includes(method) ?? false,
    may: (scope) => line.hello?.auth?.scopes.some((held) => held === scope || held === "operator.admin") ?? true,
    request(method, params, options) {
      if (!line.client) return Promise.reject(new Error("not connected"));
      // Other gateways take no key where it is not documented.
      const isKept = isAction(method) && line.hello?.features.methods.includes("chat.page") === true;
      return line.client.request(method, isKept ? Object.assign({ idempotencyKey: randomId() }, params) : params, options);
    },
    on: listeners.on,
    onFresh: listeners.onFresh,
    login: (credentials) => enter(line, credentials),
    retry: () => void enter(line, line.secret),
    logout: () => void leave(line, { kind: "login" }),
  };
}
