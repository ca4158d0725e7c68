import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import {
  EVENTS,
  LIMITS,
  PROTOCOL_VERSION,
  type ConnectParams,
  type ErrorShape,
  type HelloOk,
  type RequestFrame,
  type Validators,
} from "../../protocol/index.ts";
import type { Admitted, Auth, PeerRequest } from "../auth/index.ts";
import type { Fanout } from "../fanout.ts";
import { Client, type Connection, type Opening, type Roster } from "./connection.ts";
import { idOf, parseMessage } from "./frames.ts";
import { responseText } from "./requests.ts";

type HandshakeValidators = Pick<Validators, "frame" | "connect">;

/** Why a connection is refused. Without `answer` only the close is sent. */
interface HandshakeFailure {
  readonly ok: false;
  readonly closeCode: number;
  readonly reason: string;
  readonly answer?: { readonly id: string; readonly error: ErrorShape };
}

/** A `connect` request that is well formed. */
interface FirstRequest {
  readonly id: string;
  readonly params: ConnectParams;
}

interface HandshakeSuccess extends FirstRequest {
  readonly ok: true;
  readonly admitted: Admitted;
}

type Step<T> = { readonly ok: true; readonly value: T } | HandshakeFailure;

const SECOND_FRAME = "invalid handshake: first request must be connect";

function silent(closeCode: number, reason: string): HandshakeFailure {
  return { ok: false, closeCode, reason };
}

function answered(id: string, error: ErrorShape, closeCode = 1008): HandshakeFailure {
  return { ok: false, closeCode, reason: error.message, answer: { id, error } };
}

/** Checks 1 and 2: it is JSON, and a request. */
function readFrame(text: string | undefined, validators: HandshakeValidators): Step<RequestFrame> {
  const message = text === undefined ? ({ kind: "not-json" } as const) : parseMessage(text);
  if (message.kind === "not-json") return silent(1000, "");
  if (message.kind === "hostile" || validators.frame(message.value)) return silent(1008, "invalid request frame");
  return { ok: true, value: message.value as RequestFrame };
}

/** Checks 3 to 5: it is `connect`, its parameters fit, and both sides speak the same version. */
function readConnect({ id, method, params }: RequestFrame, validators: HandshakeValidators): Step<ConnectParams> {
  if (method !== "connect") return answered(id, { code: "INVALID_REQUEST", message: SECOND_FRAME });
  const issues = validators.connect(params);
  if (issues) return answered(id, { code: "INVALID_REQUEST", message: `invalid connect params: ${issues.join("; ")}` });
  const asked = params as ConnectParams;
  if (asked.minProtocol > PROTOCOL_VERSION || asked.maxProtocol < PROTOCOL_VERSION) {
    return answered(id, { code: "INVALID_REQUEST", message: "protocol mismatch", details: { expectedProtocol: PROTOCOL_VERSION } }, 1002);
  }
  return { ok: true, value: asked };
}

/** The first frame of a connection, checks 1 to 5 in the documented order. Nothing waits here: garbage costs no more than reading it. */
function readFirst(text: string | undefined, validators: HandshakeValidators): Step<FirstRequest> {
  const frame = readFrame(text, validators);
  if (!frame.ok) return frame;
  const connect = readConnect(frame.value, validators);
  return connect.ok ? { ok: true, value: { id: frame.value.id, params: connect.value } } : connect;
}

/** The checks from 6 on, which are those of `auth.admit`. */
async function shakeHands({ id, params }: FirstRequest, opening: Opening, auth: Pick<Auth, "admit">): Promise<HandshakeSuccess | HandshakeFailure> {
  const admission = await auth.admit({ params, nonce: opening.nonce, request: opening.request });
  if (admission.ok) return { ok: true, id, params, admitted: admission };
  const { code, message, details, closeCode } = admission;
  return answered(id, { code, message, ...(details ? { details } : {}) }, closeCode);
}

/** The answer to a second frame before hello. */
function secondFrame(text: string | undefined): HandshakeFailure {
  const message = text === undefined ? undefined : parseMessage(text);
  const id = message?.kind === "json" ? idOf(message.value) : undefined;
  if (id === undefined) return silent(1008, SECOND_FRAME);
  return answered(id, { code: "INVALID_REQUEST", message: SECOND_FRAME });
}

/** What `hello-ok` holds besides the connection. */
export interface HelloFacts {
  readonly version: string;
  readonly host: string;
  readonly methods: readonly string[];
  /** Resolves when a snapshot can be taken. */
  prepare(): Promise<void>;
  snapshot(): HelloOk["snapshot"];
  /** Where the client finds the canvas; undefined when it is not served. */
  canvasHostUrl?(client: Client, request: PeerRequest): string | undefined;
}

/** Names of all events, as `hello-ok` lists them. */
const EVENT_NAMES = Object.keys(EVENTS);

function helloFor(connId: string, { issued }: Admitted, facts: HelloFacts, canvasHostUrl: string | undefined): HelloOk {
  return {
    type: "hello-ok",
    protocol: PROTOCOL_VERSION,
    server: { version: facts.version, host: facts.host, connId },
    features: { methods: facts.methods, events: EVENT_NAMES },
    snapshot: facts.snapshot(),
    ...(canvasHostUrl === undefined ? {} : { canvasHostUrl }),
    ...(issued ? { auth: { deviceToken: issued.deviceToken, role: issued.role, scopes: issued.scopes, issuedAtMs: issued.issuedAtMs } } : {}),
    policy: { maxPayload: LIMITS.maxPayload, maxBufferedBytes: LIMITS.maxBufferedBytes, tickIntervalMs: LIMITS.tickIntervalMs },
  };
}

export interface HandshakesDeps {
  readonly auth: Pick<Auth, "admit">;
  readonly fanout: Pick<Fanout, "add">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Logger;
  readonly hello: HelloFacts;
  /** The socket's owner is known. */
  readonly onAdmitted: (socket: Socket) => void;
  /** Before hello is sent: what is done here is in its snapshot. */
  readonly onOpening: (client: Client, params: ConnectParams) => void;
  readonly onOpen: (client: Client) => void;
}

/** Turns connections into clients, or refuses them. */
export interface Handshakes {
  /** Takes a frame that came before hello; `text` is undefined for a binary one. */
  take(connection: Connection, opening: Opening, text: string | undefined): void;
}

export function createHandshakes(deps: HandshakesDeps, roster: Roster, validators: Validators, stopOpening: (connection: Connection) => void): Handshakes {
  const { auth, clock, log } = deps;

  function fail(connection: Connection, { answer, closeCode, reason }: HandshakeFailure): void {
    log.debug("a connection was refused", { connId: connection.connId, reason: reason || "not JSON" });
    // The answer and the close leave in one write.
    connection.socket.cork();
    if (answer) roster.write(connection, responseText(answer.id, { ok: false, error: answer.error }));
    roster.end(connection, closeCode, reason);
    connection.socket.uncork();
  }

  function open(connection: Connection, { request }: Opening, { id, params, admitted }: HandshakeSuccess): void {
    const client = new Client(connection, params, admitted, clock.monotonic(), roster.end);
    connection.client = client;
    stopOpening(connection);
    roster.clients.set(client.connId, client);
    deps.onAdmitted(connection.socket);
    deps.onOpening(client, params);
    roster.write(
      connection,
      responseText(id, { ok: true, payload: helloFor(connection.connId, admitted, deps.hello, deps.hello.canvasHostUrl?.(client, request)) }),
    );
    deps.fanout.add(client);
    deps.onOpen(client);
  }

  async function admit(connection: Connection, opening: Opening, first: FirstRequest): Promise<void> {
    try {
      await deps.hello.prepare();
      const result = await shakeHands(first, opening, auth);
      // From here to the registration nothing waits: a revocation in between would be missed.
      if (connection.closed) return;
      if (result.ok) open(connection, opening, result);
      else fail(connection, result);
    } catch (error) {
      log.error("a handshake failed", { error, connId: connection.connId });
      roster.end(connection, 1011, "internal error; see the gateway log");
    }
  }

  return {
    take(connection, opening, text) {
      if (opening.started) return fail(connection, secondFrame(text));
      opening.started = true;
      const first = readFirst(text, validators);
      if (!first.ok) return fail(connection, first);
      void admit(connection, opening, first.value);
    },
  };
}
