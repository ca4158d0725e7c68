/** How events reach the app: envelopes over its sockets, acknowledged one by one, or signed requests to its address. */
import { createHmac, randomUUID } from "node:crypto";
import type { FakeSocket } from "../../../src/plugin-testing/index.ts";

/** The last one is of a kind that Slack may bring some day. */
export type EnvelopeType = "events_api" | "slash_commands" | "interactive" | "future_kind";

export interface Delivered {
  readonly type: EnvelopeType;
  readonly payload: Readonly<Record<string, unknown>>;
  attempts: number;
  isAcked: boolean;
  /** What came with the acknowledgement. */
  answer?: unknown;
}

export interface HttpMode {
  readonly url: string;
  readonly secret: string;
}

export interface Delivery {
  /** A socket was opened with a valid address. */
  joined(socket: FakeSocket): void;
  deliver(type: EnvelopeType, payload: Readonly<Record<string, unknown>>): Delivered;
  /** Brings something again, although it was acknowledged. */
  again(delivered: Delivered): void;
  /** What is delivered by it goes out at its end, the last first. */
  lastFirst(act: () => void): void;
  disconnect(reason: string): void;
  /** The sockets stay open, and nothing goes over them any more. */
  freeze(): void;
  /** Events go to this address from now on; undefined: to sockets. */
  useHttp(mode: HttpMode | undefined): void;
  /** What was not acknowledged is not brought again: Slack gives up some time. */
  giveUp(): void;
  /** Sockets that have been greeted and not asked to go. */
  readonly open: number;
  readonly all: readonly Delivered[];
  /** Answers to signed requests. */
  readonly posts: readonly { readonly status: number; readonly body: string }[];
  close(): void;
}

const MAX_SOCKETS = 10;
/** How long a socket that has to go stays open. */
const CLOSE_MS = 5000;

/** `v0=` and the HMAC of `v0:<time>:<body>`. */
export function signature(secret: string, seconds: number | string, body: string): string {
  return `v0=${createHmac("sha256", secret).update(`v0:${seconds}:${body}`).digest("hex")}`;
}

export interface SignedPost {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request as Slack sends it to the app's address. */
export function signedPost({ url, secret }: HttpMode, type: EnvelopeType, payload: Readonly<Record<string, unknown>>, now = Date.now()): SignedPost {
  const isJson = type === "events_api";
  const form =
    type === "interactive" ? { payload: JSON.stringify(payload) } : Object.fromEntries(Object.entries(payload).map(([key, value]) => [key, String(value)]));
  const body = isJson ? JSON.stringify(payload) : new URLSearchParams(form).toString();
  const seconds = Math.floor(now / 1000);
  return {
    url,
    body,
    headers: {
      "content-type": isJson ? "application/json" : "application/x-www-form-urlencoded",
      "x-slack-request-timestamp": String(seconds),
      "x-slack-signature": signature(secret, seconds, body),
    },
  };
}

export function createDelivery(options: { readonly appId: string; readonly ackMs: number; readonly pingMs: number }): Delivery {
  const all: Delivered[] = [];
  const posts: { status: number; body: string }[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const envelopes = new Map<string, Delivered>();
  let sockets: FakeSocket[] = [];
  let leaving = new Set<FakeSocket>();
  let http: HttpMode | undefined;
  let held: Delivered[] | undefined;

  function later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, ms);
    timer.unref();
    timers.add(timer);
  }

  const usable = (): FakeSocket | undefined => sockets.find((socket) => socket.isOpen && !leaving.has(socket)) ?? sockets.find((socket) => socket.isOpen);

  function overSocket(delivered: Delivered): void {
    const socket = usable();
    if (!socket) return;
    const id = randomUUID();
    envelopes.set(id, delivered);
    const retry = delivered.attempts > 0 ? { retry_attempt: delivered.attempts, retry_reason: "timeout" } : { retry_attempt: 0, retry_reason: "" };
    delivered.attempts += 1;
    socket.send({ envelope_id: id, type: delivered.type, payload: delivered.payload, accepts_response_payload: delivered.type !== "events_api", ...retry });
    later(options.ackMs, () => {
      if (!delivered.isAcked && delivered.attempts <= 3) send(delivered);
    });
  }

  async function overHttp(delivered: Delivered, mode: HttpMode): Promise<void> {
    const { url, body, headers } = signedPost(mode, delivered.type, delivered.payload);
    const retry = delivered.attempts > 0 ? { "x-slack-retry-num": String(delivered.attempts), "x-slack-retry-reason": "http_error" } : {};
    delivered.attempts += 1;
    try {
      const response = await fetch(url, { method: "POST", body, headers: { ...headers, ...retry } });
      posts.push({ status: response.status, body: await response.text() });
      delivered.isAcked ||= response.ok;
    } catch {
      // Not reachable: tried again like a refusal.
    }
    if (!delivered.isAcked && delivered.attempts <= 3) later(200, () => send(delivered));
  }

  function send(delivered: Delivered): void {
    if (http) void overHttp(delivered, http);
    else overSocket(delivered);
  }

  function take(message: unknown): void {
    const { envelope_id: id, payload } = message as { envelope_id?: unknown; payload?: unknown };
    const delivered = envelopes.get(String(id));
    if (!delivered) return;
    delivered.isAcked = true;
    // Official clients always send one, empty where there is nothing to answer.
    if (typeof payload === "object" && payload !== null && Object.keys(payload).length > 0) delivered.answer = payload;
  }

  function ping(socket: FakeSocket): void {
    if (!socket.isOpen) return;
    socket.ping();
    later(options.pingMs, () => ping(socket));
  }

  return {
    joined(socket) {
      if (sockets.filter(({ isOpen }) => isOpen).length >= MAX_SOCKETS) {
        socket.send({ type: "disconnect", reason: "too_many_websockets", debug_info: { host: "fake" } });
        return socket.close(1000);
      }
      sockets.push(socket);
      socket.onMessage(take);
      socket.onClose(() => {
        sockets = sockets.filter((other) => other !== socket);
        leaving.delete(socket);
      });
      socket.send({
        type: "hello",
        num_connections: sockets.length,
        connection_info: { app_id: options.appId },
        debug_info: { host: "fake", started: new Date().toISOString(), build_number: 1, approximate_connection_time: 18_060 },
      });
      ping(socket);
      for (const delivered of all) if (!delivered.isAcked) send(delivered);
    },
    deliver(type, payload) {
      const delivered: Delivered = { type, payload, attempts: 0, isAcked: false };
      all.push(delivered);
      if (held) held.push(delivered);
      else send(delivered);
      return delivered;
    },
    lastFirst(act) {
      const events: Delivered[] = (held = []);
      act();
      held = undefined;
      for (const delivered of events.toReversed()) send(delivered);
    },
    freeze() {
      for (const socket of sockets) socket.freeze();
      sockets = [];
    },
    again(delivered) {
      delivered.isAcked = false;
      send(delivered);
    },
    disconnect(reason) {
      for (const socket of sockets) {
        socket.send({ type: "disconnect", reason, debug_info: { host: "fake" } });
        leaving.add(socket);
        if (reason !== "warning") later(CLOSE_MS, () => socket.isOpen && socket.close(1000));
      }
    },
    useHttp(mode) {
      http = mode;
    },
    giveUp() {
      for (const delivered of all) delivered.isAcked = true;
    },
    get open() {
      return sockets.filter((socket) => socket.isOpen && !leaving.has(socket)).length;
    },
    all,
    posts,
    close() {
      for (const timer of timers) clearTimeout(timer);
      leaving = new Set();
    },
  };
}
