import {
  connect,
  loadWebDevice,
  storedTokens,
  type DeviceIdentity,
  type EventName,
  type EventPayload,
  type GatewayClient,
  type HelloOk,
  type MethodName,
  type MethodParams,
  type MethodResult,
  type RequestOptions,
} from "openclaw/client";
import { createSignal, type Signal } from "../base/signal.ts";
import { failureText, isPairingNeeded, isUnauthorized } from "./failure.ts";
import { browserKeys } from "./keys.ts";

/** How this page stands with its gateway. */
export type LinkState =
  | { readonly kind: "starting" }
  /** Somebody has to say who they are. */
  | { readonly kind: "login"; readonly message?: string }
  /** Somebody has to approve this browser on the gateway's machine. */
  | { readonly kind: "pairing"; readonly deviceId: string }
  | { readonly kind: "open" }
  | { readonly kind: "lost"; readonly message: string; readonly retryAt: number | undefined };

export interface Credentials {
  readonly token?: string;
  readonly password?: string;
  readonly code?: string;
}

/** The one connection of this page. */
export interface Link {
  readonly state: Signal<LinkState>;
  /** Of the last connection; undefined before the first. */
  readonly hello: HelloOk | undefined;
  /** True when the gateway answers the method and this browser may call it. */
  has(method: string): boolean;
  may(scope: string): boolean;
  request<M extends MethodName>(method: M, params: MethodParams<M>, options?: RequestOptions): Promise<MethodResult<M>>;
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): Disposable;
  /** Called at each connection, and when events were missed: load what is shown again. */
  onFresh(listener: () => void): Disposable;
  login(credentials: Credentials): Promise<void>;
  /** Tries now instead of waiting. */
  retry(): void;
  logout(): void;
}

const CLIENT_ID = "openclaw-control-ui";

/** The gateway is where the page came from. Nothing in the address changes that. */
const socketUrl = (): string => new URL(document.baseURI).href.replace(/^http/, "ws");

async function identity(): Promise<DeviceIdentity | undefined> {
  if (!globalThis.isSecureContext || !globalThis.crypto?.subtle) return undefined;
  try {
    return await loadWebDevice(browserKeys);
  } catch {
    // An older browser without ed25519, or one that keeps nothing: the gateway says what it thinks of that.
    return undefined;
  }
}

/** Trades a one-time code for a token of this browser's own. */
async function redeem(code: string, device: DeviceIdentity): Promise<{ readonly role: string; readonly scopes: readonly string[]; readonly deviceToken: string }> {
  const response = await fetch(new URL("__openclaw/login", document.baseURI), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, device: { id: device.id, publicKey: device.publicKey } }),
  });
  const answer = (await response.json().catch(() => ({}))) as { error?: string | { message?: string }; role: string; scopes: string[]; deviceToken: string };
  if (!response.ok) throw new Error(typeof answer.error === "string" ? answer.error : (answer.error?.message ?? `the login link was refused (${response.status})`));
  return answer;
}

const clientInfo = () => ({ id: CLIENT_ID, displayName: "Control UI", version: __VERSION__, platform: "web", mode: "ui" }) as const;

export function createLink(): Link {
  const state = createSignal<LinkState>({ kind: "starting" });
  const fresh = new Set<() => void>();
  const listeners = new Map<string, Set<(payload: never) => void>>();
  const tokens = storedTokens(localStorage);
  let client: GatewayClient | undefined;
  let hello: HelloOk | undefined;
  let device: DeviceIdentity | undefined;
  let attempt = 0;

  const tellFresh = (): void => {
    for (const listener of [...fresh]) listener();
  };

  function listen(to: GatewayClient, event: string): void {
    to.on(event as EventName, (payload) => {
      for (const listener of [...(listeners.get(event) ?? [])]) listener(payload as never);
    });
  }

  async function open(credentials: Credentials): Promise<void> {
    const mine = (attempt += 1);
    client?.close();
    const { token, password } = credentials;
    const next = await connect({
      url: socketUrl(),
      allowInsecure: true,
      ...(token ? { token } : {}),
      ...(password ? { password } : {}),
      ...(device ? { device, deviceTokens: tokens } : {}),
      prefer: token || password ? "given" : "stored",
      client: clientInfo(),
      caps: ["tool-events"],
      userAgent: navigator.userAgent,
      locale: navigator.language,
      reconnect: { firstMs: 300, maxMs: 5000 },
      onStale: (reason) => {
        if (mine !== attempt) return;
        if (reason.kind === "reconnected") {
          hello = reason.hello;
          state.set({ kind: "open" });
        }
        tellFresh();
      },
      onLost: ({ error, retryInMs }) => {
        if (mine !== attempt) return;
        if (retryInMs === undefined) return;
        state.set({ kind: "lost", message: failureText(error), retryAt: Date.now() + retryInMs });
      },
    });
    if (mine !== attempt) return next.close();
    client = next;
    hello = next.hello;
    for (const event of listeners.keys()) listen(next, event);
    void next.closed.then((error) => {
      if (mine !== attempt || !error) return;
      state.set(isUnauthorized(error) || isPairingNeeded(error) ? refusedState(error) : { kind: "lost", message: failureText(error), retryAt: undefined });
    });
    state.set({ kind: "open" });
    tellFresh();
  }

  function refusedState(error: unknown): LinkState {
    if (isPairingNeeded(error) && device) return { kind: "pairing", deviceId: device.id };
    return { kind: "login", message: failureText(error) };
  }

  async function login(credentials: Credentials): Promise<void> {
    device ??= await identity();
    try {
      if (credentials.code) {
        if (!device) throw new Error("a login link needs HTTPS or an address on this machine (localhost); paste the gateway's token instead");
        const grant = await redeem(credentials.code, device);
        await tokens.save(device.id, { role: grant.role, token: grant.deviceToken, scopes: grant.scopes });
      }
      await open(credentials);
    } catch (error) {
      if (isPairingNeeded(error) || isUnauthorized(error) || credentials.code) state.set(refusedState(error));
      else {
        state.set({ kind: "lost", message: failureText(error), retryAt: Date.now() + 2000 });
        setTimeout(() => state.value.kind === "lost" && void login(credentials), 2000);
      }
    }
  }

  return {
    state,
    get hello() {
      return hello;
    },
    has: (method) => hello?.features.methods.includes(method) ?? false,
    may: (scope) => hello?.auth?.scopes.some((held) => held === scope || held === "operator.admin") ?? true,
    request: (method, params, options) => (client ? client.request(method, params, options) : Promise.reject(new Error("not connected"))),
    on(event, listener) {
      let known = listeners.get(event);
      if (!known) {
        known = new Set();
        listeners.set(event, known);
        if (client) listen(client, event);
      }
      known.add(listener as (payload: never) => void);
      return { [Symbol.dispose]: () => void known.delete(listener as (payload: never) => void) };
    },
    onFresh(listener) {
      fresh.add(listener);
      return { [Symbol.dispose]: () => void fresh.delete(listener) };
    },
    login,
    retry: () => void login({}),
    logout() {
      attempt += 1;
      client?.close();
      client = undefined;
      if (device) void tokens.forget(device.id, "operator");
      state.set({ kind: "login" });
    },
  };
}
