import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";

/** On every answer. There is no CORS header, on purpose: no foreign page may read an answer. */
const ALWAYS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/** Unread request bytes that are taken off the wire after a refusal, so that the caller gets to read it. */
const LINGER_BYTES = 1_048_576;
const LINGER_MS = 1000;

export function setCommonHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(ALWAYS)) response.setHeader(name, value);
}

export function sendText(response: ServerResponse, status: number, type: string, body: string, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { "content-type": `${type}; charset=utf-8`, "content-length": Buffer.byteLength(body), ...headers });
  response.end(body);
}

export function sendJson(response: ServerResponse, status: number, value: unknown, headers: OutgoingHttpHeaders = {}): void {
  sendText(response, status, "application/json", JSON.stringify(value), headers);
}

/** An error as the OpenAI API words it. */
export interface ApiError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code?: string;
  readonly param?: string;
  /** When to try again. Becomes the header `Retry-After`. */
  readonly retryAfterMs?: number;
}

export function errorBody({ message, type, code, param }: Omit<ApiError, "status">): { readonly error: object } {
  return { error: { message, type, ...(param === undefined ? {} : { param }), ...(code === undefined ? {} : { code }) } };
}

/** The header of an error that tells when to try again: whole seconds, at least one. */
export function retryAfter({ retryAfterMs }: Pick<ApiError, "retryAfterMs">): Readonly<Record<string, string>> {
  return retryAfterMs === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}

export function sendError(response: ServerResponse, error: ApiError, headers: OutgoingHttpHeaders = {}): void {
  sendJson(response, error.status, errorBody(error), { ...retryAfter(error), ...headers });
}

/** True when bytes of the request's body may still come. */
function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const length = request.headers["content-length"];
  return request.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

interface Refusal {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Answers before the body was read. The answer leaves at once; what still comes of the body is thrown away within narrow limits, because
 * closing a socket with unread bytes makes the peer lose the answer. Then the connection is closed.
 */
export function refuse(clock: Clock, exchange: Refusal, status: number, value: unknown, headers: OutgoingHttpHeaders = {}): void {
  const { request, response } = exchange;
  if (!hasUnreadBody(request)) return sendJson(response, status, value, headers);
  const body = JSON.stringify(value);
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(body), connection: "close", ...headers });
  if (request.method !== "HEAD") response.write(body);
  let seen = 0;
  const deadline = clock.after(LINGER_MS, end);
  function end(): void {
    deadline[Symbol.dispose]();
    request.off("data", take);
    if (!response.writableEnded) response.end();
  }
  function take(chunk: Buffer): void {
    seen += chunk.length;
    if (seen > LINGER_BYTES) end();
  }
  request.on("data", take);
  request.once("end", end);
  request.once("close", end);
  request.resume();
}
