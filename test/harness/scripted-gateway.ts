import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";

/** A request as it came. */
export interface Asked {
  readonly id: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** One connection of a scripted gateway. */
export interface Visitor {
  readonly socket: WebSocket;
  readonly asked: readonly Asked[];
  /** The next request that was not taken yet. */
  take(): Promise<Asked>;
  send(frame: unknown): void;
  answer(asked: Asked, payload: unknown): void;
  refuse(asked: Asked, error: { readonly code: string; readonly message: string; readonly details?: unknown }): void;
  /** Takes `connect` and lets the client in. */
  welcome(over?: Record<string, unknown>): Promise<Asked>;
}

/** A WebSocket server that does what the test tells it, frame by frame. */
export interface ScriptedGateway extends AsyncDisposable {
  readonly url: string;
  /** The next client that connects; it has got its challenge, unless `challenge` is off. */
  visitor(): Promise<Visitor>;
  readonly visits: number;
}

export const NONCE = "11111111-2222-4333-8444-555555555555";

export function helloOk(over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: "hello-ok",
    protocol: 3,
    server: { version: "1.0.0", connId: "c1" },
    features: { methods: [], events: [] },
    snapshot: { presence: [], health: {}, stateVersion: { presence: 1, health: 1 }, uptimeMs: 1 },
    policy: { maxPayload: 26_214_400, maxBufferedBytes: 52_428_800, tickIntervalMs: 30_000 },
    ...over,
  };
}

/** A queue that can be awaited: an item goes to the first waiter, or stays until there is one. */
function createLine<T>(): { put(item: T): void; take(): Promise<T> } {
  const items: T[] = [];
  const waiting: ((item: T) => void)[] = [];
  return {
    put(item) {
      const next = waiting.shift();
      if (next) next(item);
      else items.push(item);
    },
    take() {
      const item = items.shift();
      if (item !== undefined) return Promise.resolve(item);
      const { promise, resolve } = Promise.withResolvers<T>();
      waiting.push(resolve);
      return promise;
    },
  };
}

function createVisitor(socket: WebSocket): Visitor {
  const asked: Asked[] = [];
  const line = createLine<Asked>();
  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString("utf8")) as Asked;
    asked.push(frame);
    line.put(frame);
  });
  const visitor: Visitor = {
    socket,
    asked,
    take: () => line.take(),
    send: (frame) => socket.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
    answer: ({ id }, payload) => visitor.send({ type: "res", id, ok: true, payload }),
    refuse: ({ id }, error) => visitor.send({ type: "res", id, ok: false, error }),
    async welcome(over) {
      const connect = await visitor.take();
      visitor.answer(connect, helloOk(over));
      return connect;
    },
  };
  return visitor;
}

export async function startScripted({ challenge = true }: { readonly challenge?: boolean } = {}): Promise<ScriptedGateway> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const line = createLine<Visitor>();
  let visits = 0;
  server.on("connection", (socket) => {
    visits += 1;
    const visitor = createVisitor(socket);
    if (challenge) visitor.send({ type: "event", event: "connect.challenge", payload: { nonce: NONCE, ts: 1_700_000_000_123 } });
    line.put(visitor);
  });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    visitor: () => line.take(),
    get visits() {
      return visits;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, "close");
    },
  };
}
