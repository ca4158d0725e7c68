import { AppError, messageOf, type ErrorCode } from "../../base/errors.ts";
import type { ErrorShape } from "../../protocol/index.ts";

/** The answer to a request. A failure may carry a payload next to its error. */
export type Answer = { readonly ok: true; readonly payload: unknown } | { readonly ok: false; readonly error: ErrorShape; readonly payload?: unknown };

/** Failures that the caller causes and can mend; everything else is `UNAVAILABLE`. */
const INVALID_REQUEST: ReadonlySet<ErrorCode> = new Set(["INVALID_INPUT", "NOT_FOUND", "CONFLICT", "CONFIG_INVALID", "CONFIG_STALE"]);
/** Refused before anything was done: the same request may be sent again. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set(["OVERLOADED"]);

export function invalidRequest(message: string, details?: unknown): Answer {
  return { ok: false, error: { code: "INVALID_REQUEST", message, ...(details === undefined ? {} : { details }) } };
}

/**
 * The one place where errors become what the protocol sends. Of an `AppError`'s details three have a place of their own: `payload` goes next to the
 * error, `retryable` and `retryAfterMs` into it; `protocolCode` names a documented code. The rest is `details` (a configuration's `issues` too).
 */
export function failureOf(error: unknown, runnable = (text: string): string => text): Answer {
  if (!(error instanceof AppError)) return { ok: false, error: { code: "UNAVAILABLE", message: messageOf(error) || "internal error" } };
  const { payload, retryable, retryAfterMs, protocolCode, ...details } = error.details;
  const code = typeof protocolCode === "string" ? protocolCode : INVALID_REQUEST.has(error.code) ? "INVALID_REQUEST" : "UNAVAILABLE";
  const again = typeof retryable === "boolean" ? retryable : RETRYABLE.has(error.code) ? true : undefined;
  const wait = typeof retryAfterMs === "number" && retryAfterMs >= 0 ? Math.ceil(retryAfterMs) : undefined;
  return {
    ok: false,
    error: {
      code,
      message: runnable(error.message || error.code),
      ...(Object.keys(details).length > 0 ? { details } : {}),
      ...(again === undefined ? {} : { retryable: again }),
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
    },
    ...(payload === undefined ? {} : { payload }),
  };
}
