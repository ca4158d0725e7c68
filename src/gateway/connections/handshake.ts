import { PROTOCOL_VERSION, type ConnectParams, type ErrorShape, type RequestFrame, type Validators } from "../../protocol/index.ts";
import type { Admitted, Auth } from "../auth/index.ts";
import type { Opening } from "./connection.ts";
import { idOf, parseMessage } from "./message.ts";

export type HandshakeValidators = Pick<Validators, "frame" | "connect">;

/** Why a connection does not come to be. Without `answer` only the close is sent. */
export interface HandshakeFailure {
  readonly ok: false;
  readonly closeCode: number;
  readonly reason: string;
  readonly answer?: { readonly id: string; readonly error: ErrorShape };
}

/** A `connect` request that is well formed. */
export interface FirstRequest {
  readonly id: string;
  readonly params: ConnectParams;
}

export interface HandshakeSuccess extends FirstRequest {
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
export function readFirst(text: string | undefined, validators: HandshakeValidators): Step<FirstRequest> {
  const frame = readFrame(text, validators);
  if (!frame.ok) return frame;
  const connect = readConnect(frame.value, validators);
  return connect.ok ? { ok: true, value: { id: frame.value.id, params: connect.value } } : connect;
}

/** The checks from 6 on, which are those of `auth.admit`. */
export async function shakeHands({ id, params }: FirstRequest, opening: Opening, auth: Pick<Auth, "admit">): Promise<HandshakeSuccess | HandshakeFailure> {
  const admission = await auth.admit({ params, nonce: opening.nonce, request: opening.request });
  if (admission.ok) return { ok: true, id, params, admitted: admission };
  const { code, message, details, closeCode } = admission;
  return answered(id, { code, message, ...(details ? { details } : {}) }, closeCode);
}

/** What a client gets that sends a second frame before it was let in. */
export function secondFrame(text: string | undefined): HandshakeFailure {
  const message = text === undefined ? undefined : parseMessage(text);
  const id = message?.kind === "json" ? idOf(message.value) : undefined;
  if (id === undefined) return silent(1008, SECOND_FRAME);
  return answered(id, { code: "INVALID_REQUEST", message: SECOND_FRAME });
}
