import {
  connect,
  storedTokens,
  type DeviceIdentity,
  type DeviceTokens,
  type EventName,
  type EventPayload,
  type GatewayClient,
  type HelloOk,
  type MethodName,
  type MethodParams,
  type MethodResult,
  type RequestOptions,
} from "openclaw/client";
import { keep } from "../base/keep.ts";
import { createSignal, type Signal } from "../base/signal.ts";
import { identity, redeem } from "./entrance.ts";
import { failureText, isPairingNeeded, isUnauthorized } from "./failure.ts";
import { createListeners } from "./listeners.ts";

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

/** What every connection of the page has in common. */
const connection = () =>
  ({
    url: socketUrl(),
    allowInsecure: true,
    client: { id: CLIENT_ID, displayName: "Control UI", version: __VERSION__, platform: "web", mode: "ui" },
    caps: ["tool-events"],
    userAgent: navigator.userAgent,
    locale: navigator.language,
    reconnect: { firstMs: 300, maxMs: 5000 },
  }) as const;

/** Device tokens in this browser's storage; a browser that forbids it keeps none. */
function browserTokens(): DeviceTokens {
  const text = { getItem: (key: string) => keep.text(key) ?? null, setItem: keep.setText, removeItem: (key: string) => keep.setText(key, undefined) };
  return storedTokens(text, "device-token");
}

/** What a page does next that was refused. */
function refusedState(error: unknown, device: DeviceIdentity | undefined, tried = true): LinkState {
  if (isPairingNeeded(error) && device) return { kind: "pairing", deviceId: device.id };
  // Who has shown nothing yet has done nothing wrong.
  return tried ? { kind: "login", message: failureText(error) } : { kind: "login" };
}

/** How a connection is made: by the device, and by what was given or stored. */
const introduction = ({ token, password }: Credentials, device: DeviceIdentity | undefined, deviceTokens: DeviceTokens) =>
  ({
    ...connection(),
    ...(token ? { token } : {}),
    ...(password ? { password } : {}),
    ...(device ? { device, deviceTokens } : {}),
    prefer: token || password ? "given" : "stored",
  }) as const;

/**
 * Trades a pasted secret for a token of this browser's own, and gives what is left to connect with: nothing, once there is such a token. A page that held
 * on to the secret would come back by itself after its token was taken away.
 */
async function traded(credentials: Credentials, device: DeviceIdentity | undefined, tokens: DeviceTokens): Promise<Credentials> {
  if (!device || (!credentials.token && !credentials.password)) return credentials;
  const first = await connect(introduction(credentials, device, tokens));
  first.close();
  return first.hello.auth && (await tokens.load(device.id, first.hello.auth.role)) ? {} : credentials;
}

const RETRY_MS = 2000;

export function createLink(): Link {
  const state = createSignal<LinkState>({ kind: "starting" });
  const listeners = createListeners();
  const tokens = browserTokens();
  let client: GatewayClient | undefined;
  let hello: HelloOk | undefined;
  let device: DeviceIdentity | undefined;
  let attempt = 0;

  async function open(credentials: Credentials): Promise<void> {
    const mine = (attempt += 1);
    client?.close();
    const next = await connect({
      ...introduction(credentials, device, tokens),
      onStale(reason) {
        if (mine !== attempt) return;
        if (reason.kind === "reconnected") {
          hello = reason.hello;
          state.set({ kind: "open" });
        }
        listeners.tellFresh();
      },
      onLost({ error, retryInMs }) {
        if (mine === attempt && retryInMs !== undefined) state.set({ kind: "lost", message: failureText(error), retryAt: Date.now() + retryInMs });
      },
    });
    if (mine !== attempt) return next.close();
    client = next;
    hello = next.hello;
    listeners.attach(next);
    void next.closed.then((error) => {
      if (mine !== attempt || !error) return;
      const refused = isUnauthorized(error) || isPairingNeeded(error);
      state.set(refused ? refusedState(error, device) : { kind: "lost", message: failureText(error), retryAt: undefined });
    });
    state.set({ kind: "open" });
    listeners.tellFresh();
  }

  async function login(credentials: Credentials): Promise<void> {
    device ??= await identity();
    const tried = Object.keys(credentials).length > 0 || (device !== undefined && (await tokens.load(device.id, "operator")) !== undefined);
    try {
      if (credentials.code) {
        const { deviceToken, role, scopes } = await redeem(credentials.code, device);
        await tokens.save(device!.id, { role, token: deviceToken, scopes });
      }
      await open(await traded(credentials, device, tokens));
    } catch (error) {
      if (isPairingNeeded(error) || isUnauthorized(error) || credentials.code) return state.set(refusedState(error, device, tried));
      state.set({ kind: "lost", message: failureText(error), retryAt: Date.now() + RETRY_MS });
      setTimeout(() => state.value.kind === "lost" && void login(credentials), RETRY_MS);
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
    on: listeners.on,
    onFresh: listeners.onFresh,
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
