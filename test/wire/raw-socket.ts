import { createHash } from "node:crypto";
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import type { TestDevice } from "../harness/auth.ts";
import { connectParams } from "../harness/auth.ts";
import { clientFrame, createFrameReader, OPCODE, type FrameOptions, type ServerFrame } from "./frame.ts";

/** Less than a test has: what is waited for in vain is then named. */
const PATIENCE_MS = 40_000;
const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT = createHash("sha1").update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");

/** What an upgrade request consists of; a test replaces or drops what it is about. */
export const UPGRADE: Readonly<Record<string, string>> = {
  host: "127.0.0.1",
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": KEY,
};

export function upgradeRequest(over: Readonly<Record<string, string | undefined>> = {}, line = "GET / HTTP/1.1"): string {
  const headers = Object.entries({ ...UPGRADE, ...over }).filter(([, value]) => value !== undefined);
  return `${line}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

export interface Answer {
  readonly type: string;
  readonly id?: string;
  readonly ok?: boolean;
  readonly event?: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly message: string };
}

/** How a connection ended: with which close frame, if any. */
export interface End {
  readonly code?: number;
  readonly reason?: string;
}

/** A WebSocket made of nothing but a TCP socket: what is sent is what the test says, byte by byte. */
export interface RawSocket extends Disposable {
  readonly socket: Socket;
  /** Every frame that came, text frames too. */
  readonly frames: readonly ServerFrame[];
  readonly answers: readonly Answer[];
  /** Gets every further frame instead; nothing is kept then. */
  tap: ((frame: ServerFrame) => void) | undefined;
  /** Writes bytes as they are; `pieces` writes them in chunks of so many bytes, each its own write. */
  write(bytes: Buffer | string, pieces?: number): Promise<void>;
  frame(opcode: number, payload?: Buffer | string, options?: FrameOptions): Promise<void>;
  /** The first answer, past or future, that fits. */
  next(fits: (answer: Answer) => boolean): Promise<Answer>;
  response(id: string): Promise<Answer>;
  /** The first `count` pongs. */
  pongs(count: number): Promise<Buffer[]>;
  /** The close frame. Rejects when the socket ends without one. */
  closing: Promise<End>;
  /** The TCP connection is gone; with the close frame that came before. */
  ended: Promise<End>;
}

function patient<T>(promise: Promise<T>, what: string, seen: () => string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what} did not come within ${PATIENCE_MS / 1000} s; got ${seen()}`)), PATIENCE_MS);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

/** More can be written, or nobody reads any more. */
function drained(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("drain", resolve).on("close", resolve);
  return promise.finally(() => socket.off("drain", resolve).off("close", resolve));
}

async function writeAll(socket: Socket, bytes: Buffer, pieces: number): Promise<void> {
  for (let at = 0; at < bytes.length && !socket.destroyed; at += pieces) {
    const more = socket.write(bytes.subarray(at, at + pieces));
    if (!more) await drained(socket);
    // The next turn of the loop: with TCP_NODELAY each chunk is a segment of its own.
    else if (at + pieces < bytes.length) await new Promise(setImmediate);
  }
}

/** Reads the answer to an upgrade request up to the end of its head. */
export async function readHead(socket: Socket): Promise<{ readonly head: string; readonly rest: Buffer }> {
  let data = Buffer.alloc(0);
  const { promise, resolve, reject } = Promise.withResolvers<{ head: string; rest: Buffer }>();
  const onData = (chunk: Buffer): void => {
    data = Buffer.concat([data, chunk]);
    const end = data.indexOf("\r\n\r\n");
    if (end >= 0) resolve({ head: data.toString("latin1", 0, end), rest: data.subarray(end + 4) });
  };
  const onEnd = (): void => reject(new Error(`the socket ended before the head did: ${data.toString("latin1")}`));
  socket.on("data", onData).on("close", onEnd);
  try {
    return await patient(promise, "the head", () => data.toString("latin1"));
  } finally {
    socket.off("data", onData).off("close", onEnd);
  }
}

/** A TCP connection that keeps quiet about resets: a peer that closes on us is what is tested. */
export async function connectTcp(port: number): Promise<Socket> {
  const socket = createConnection({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  socket.on("error", () => {});
  return socket;
}

/** Upgrades and collects; the head's `Sec-WebSocket-Accept` is checked. `early` goes out in the same write as the request. */
export async function openRaw(port: number, headers: Readonly<Record<string, string | undefined>> = {}, early: Buffer = Buffer.alloc(0)): Promise<RawSocket> {
  const socket = await connectTcp(port);
  socket.write(Buffer.concat([Buffer.from(upgradeRequest(headers)), early]));
  const { head, rest } = await readHead(socket);
  if (!head.startsWith("HTTP/1.1 101 ") || !head.includes(ACCEPT)) throw new Error(`the upgrade was refused: ${head}`);
  return collect(socket, rest);
}

function collect(socket: Socket, first: Buffer): RawSocket {
  const frames: ServerFrame[] = [];
  const answers: Answer[] = [];
  const listeners = new Set<() => void>();
  const closing = Promise.withResolvers<End>();
  const ended = Promise.withResolvers<End>();
  let end: End = {};
  closing.promise.catch(() => {});

  const seen = (): string => JSON.stringify(answers).slice(0, 400);
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const read = createFrameReader((frame) => {
    if (raw.tap) return raw.tap(frame);
    // What is kept must not keep the whole chunk it came in.
    frames.push(frame.opcode === OPCODE.text ? { ...frame, payload: Buffer.alloc(0) } : frame);
    if (frame.opcode === OPCODE.text) answers.push(JSON.parse(frame.payload.toString("utf8")) as Answer);
    if (frame.opcode !== OPCODE.close) return;
    end = frame.payload.length < 2 ? {} : { code: frame.payload.readUInt16BE(0), reason: frame.payload.toString("utf8", 2) };
    closing.resolve(end);
  });
  socket.on("data", (chunk: Buffer) => {
    read(chunk);
    tell();
  });
  socket.on("close", () => {
    closing.reject(new Error(`the socket ended without a close frame; got ${seen()}`));
    ended.resolve(end);
    tell();
  });

  function wait<T>(look: () => T | undefined, what: string): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const check = (): void => {
      const found = look();
      if (found !== undefined) resolve(found);
      else if (socket.closed) reject(new Error(`the socket ended before ${what}: ${JSON.stringify(end)}; got ${seen()}`));
    };
    listeners.add(check);
    check();
    return patient(promise, what, seen).finally(() => listeners.delete(check));
  }

  const next = (fits: (answer: Answer) => boolean): Promise<Answer> => wait(() => answers.find(fits), "the answer");
  const raw: RawSocket = {
    socket,
    frames,
    answers,
    tap: undefined,
    write: (bytes, pieces = 1 << 20) => writeAll(socket, typeof bytes === "string" ? Buffer.from(bytes) : bytes, pieces),
    frame: (opcode, payload, options) => writeAll(socket, clientFrame(opcode, payload, options), 1 << 20),
    next,
    response: (id) => next((answer) => answer.type === "res" && answer.id === id),
    pongs(count) {
      const come = (): Buffer[] => frames.filter(({ opcode }) => opcode === OPCODE.pong).map(({ payload }) => payload);
      return wait(() => (come().length >= count ? come() : undefined), `${count} pongs`);
    },
    get closing() {
      return patient(closing.promise, "the close frame", seen);
    },
    get ended() {
      return patient(ended.promise, "the end of the socket", seen);
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
  read(first);
  return raw;
}

/** The `connect` request for a challenge, signed. */
export function connectRequest(device: TestDevice, token: string, nonce: string, id = "connect"): string {
  const params = device.sign(connectParams({ auth: { token }, scopes: ["operator.admin"] }), { now: Date.now(), nonce });
  return JSON.stringify({ type: "req", id, method: "connect", params });
}

export async function nonceOf(raw: RawSocket): Promise<string> {
  const challenge = await raw.next(({ event }) => event === "connect.challenge");
  return String(challenge.payload!["nonce"]);
}
