/** A platform over real sockets: HTTP and WebSocket on one port, a log of what was asked, and faults. */
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocketServer, type WebSocket } from "ws";
import { loadHttp } from "../../base/builtin.ts";
import { createFaults, type Fault, type Faults } from "./faults.ts";
import { readMultipart, type SentPart } from "./multipart.ts";

/** A request as it came over the socket. */
export interface Asked {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  /** The body as JSON or form; an empty object where it is neither. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly parts: readonly SentPart[];
  readonly at: number;
  /** Fires when the connection is over, answered or not: for answers that take long. */
  readonly gone: AbortSignal;
}

export interface Answer {
  readonly status?: number | undefined;
  /** Sent as JSON; a text or bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Writes an answer that does not end, such as a stream of events. */
  readonly stream?: ((response: ServerResponse) => void) | undefined;
  /** Nothing is answered: the connection is reset, or stays open. */
  readonly cut?: "reset" | "silent" | undefined;
}

export interface FakeServerOptions {
  /** Undefined: 404. */
  handle(asked: Asked): Answer | undefined | Promise<Answer | undefined>;
  /** A WebSocket was opened. Without this, upgrades are refused. */
  socket?(socket: FakeSocket, asked: Asked): void;
  /** Whether an upgrade may pass; a status refuses it. */
  upgrade?(asked: Asked): number | undefined;
}

export interface FakeSocket {
  /** Sends JSON, or a text as it is. */
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  onClose(listener: (code: number) => void): void;
  close(code: number, reason?: string): void;
  /** Sends a ping frame. */
  ping(): void;
  /** Breaks the connection without a word. */
  reset(): void;
  /** Nothing is read or sent any more, and the connection stays open. */
  freeze(): void;
  readonly isOpen: boolean;
}

export interface FakeServer extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly asked: readonly Asked[];
  readonly faults: Faults;
  readonly sockets: readonly FakeSocket[];
  /** Connections of any kind that are open. */
  readonly connections: number;
  /** Resets every connection. */
  drop(): void;
  /** Half-open: connections that are open stay so, and nothing goes over them any more. New ones work. */
  freeze(): void;
  /** Credentials are gone: WebSockets are reset, and every request and upgrade is answered with this and has no effect. Default: 401. */
  revoke(answer?: Answer): void;
  /** Credentials are good again. */
  restore(): void;
  /** Not reachable from now on. */
  close(): Promise<void>;
  /** Reachable again, on the same port. */
  open(): Promise<void>;
}

const REVOKED: Answer = { status: 401, body: { error: "these credentials were revoked" } };

async function collect(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function fieldsIn(contentType: string, body: Buffer): Readonly<Record<string, unknown>> {
  if (contentType.includes("x-www-form-urlencoded")) return Object.fromEntries(new URLSearchParams(body.toString("utf8")));
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function describe(request: IncomingMessage, body: Buffer, connection: Socket | ServerResponse): Asked {
  const gone = new AbortController();
  connection.once("close", () => gone.abort());
  const url = new URL(request.url ?? "/", "http://localhost");
  const type = request.headers["content-type"] ?? "";
  return {
    method: request.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body,
    fields: fieldsIn(type, body),
    parts: type.startsWith("multipart/") ? readMultipart(type, body) : [],
    at: Date.now(),
    gone: gone.signal,
  };
}

function write(response: ServerResponse, { status = 200, body = {}, headers = {}, stream, cut }: Answer): void {
  if (cut === "silent" || response.destroyed) return;
  if (cut === "reset") return void response.socket?.resetAndDestroy();
  if (stream) {
    response.writeHead(status, headers);
    response.flushHeaders();
    return stream(response);
  }
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  response.writeHead(status, { "content-type": isRaw ? "application/octet-stream" : "application/json", ...headers });
  response.end(status === 204 ? undefined : isRaw ? body : JSON.stringify(body));
}

/** The request with its fault: the effect comes first, where it has one. */
async function respond(asked: Asked, fault: Fault | undefined, handle: FakeServerOptions["handle"], response: ServerResponse): Promise<void> {
  if (fault?.delayMs !== undefined) await delay(fault.delayMs);
  const isBroken = fault !== undefined && (fault.status !== undefined || fault.reset === true || fault.silent === true || fault.garbage === true);
  const answer = !isBroken || fault.applied === true ? ((await handle(asked)) ?? { status: 404, body: { error: "not here" } }) : {};
  if (fault?.reset === true) return write(response, { cut: "reset" });
  if (fault?.silent === true) return write(response, { cut: "silent" });
  if (fault?.garbage === true) return write(response, { body: "<html>502 Bad Gateway" });
  if (fault?.status !== undefined) return write(response, { status: fault.status, body: fault.body ?? {}, headers: fault.headers });
  write(response, answer);
}

function fakeSocketOf(socket: WebSocket, raw: Socket): FakeSocket {
  let isFrozen = false;
  return {
    send(message) {
      if (!isFrozen) socket.send(typeof message === "string" ? message : JSON.stringify(message));
    },
    onMessage: (listener) =>
      void socket.on("message", (data: Buffer) => {
        if (!isFrozen) listener(JSON.parse(data.toString("utf8")));
      }),
    onClose: (listener) => void socket.on("close", listener),
    close: (code, reason) => socket.close(code, reason),
    ping() {
      if (!isFrozen) socket.ping();
    },
    reset: () => raw.resetAndDestroy(),
    freeze() {
      isFrozen = true;
      raw.pause();
    },
    get isOpen() {
      return socket.readyState === socket.OPEN;
    },
  };
}

function freezeAll(raw: ReadonlySet<Socket>, sockets: readonly FakeSocket[]): void {
  for (const socket of sockets) socket.freeze();
  for (const connection of raw) connection.pause();
}

export async function startFakeServer({ handle, socket: opened, upgrade }: FakeServerOptions): Promise<FakeServer> {
  const asked: Asked[] = [];
  const faults = createFaults();
  const raw = new Set<Socket>();
  let sockets: FakeSocket[] = [];
  let server: Server | undefined;
  let refusal: Answer | undefined;
  let port = 0;

  function listen(request: IncomingMessage, response: ServerResponse): void {
    void (async () => {
      const seen = describe(request, await collect(request), response);
      asked.push(seen);
      if (refusal) return write(response, refusal);
      await respond(seen, faults.take(`${seen.method} ${seen.path}`), handle, response);
    })().catch(() => response.socket?.destroy());
  }

  function takeUpgrade(webSockets: WebSocketServer, request: IncomingMessage, connection: Socket, head: Buffer): void {
    const seen = describe(request, Buffer.alloc(0), connection);
    asked.push(seen);
    const status = refusal ? (refusal.status ?? 401) : opened ? upgrade?.(seen) : 404;
    if (status !== undefined || !opened) return void connection.end(`HTTP/1.1 ${status ?? 404} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    webSockets.handleUpgrade(request, connection, head, (webSocket) => {
      const socket = fakeSocketOf(webSocket, connection);
      webSocket.on("error", () => undefined);
      webSocket.on("close", () => (sockets = sockets.filter((other) => other !== socket)));
      sockets.push(socket);
      opened(socket, seen);
    });
  }

  const drop = (): void => raw.forEach((connection) => void connection.resetAndDestroy());

  async function open(): Promise<void> {
    const webSockets = new WebSocketServer({ noServer: true });
    server = loadHttp().createServer({ keepAliveTimeout: 60_000 }, listen);
    server.on("connection", (connection) => {
      raw.add(connection);
      connection.on("error", () => undefined);
      connection.once("close", () => raw.delete(connection));
    });
    server.on("upgrade", (request, connection, head) => takeUpgrade(webSockets, request, connection as Socket, head));
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  }

  async function close(): Promise<void> {
    const closing = server;
    server = undefined;
    if (!closing) return;
    const closed = once(closing, "close");
    closing.close();
    drop();
    await closed;
  }

  await open();
  return {
    get port() {
      return port;
    },
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    get sockets() {
      return sockets;
    },
    get connections() {
      return raw.size;
    },
    asked,
    faults,
    drop,
    freeze: () => freezeAll(raw, sockets),
    revoke(answer = REVOKED) {
      refusal = answer;
      for (const socket of sockets) socket.reset();
    },
    restore: () => void (refusal = undefined),
    open,
    close,
    [Symbol.asyncDispose]: close,
  };
}
