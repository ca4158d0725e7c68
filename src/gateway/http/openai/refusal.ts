import { AppError } from "../../../base/errors.ts";
import type { ApiError } from "../reply.ts";

/** A request that cannot be answered, found while reading it. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";
  readonly error: ApiError;

  constructor(error: ApiError) {
    super(error.message);
    this.error = error;
  }
}

/** The caller's mistake. */
export function invalid(message: string, param?: string): RequestRefused {
  return new RequestRefused({ status: 400, message, type: "invalid_request_error", ...(param === undefined ? {} : { param }) });
}

/** What this version does not do. It is said rather than passed over, so that nobody takes an answer for more than it is. */
export function unsupported(what: string, param: string): RequestRefused {
  return new RequestRefused({ status: 501, message: `UNAVAILABLE: this gateway does not take ${what} yet`, type: "unavailable", code: "UNAVAILABLE", param });
}

export const INTERNAL: ApiError = { status: 500, message: "internal error", type: "api_error" };

/** What a failed start of a run is to the caller. Anything unforeseen stays in the log. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof RequestRefused) return error.error;
  if (!(error instanceof AppError)) return INTERNAL;
  const { code, message } = error;
  if (code === "INVALID_INPUT" || code === "NOT_FOUND") return { status: 400, message, type: "invalid_request_error" };
  if (code === "CONFLICT") return { status: 409, message, type: "invalid_request_error", code: "conflict" };
  if (code === "OVERLOADED") return { status: 429, message, type: "rate_limited" };
  if (code === "UNAVAILABLE") return { status: 503, message: `UNAVAILABLE: ${message}`, type: "unavailable", code: "UNAVAILABLE" };
  return INTERNAL;
}
