import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Frames } from "./script.ts";

/** What the server does with one request. */
export type Behaviour =
  /** A stream, cut into pieces of `bytes` when given. */
  | { readonly kind: "stream"; readonly frames: Frames; readonly bytes?: number; readonly contentType?: string; readonly gapMs?: number }
  | { readonly kind: "status"; readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** The connection is reset before the head of the answer, or after these frames. */
  | { readonly kind: "reset"; readonly after?: Frames }
  /** The connection ends regularly after these frames. */
  | { readonly kind: "cut"; readonly after: Frames }
  /** These frames, then comments for ever. */
  | { readonly kind: "stall"; readonly after: Frames; readonly keepAliveMs?: number }
  /** Takes the request and says nothing. */
  | { readonly kind: "silent" };

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A behaviour, or what finds it when the request is known. */
export type Play = Behaviour | ((request: ReceivedRequest) => Behaviour);

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** The next requests are answered so, in order; the last stays. */
  play(...behaviours: readonly Play[]): void;
  /** Resolves when a request was aborted by its sender. */
  readonly aborted: Promise<void>;
}

/** A model provider over a real socket that does what a test tells it. `onHang`: from now on it says nothing of use about a request. */
export async function startModelServer(first: Play = { kind: "silent" }, options: { readonly onHang?: () => void } = {}): Promise<ModelServer> {
  const requests: ReceivedRequest[] = [];
  let queue: Play[] = [first];
  const aborted = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    void collect(request).then((body) => {
      const received: ReceivedRequest = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body };
      requests.push(received);
      response.once("close", () => {
        if (!response.writableFinished) aborted.resolve();
      });
      const play = queue.length > 1 ? queue.shift()! : queue[0]!;
      const behaviour = behaviourOf(play, received);
      const hangs = behaviour.kind === "silent" || behaviour.kind === "stall";
      return answer(behaviour, response, timers).then(() => (hangs ? options.onHang?.() : undefined));
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play(...behaviours) {
      queue = [...behaviours];
    },
    aborted: aborted.promise,
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function behaviourOf(play: Play, request: ReceivedRequest): Behaviour {
  return typeof play === "function" ? play(request) : play;
}

async function collect(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

const HEAD = { "content-type": "text/event-stream", "x-request-id": "req_test" };

async function answer(behaviour: Behaviour, response: ServerResponse, timers: Set<NodeJS.Timeout>): Promise<void> {
  switch (behaviour.kind) {
    case "silent":
      return;
    case "status": {
      const { body = "" } = behaviour;
      response.writeHead(behaviour.status, { "content-type": typeof body === "string" ? "text/plain" : "application/json", ...behaviour.headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
      return;
    }
    case "reset":
      if (behaviour.after) {
        response.writeHead(200, HEAD);
        for (const frame of behaviour.after) await write(response, frame);
      }
      response.socket?.resetAndDestroy();
      return;
    case "cut":
      response.writeHead(200, HEAD);
      for (const frame of behaviour.after) await write(response, frame);
      response.end();
      return;
    case "stall": {
      response.writeHead(200, HEAD);
      for (const frame of behaviour.after) await write(response, frame);
      timers.add(setInterval(() => response.write(": keep-alive\n\n"), behaviour.keepAliveMs ?? 5));
      return;
    }
    case "stream":
      response.writeHead(200, { ...HEAD, ...(behaviour.contentType ? { "content-type": behaviour.contentType } : {}) });
      await stream(behaviour, response);
      response.end();
  }
}

async function stream({ frames, bytes, gapMs }: Extract<Behaviour, { kind: "stream" }>, response: ServerResponse): Promise<void> {
  const pieces = bytes === undefined ? frames : split(Buffer.from(frames.join("")), bytes);
  for (const piece of pieces) {
    await write(response, piece);
    // Without a pause the pieces would arrive as one.
    if (bytes !== undefined) await new Promise((resolve) => setImmediate(resolve));
    if (gapMs !== undefined) await new Promise((resolve) => setTimeout(resolve, gapMs));
  }
}

function split(all: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.subarray(at * size, (at + 1) * size));
}

function write(response: ServerResponse, piece: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) resolve();
    else response.write(piece, () => resolve());
  });
}
