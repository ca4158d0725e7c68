import { once } from "node:events";
import { WebSocket, type ClientOptions } from "ws";

export interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly ok?: boolean;
  readonly event?: string;
  readonly seq?: number;
  readonly stateVersion?: { readonly presence: number; readonly health: number };
  readonly payload?: { readonly [key: string]: unknown };
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details?: unknown;
    readonly retryable?: boolean;
    readonly retryAfterMs?: number;
  };
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** A WebSocket that speaks frames and nothing else: no reconnect, no checks, every frame kept. */
export interface RawClient extends AsyncDisposable {
  readonly ws: WebSocket;
  /** Everything that came, in order. */
  readonly frames: readonly Frame[];
  /** The first frame, past or future, that fits. Rejects when the connection ends first. */
  next(fits: (frame: Frame) => boolean): Promise<Frame>;
  event(name: string): Promise<Frame>;
  /** Sends text as it is. */
  send(text: string | Buffer): void;
  /** Sends a request and waits for the answer that is not `accepted`. */
  request(method: string, params?: unknown, id?: string): Promise<Frame>;
  /** Sends `connect` after the challenge and gives the answer. */
  connect(params?: Record<string, unknown>): Promise<Frame>;
  readonly closed: Promise<Closed>;
}

interface Waiting {
  readonly fits: (frame: Frame) => boolean;
  readonly resolve: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
}

/** Parameters of `connect` that pass every schema check. */
export const CONNECT: Record<string, unknown> = {
  minProtocol: 3,
  maxProtocol: 3,
  client: { id: "test", mode: "test", version: "1.0.0", platform: "linux" },
  role: "operator",
  scopes: ["operator.admin"],
};

/** Opens a socket to a gateway's `http:` or `ws:` address; rejects when the upgrade is refused. */
export async function openClient(url: string, options: ClientOptions = {}): Promise<RawClient> {
  const ws = new WebSocket(url.replace(/^http/, "ws"), { perMessageDeflate: false, ...options });
  const frames: Frame[] = [];
  const waiting = new Set<Waiting>();
  const closed = Promise.withResolvers<Closed>();
  let count = 0;

  ws.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString("utf8")) as Frame;
    frames.push(frame);
    for (const wait of waiting) {
      if (!wait.fits(frame)) continue;
      waiting.delete(wait);
      wait.resolve(frame);
    }
  });
  ws.on("close", (code, reason) => {
    closed.resolve({ code, reason: reason.toString("utf8") });
    for (const wait of waiting) wait.reject(new Error(`closed ${code} ${reason.toString("utf8")}; got ${JSON.stringify(frames).slice(0, 500)}`));
  });

  function next(fits: (frame: Frame) => boolean): Promise<Frame> {
    const found = frames.find(fits);
    if (found) return Promise.resolve(found);
    const { promise, resolve, reject } = Promise.withResolvers<Frame>();
    waiting.add({ fits, resolve, reject });
    if (ws.readyState === WebSocket.CLOSED) reject(new Error("the connection is closed"));
    return promise;
  }

  const client: RawClient = {
    ws,
    frames,
    next,
    event: (name) => next((frame) => frame.event === name),
    send: (text) => ws.send(text),
    request(method, params, id = `r${(count += 1)}`) {
      ws.send(JSON.stringify({ type: "req", id, method, ...(params === undefined ? {} : { params }) }));
      return next((frame) => frame.type === "res" && frame.id === id && (frame.payload as { status?: string } | undefined)?.status !== "accepted");
    },
    async connect(params = {}) {
      await client.event("connect.challenge");
      return client.request("connect", { ...CONNECT, ...params });
    },
    closed: closed.promise,
    async [Symbol.asyncDispose]() {
      ws.terminate();
      if (ws.readyState !== WebSocket.CLOSED) await once(ws, "close");
    },
  };
  ws.on("error", () => {});
  await once(ws, "open");
  return client;
}
