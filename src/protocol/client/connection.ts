import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { CAPABILITIES } from "../capabilities.ts";
import type { ConnectParams, HelloOk } from "../connect.ts";
import type { EventFrame, RequestFrame, ResponseFrame } from "../frames.ts";
import { CLOSE, LIMITS, PROTOCOL_VERSION } from "../limits.ts";
import { askedScopes, type ConnectOptions } from "./options.ts";
import type { ClientClock, DeviceIdentity, OpenSocket, Socket } from "./ports.ts";
import { closedError, refusal } from "./refusal.ts";

/** What a signature stands for. */
interface SignedConnect {
  readonly clientId: string;
  readonly clientMode: string;
  readonly role: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly signedAt: number;
  readonly token: string;
  /** Of the challenge; without one the signature is good on the gateway's own machine only. */
  readonly nonce?: string | undefined;
}

/** The text a device signs: version 2 with a nonce, version 1 without. */
function signedText(deviceId: string, connect: SignedConnect): string {
  const { clientId, clientMode, role, scopes, signedAt, token, nonce } = connect;
  const fields = [deviceId, clientId, clientMode, role, scopes.join(","), String(signedAt), token];
  return nonce === undefined ? ["v1", ...fields].join("|") : ["v2", ...fields, nonce].join("|");
}

/** The `device` part of `connect`. */
async function signConnect(device: DeviceIdentity, connect: SignedConnect): Promise<NonNullable<ConnectParams["device"]>> {
  const signature = await device.sign(signedText(device.id, connect));
  const { signedAt, nonce } = connect;
  return { id: device.id, publicKey: device.publicKey, signature, signedAt, ...(nonce === undefined ? {} : { nonce }) };
}

const RESPONSE_KEYS: ReadonlySet<string> = new Set(["type", "id", "ok", "payload", "error"]);
const EVENT_KEYS: ReadonlySet<string> = new Set(["type", "event", "payload", "seq", "stateVersion"]);

const onlyHas = (frame: object, keys: ReadonlySet<string>): boolean => Object.keys(frame).every((key) => keys.has(key));

/** A frame the gateway sent; undefined for what is none. Frames with fields of a later protocol are none either. */
export function parseFrame(text: string): ResponseFrame | EventFrame | undefined {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(frame)) return undefined;
  const { type, id, ok, event, seq } = frame;
  if (type === "res") return typeof id === "string" && typeof ok === "boolean" && onlyHas(frame, RESPONSE_KEYS) ? (frame as ResponseFrame) : undefined;
  if (type !== "event" || typeof event !== "string" || !onlyHas(frame, EVENT_KEYS)) return undefined;
  return seq === undefined || Number.isSafeInteger(seq) ? (frame as EventFrame) : undefined;
}

/** A connection after `hello-ok`. */
export interface Connection {
  readonly hello: HelloOk;
  send(frame: RequestFrame): void;
  close(code: number, reason: string): void;
}

export interface Credentials {
  readonly token?: string | undefined;
  readonly password?: string | undefined;
}

export interface ConnectionDeps {
  readonly url: string;
  readonly options: ConnectOptions;
  readonly credentials: Credentials;
  readonly clock: ClientClock;
  readonly openSocket: OpenSocket;
  /** Every frame after `hello-ok`. */
  readonly onFrame: (frame: ResponseFrame | EventFrame) => void;
  /** The connection ended after `hello-ok`. */
  readonly onClose: (error: AppError) => void;
}

interface Challenge {
  readonly nonce: string;
  /** The gateway's time: signing with it works on machines whose clock is off. */
  readonly ts: number;
}

const CONNECT_ID = "connect";

async function connectParams(deps: ConnectionDeps, challenge: Challenge | undefined): Promise<ConnectParams> {
  const { options, credentials, clock } = deps;
  const { client, role = "operator", caps, commands, permissions, pathEnv, locale, userAgent, device } = options;
  const { token, password } = credentials;
  const scopes = askedScopes(options);
  const signed = { clientId: client.id, clientMode: client.mode, role, scopes, token: token ?? "" };
  const auth = { ...(token === undefined ? {} : { token }), ...(password === undefined ? {} : { password }) };
  return {
    minProtocol: PROTOCOL_VERSION,
    maxProtocol: PROTOCOL_VERSION,
    client,
    role,
    scopes,
    caps: [...new Set([...(caps ?? []), CAPABILITIES.textDeltas])],
    ...(commands ? { commands } : {}),
    ...(permissions ? { permissions } : {}),
    ...(pathEnv === undefined ? {} : { pathEnv }),
    ...(Object.keys(auth).length > 0 ? { auth } : {}),
    ...(device ? { device: await signConnect(device, { ...signed, signedAt: challenge?.ts ?? clock.now(), nonce: challenge?.nonce }) } : {}),
    ...(locale === undefined ? {} : { locale }),
    ...(userAgent === undefined ? {} : { userAgent }),
  };
}

function challengeIn(frame: ResponseFrame | EventFrame): Challenge | undefined {
  if (frame.type !== "event" || frame.event !== "connect.challenge") return undefined;
  const { nonce, ts } = isRecord(frame.payload) ? frame.payload : {};
  return typeof nonce === "string" && typeof ts === "number" ? { nonce, ts } : undefined;
}

/** Opens a socket and goes through the handshake. Rejects with what the gateway refused, or with how the connection ended. */
export function openConnection(deps: ConnectionDeps): Promise<Connection> {
  const { url, options, clock, openSocket } = deps;
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const timers = new DisposableStack();
  let phase: "opening" | "asked" | "open" | "ended" = "opening";

  function fail(error: unknown): void {
    phase = "ended";
    timers.dispose();
    reject(error);
    socket?.close(CLOSE.connectFailed, "connect failed");
  }

  async function ask(challenge: Challenge | undefined): Promise<void> {
    if (phase !== "opening") return;
    phase = "asked";
    try {
      const params = await connectParams(deps, challenge);
      if (phase === "asked") socket?.send(JSON.stringify({ type: "req", id: CONNECT_ID, method: "connect", params } satisfies RequestFrame));
    } catch (error) {
      fail(error);
    }
  }

  function answered(frame: ResponseFrame): void {
    if (!frame.ok) return fail(refusal("connect", frame));
    phase = "open";
    timers.dispose();
    const hello = frame.payload as HelloOk;
    resolve({ hello, send: (request) => socket?.send(JSON.stringify(request)), close: (code, reason) => socket?.close(code, reason) });
  }

  let socket: Socket | undefined;
  try {
    socket = openSocket(url, {
      onOpen: () => void timers.use(clock.after(LIMITS.challengeWaitMs, () => void ask(undefined))),
      onText(text) {
        const frame = parseFrame(text);
        if (!frame || phase === "ended") return;
        const challenge = challengeIn(frame);
        if (phase === "open") deps.onFrame(frame);
        else if (challenge) void ask(challenge);
        else if (frame.type === "res" && frame.id === CONNECT_ID) answered(frame);
      },
      onClose(code, reason) {
        const was = phase;
        phase = "ended";
        timers.dispose();
        if (was === "open") deps.onClose(closedError(code, reason));
        else reject(closedError(code, reason));
      },
    });
    const patience = options.connectTimeoutMs ?? LIMITS.handshakeMs;
    timers.use(clock.after(patience, () => fail(new AppError("TIMEOUT", `the gateway at ${url} did not complete the handshake within ${patience} ms`))));
  } catch (error) {
    fail(error);
  }
  return promise;
}
