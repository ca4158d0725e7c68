/** A gateway client that does as little as possible, so that what is measured is the gateway. */
import { createHash, generateKeyPairSync, randomUUID, sign, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";

export interface BenchDevice {
  readonly id: string;
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

export function createDevice(): BenchDevice {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  return { id: createHash("sha256").update(raw).digest("hex"), publicKey: raw.toString("base64url"), privateKey };
}

export interface BenchConnection {
  readonly url: string;
  readonly token: string;
  readonly protocol: number;
  readonly clientId: string;
  readonly clientMode: string;
  readonly device?: BenchDevice | undefined;
  readonly caps?: readonly string[];
  /** An operator with all scopes without it. */
  readonly role?: "node";
  readonly commands?: readonly string[];
  /** False: a connection that gives no sign of life. */
  readonly autoPong?: boolean;
  readonly timeoutMs?: number;
}

interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly ok?: boolean;
  readonly event?: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly message: string };
}

export type EventListener = (event: string, payload: Readonly<Record<string, unknown>>) => void;

export interface Turn {
  /** From `chat.send` to the event that ends it. */
  readonly ms: number;
  readonly ackMs: number;
  readonly firstDeltaMs: number | undefined;
  readonly deltas: number;
}

export interface BenchClient {
  readonly socket: WebSocket;
  readonly hello: Readonly<Record<string, unknown>>;
  on(listener: EventListener): Disposable;
  request(method: string, params?: unknown): Promise<Readonly<Record<string, unknown>>>;
  /** One message and its answer. */
  turn(sessionKey: string, message: string, timeoutMs?: number): Promise<Turn>;
  close(): void;
}

const SCOPES = ["operator.admin", "operator.read", "operator.write", "operator.approvals", "operator.pairing"];

function connectParams(to: BenchConnection, nonce: string | undefined, ts: number): unknown {
  const { protocol, clientId, clientMode, token, device, role = "operator" } = to;
  const scopes = role === "node" ? [] : SCOPES;
  const signed = [nonce ? "v2" : "v1", device?.id, clientId, clientMode, role, scopes.join(","), ts, token, ...(nonce ? [nonce] : [])].join("|");
  return {
    minProtocol: protocol,
    maxProtocol: protocol,
    client: { id: clientId, mode: clientMode, version: "0.0.0", platform: "linux", instanceId: randomUUID() },
    role,
    scopes,
    ...(to.caps ? { caps: to.caps } : {}),
    ...(to.commands ? { commands: to.commands } : {}),
    ...(token ? { auth: { token } } : {}),
    ...(device
      ? {
          device: {
            id: device.id,
            publicKey: device.publicKey,
            signedAt: ts,
            signature: sign(null, Buffer.from(signed), device.privateKey).toString("base64url"),
            ...(nonce ? { nonce } : {}),
          },
        }
      : {}),
  };
}

/** Connects and goes through the handshake. */
export async function connectBench(to: BenchConnection): Promise<BenchClient> {
  const socket = new WebSocket(to.url, { perMessageDeflate: false, autoPong: to.autoPong ?? true });
  const listeners = new Set<EventListener>();
  const pending = new Map<string, PromiseWithResolvers<Readonly<Record<string, unknown>>>>();
  const challenge = Promise.withResolvers<Readonly<Record<string, unknown>> | undefined>();
  let count = 0;

  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString("utf8")) as Frame;
    if (frame.type === "res") {
      const waiting = pending.get(frame.id ?? "");
      if (frame.ok) waiting?.resolve(frame.payload ?? {});
      else waiting?.reject(new Error(`${frame.error?.code}: ${frame.error?.message}`));
      pending.delete(frame.id ?? "");
    } else if (frame.event === "connect.challenge") challenge.resolve(frame.payload);
    else for (const listener of listeners) listener(frame.event ?? "", frame.payload ?? {});
  });
  socket.on("error", () => {});
  socket.on("close", (code, reason) => {
    challenge.resolve(undefined);
    for (const waiting of pending.values()) waiting.reject(new Error(`closed ${code} ${reason.toString("utf8")}`));
    pending.clear();
  });

  function request(method: string, params: unknown = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = String((count += 1));
    const waiting = Promise.withResolvers<Readonly<Record<string, unknown>>>();
    pending.set(id, waiting);
    socket.send(JSON.stringify({ type: "req", id, method, params }));
    return waiting.promise;
  }

  await once(socket, "open", { signal: AbortSignal.timeout(to.timeoutMs ?? 30_000) });
  const given = await challenge.promise;
  const hello = await request("connect", connectParams(to, given?.["nonce"] as string | undefined, Number(given?.["ts"] ?? Date.now())));
  const client: BenchClient = {
    socket,
    hello,
    request,
    on(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    turn: (sessionKey, message, timeoutMs = 120_000) => takeTurn(client, sessionKey, message, timeoutMs),
    close: () => socket.close(),
  };
  return client;
}

async function takeTurn(client: BenchClient, sessionKey: string, message: string, timeoutMs: number): Promise<Turn> {
  const started = performance.now();
  const idempotencyKey = randomUUID();
  const ended = Promise.withResolvers<void>();
  const timer = setTimeout(() => ended.reject(new Error("the turn did not end in time")), timeoutMs);
  let firstDeltaMs: number | undefined;
  let deltas = 0;
  using _listening = client.on((event, payload) => {
    if (event !== "chat" || payload["runId"] !== idempotencyKey) return;
    if (payload["state"] === "delta") {
      deltas += 1;
      firstDeltaMs ??= performance.now() - started;
    } else if (payload["state"] === "final") ended.resolve();
    else if (payload["state"] === "error" || payload["state"] === "aborted") ended.reject(new Error(`the turn ended as ${payload["state"]}`));
  });
  try {
    await client.request("chat.send", { sessionKey, message, idempotencyKey });
    const ackMs = performance.now() - started;
    await ended.promise;
    return { ms: performance.now() - started, ackMs, firstDeltaMs, deltas };
  } finally {
    clearTimeout(timer);
  }
}

/** A connection from a driver's options; `--device` signs the challenge with a key made for this run. */
export function connectionOf(options: Omit<BenchConnection, "device"> & { readonly device: boolean }): BenchConnection {
  const { url, token, protocol, clientId, clientMode } = options;
  return { url, token, protocol, clientId, clientMode, device: options.device ? createDevice() : undefined };
}
