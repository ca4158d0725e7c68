import { AppError } from "../../base/errors.ts";
import type { EventName, EventPayload, MethodName, MethodParams, MethodResult } from "../catalog.ts";
import type { HelloOk } from "../connect.ts";
import type { EventFrame } from "../frames.ts";
import { CLOSE, LIMITS } from "../limits.ts";
import { openConnection, type Connection, type Credentials } from "./connection.ts";
import { createEvents, createSequence, type StreamOptions } from "./events.ts";
import type { ConnectOptions, ReconnectOptions } from "./options.ts";
import { platformClock, type ClientClock, type OpenSocket } from "./ports.ts";
import { closedError, isFinal, isTokenMismatch } from "./refusal.ts";
import { createTexts } from "./texts.ts";
import { createRequests, type RequestOptions } from "./requests.ts";

/** Sockets of the platform: every browser has them. */
const openWebSocket: OpenSocket = (url, handlers) => {
  const socket = new WebSocket(url);
  socket.addEventListener("open", () => handlers.onOpen());
  socket.addEventListener("message", ({ data }: { readonly data: unknown }) => {
    if (typeof data === "string") handlers.onText(data);
  });
  socket.addEventListener("close", ({ code, reason }) => handlers.onClose(code, reason));
  return { send: (text) => socket.send(text), close: (code, reason) => socket.close(code, reason) };
};

/** Gives a silent connection up: two intervals without anything from the gateway, which ticks once in each. */
function watchTicks(deps: { readonly clock: ClientClock; readonly intervalMs: number; readonly onSilence: () => void }) {
  const { clock, intervalMs, onSilence } = deps;
  let heard = clock.monotonic();
  let timer: Disposable | undefined;

  function arm(ms: number): void {
    timer = clock.after(ms, () => {
      const left = heard + 2 * intervalMs - clock.monotonic();
      if (left <= 0) onSilence();
      else arm(left);
    });
  }
  arm(2 * intervalMs);
  return {
    heard: (): void => void (heard = clock.monotonic()),
    [Symbol.dispose]: (): void => timer?.[Symbol.dispose](),
  };
}

/** The wait before try number `attempt` (from 0): doubled each time up to the maximum, less up to half of it, so that clients do not come all at once. */
export function backOff(attempt: number, { firstMs = 500, maxMs = 30_000 }: ReconnectOptions, random: () => number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30));
  return Math.round(full * (1 - random() / 2));
}

const SCHEMES: Readonly<Record<string, string>> = { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" };

function isLoopbackName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/** The WebSocket address of a gateway. Throws for what is none, and for one whose secrets would cross a network in the clear. */
export function socketAddress(given: string, allowInsecure: boolean): string {
  let url: URL;
  try {
    url = new URL(given);
  } catch (error) {
    throw new AppError("INVALID_INPUT", `"${given}" is not an address; expected one like ws://127.0.0.1:18789 or wss://host.example`, { cause: error });
  }
  const scheme = SCHEMES[url.protocol];
  if (scheme === undefined) throw new AppError("INVALID_INPUT", `expected ws:// or wss://, not ${url.protocol}// in "${given}"`);
  if (url.username || url.password)
    throw new AppError("INVALID_INPUT", "a gateway's address may not contain a user or password; pass the token or password separately");
  if (scheme === "ws:" && !allowInsecure && !isLoopbackName(url.hostname)) {
    throw new AppError(
      "INVALID_INPUT",
      `ws:// to ${url.host} would send secrets unencrypted; use wss://, or a tunnel to this machine (ssh -L 18789:127.0.0.1:18789 user@${url.hostname})`,
    );
  }
  url.protocol = scheme;
  url.hash = "";
  return url.href;
}

/** A gateway as a program sees it: it stays the same over lost connections. */
export interface GatewayClient extends AsyncDisposable {
  /** Of the connection now, or of the last one. */
  readonly hello: HelloOk;
  readonly state: "open" | "reconnecting" | "closed";
  /** Sends a request. While there is no connection it waits for one, as long as its time lasts. */
  request<M extends MethodName>(method: M, params: MethodParams<M>, options?: RequestOptions): Promise<MethodResult<M>>;
  /** The same for methods that are known at run time only. */
  call(method: string, params?: unknown, options?: RequestOptions): Promise<unknown>;
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>, frame: EventFrame) => void): Disposable;
  /** Events of one name from this call on, over reconnects, until the client is closed. */
  events<E extends EventName>(event: E, options?: StreamOptions): AsyncIterableIterator<EventPayload<E>>;
  /** Resolves when the client is closed for good; with the reason, unless it was asked to. */
  readonly closed: Promise<AppError | undefined>;
  close(): void;
}

/** Credentials of the next try: the stored device token, or what the program was given. */
async function chooseCredentials({
  token,
  password,
  prefer,
  device,
  deviceTokens,
  role = "operator",
}: ConnectOptions): Promise<Credentials & { stored: boolean }> {
  const given = token !== undefined || password !== undefined;
  const kept = device && deviceTokens && (prefer === "stored" || !given) ? await deviceTokens.load(device.id, role) : undefined;
  return kept === undefined ? { token, password, stored: false } : { token: kept, stored: true };
}

/** One connection with the best credentials there are. A device token the gateway no longer knows is forgotten, and the others are tried. */
async function openWith(options: ConnectOptions, deps: Omit<Parameters<typeof openConnection>[0], "credentials" | "options">): Promise<Connection> {
  const { device, deviceTokens, role = "operator" } = options;
  const { stored, ...credentials } = await chooseCredentials(options);
  let connection: Connection;
  try {
    connection = await openConnection({ ...deps, options, credentials });
  } catch (error) {
    if (!device || !deviceTokens || !isTokenMismatch(error)) throw error;
    await deviceTokens.forget(device.id, role);
    if (!stored || (options.token === undefined && options.password === undefined)) throw error;
    const { token, password } = options;
    connection = await openConnection({ ...deps, options, credentials: { token, password } });
  }
  const granted = connection.hello.auth;
  if (device && deviceTokens && granted) {
    await deviceTokens.save(device.id, { role: granted.role, token: granted.deviceToken, scopes: granted.scopes });
  }
  return connection;
}

/** Keeps one connection at a time; tells what comes over it and when it is lost or there again. */
function createSession(options: ConnectOptions, clock: ClientClock) {
  const requests = createRequests({ clock, timeoutMs: options.requestTimeoutMs ?? 30_000 });
  const events = createEvents();
  for (const [event, listener] of Object.entries(options.listeners ?? {})) events.on(event, listener as (payload: unknown) => void);
  const missed = (gap: { readonly expected: number; readonly received: number }): void => {
    options.onGap?.(gap);
    options.onStale?.({ kind: "gap", ...gap });
  };
  const sequence = createSequence(missed);
  const texts = createTexts(missed);
  let connection: Connection | undefined;
  let watch: ReturnType<typeof watchTicks> | undefined;

  return {
    requests,
    events,
    get hello() {
      return connection?.hello;
    },
    async open(onLost: (error: AppError) => void): Promise<HelloOk> {
      sequence.reset();
      texts.reset();
      let lost: AppError | undefined;
      let attached = false;
      const next = await openWith(options, {
        url: socketAddress(options.url, options.allowInsecure ?? false),
        clock,
        openSocket: options.openSocket ?? openWebSocket,
        onFrame(frame) {
          watch?.heard();
          if (frame.type === "res") return requests.answer(frame);
          sequence.take(frame.seq);
          for (const each of texts.take(frame)) events.emit(each);
        },
        onClose(error) {
          lost = error;
          if (!attached) return;
          watch?.[Symbol.dispose]();
          requests.detach(error);
          onLost(error);
        },
      });
      if (lost) throw lost;
      attached = true;
      connection = next;
      const intervalMs = next.hello.policy.tickIntervalMs || LIMITS.tickIntervalMs;
      watch = watchTicks({ clock, intervalMs, onSilence: () => next.close(CLOSE.tickTimeout, "tick timeout") });
      requests.attach(next.send);
      return next.hello;
    },
    end(error: AppError, code: number = CLOSE.normal): void {
      watch?.[Symbol.dispose]();
      requests.end(error);
      events.end();
      connection?.close(code, "");
    },
  };
}

const asError = (error: unknown): AppError => (error instanceof AppError ? error : new AppError("UNAVAILABLE", String(error), { cause: error }));

/** Connects to a gateway. Rejects when the first connection fails; later ones are made again by themselves, unless a person has to help. */
export async function connect(options: ConnectOptions): Promise<GatewayClient> {
  const { clock = platformClock, random = Math.random, reconnect = {} } = options;
  const session = createSession(options, clock);
  const closed = Promise.withResolvers<AppError | undefined>();
  let state: GatewayClient["state"] = "reconnecting";
  let attempt = 0;
  let retry: Disposable | undefined;

  function finish(error?: AppError): void {
    if (state === "closed") return;
    state = "closed";
    retry?.[Symbol.dispose]();
    session.end(error ?? closedError(CLOSE.normal, "closed by this program"));
    closed.resolve(error);
  }

  function lost(error: AppError): void {
    if (state === "closed") return;
    const over = reconnect === false || isFinal(error);
    const retryInMs = over ? undefined : backOff(attempt, reconnect, random);
    options.onLost?.({ error, retryInMs });
    if (retryInMs === undefined) return finish(error);
    state = "reconnecting";
    attempt += 1;
    retry = clock.after(retryInMs, () => void again());
  }

  async function again(): Promise<void> {
    try {
      const hello = await session.open(lost);
      if (state === "closed") return session.end(closedError(CLOSE.normal, "closed by this program"));
      attempt = 0;
      state = "open";
      options.onStale?.({ kind: "reconnected", hello });
    } catch (error) {
      lost(asError(error));
    }
  }

  const first = await session.open(lost);
  state = "open";
  return {
    get hello() {
      return session.hello ?? first;
    },
    get state() {
      return state;
    },
    request: (method, params, request = {}) => session.requests.call(method, params, request) as Promise<MethodResult<typeof method>>,
    call: (method, params, request = {}) => session.requests.call(method, params, request),
    on: (event, listener) => session.events.on(event, listener as (payload: unknown, frame: EventFrame) => void),
    events: (event, stream) => session.events.stream(event, stream) as AsyncIterableIterator<EventPayload<typeof event>>,
    closed: closed.promise,
    close: () => finish(),
    [Symbol.asyncDispose]: async () => finish(),
  };
}
