/** Bodies of webhook requests, read within bounds of size and time. */
import type { IncomingMessage, ServerResponse } from "node:http";

export const DEFAULT_WEBHOOK_MAX_BODY_BYTES = 1024 * 1024;
export const DEFAULT_WEBHOOK_BODY_TIMEOUT_MS = 30_000;

export type RequestBodyLimitErrorCode = "PAYLOAD_TOO_LARGE" | "REQUEST_BODY_TIMEOUT" | "CONNECTION_CLOSED";

const FAILURES: Readonly<Record<RequestBodyLimitErrorCode, { readonly status: number; readonly text: string }>> = {
  PAYLOAD_TOO_LARGE: { status: 413, text: "Payload too large" },
  REQUEST_BODY_TIMEOUT: { status: 408, text: "Request body timeout" },
  CONNECTION_CLOSED: { status: 400, text: "Connection closed" },
};

/** A body that was too large, too slow or cut off. */
export class RequestBodyLimitError extends Error {
  override readonly name = "RequestBodyLimitError";
  readonly code: RequestBodyLimitErrorCode;
  readonly statusCode: number;

  constructor(init: { code: RequestBodyLimitErrorCode; message?: string | undefined }) {
    super(init.message ?? FAILURES[init.code].text);
    this.code = init.code;
    this.statusCode = FAILURES[init.code].status;
  }
}

export function isRequestBodyLimitError(error: unknown, code?: RequestBodyLimitErrorCode): error is RequestBodyLimitError {
  return error instanceof RequestBodyLimitError && (code === undefined || error.code === code);
}

/** The text that a client gets. */
export function requestBodyErrorToText(code: RequestBodyLimitErrorCode): string {
  return FAILURES[code].text;
}

export interface ReadRequestBodyOptions {
  maxBytes: number;
  timeoutMs?: number | undefined;
  encoding?: BufferEncoding | undefined;
}

function announcedBytes(req: IncomingMessage): number {
  const length = Number(req.headers["content-length"]);
  return Number.isFinite(length) ? length : 0;
}

/** Watches a body without taking it: calls `onFailure` once, and never after `stop`. */
function watchBody(
  req: IncomingMessage,
  options: ReadRequestBodyOptions,
  onFailure: (code: RequestBodyLimitErrorCode) => void,
  onChunk?: (chunk: Buffer) => void,
) {
  let bytes = 0;
  const fail = (code: RequestBodyLimitErrorCode) => {
    stop();
    onFailure(code);
  };
  const data = (chunk: Buffer | string) => {
    const buffer = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    bytes += buffer.length;
    if (bytes > options.maxBytes) fail("PAYLOAD_TOO_LARGE");
    else onChunk?.(buffer);
  };
  const close = () => {
    if (!req.complete) fail("CONNECTION_CLOSED");
  };
  const timer = setTimeout(() => fail("REQUEST_BODY_TIMEOUT"), options.timeoutMs ?? DEFAULT_WEBHOOK_BODY_TIMEOUT_MS);
  timer.unref();
  function stop(): void {
    clearTimeout(timer);
    req.off("data", data);
    req.off("close", close);
    req.off("end", stop);
  }
  req.on("data", data);
  req.on("close", close);
  req.on("end", stop);
  return stop;
}

/** The whole body as text. Over the limit the request is destroyed and a {@link RequestBodyLimitError} thrown. */
export function readRequestBodyWithLimit(req: IncomingMessage, options: ReadRequestBodyOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const refuse = (code: RequestBodyLimitErrorCode) => {
      req.off("end", done);
      // The rest is thrown away, so that an answer can still be sent.
      req.resume();
      reject(new RequestBodyLimitError({ code }));
    };
    function done(): void {
      req.off("error", reject);
      resolve(Buffer.concat(chunks).toString(options.encoding ?? "utf8"));
    }
    if (announcedBytes(req) > options.maxBytes) return refuse("PAYLOAD_TOO_LARGE");
    watchBody(req, options, refuse, (chunk) => chunks.push(chunk));
    req.once("end", done);
    req.once("error", reject);
  });
}

export type ReadJsonBodyResult = { ok: true; value: unknown } | { ok: false; error: string; code: RequestBodyLimitErrorCode | "INVALID_JSON" };

/** The body as a value; what is wrong with it is an answer, not a throw. */
export async function readJsonBodyWithLimit(
  req: IncomingMessage,
  options: ReadRequestBodyOptions & { emptyObjectOnEmpty?: boolean | undefined },
): Promise<ReadJsonBodyResult> {
  try {
    const text = (await readRequestBodyWithLimit(req, options)).trim();
    if (!text) return options.emptyObjectOnEmpty === false ? { ok: false, error: "empty payload", code: "INVALID_JSON" } : { ok: true, value: {} };
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (isRequestBodyLimitError(error)) return { ok: false, error: requestBodyErrorToText(error.code), code: error.code };
    return { ok: false, error: error instanceof Error ? error.message : String(error), code: "INVALID_JSON" };
  }
}

export interface RequestBodyLimitGuard {
  dispose(): void;
  isTripped(): boolean;
  code(): RequestBodyLimitErrorCode | null;
}

/** For a body that other code reads: answers and closes the request when it goes over its bounds. */
export function installRequestBodyLimitGuard(
  req: IncomingMessage,
  res: ServerResponse,
  options: ReadRequestBodyOptions & {
    responseFormat?: "json" | "text" | undefined;
    responseText?: Partial<Record<RequestBodyLimitErrorCode, string>> | undefined;
  },
): RequestBodyLimitGuard {
  let tripped: RequestBodyLimitErrorCode | null = null;
  const trip = (code: RequestBodyLimitErrorCode) => {
    tripped = code;
    if (code !== "CONNECTION_CLOSED" && !res.headersSent) {
      const text = options.responseText?.[code] ?? requestBodyErrorToText(code);
      const json = options.responseFormat === "json";
      res.writeHead(FAILURES[code].status, { "Content-Type": json ? "application/json; charset=utf-8" : "text/plain; charset=utf-8", Connection: "close" });
      res.end(json ? JSON.stringify({ error: text }) : text, () => req.destroy());
      return;
    }
    req.destroy();
  };
  const stop = watchBody(req, options, trip);
  if (announcedBytes(req) > options.maxBytes) {
    stop();
    trip("PAYLOAD_TOO_LARGE");
  }
  return { dispose: stop, isTripped: () => tripped !== null, code: () => tripped };
}
