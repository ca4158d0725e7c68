import { apiErrorOfThrown } from "../failures.ts";
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
  return new RequestRefused({
    status: 501,
    message: `UNAVAILABLE: this gateway does not support ${what} yet`,
    type: "unavailable",
    code: "UNAVAILABLE",
    param,
  });
}

/** What a failed start or run is to the caller. */
export function apiErrorOf(error: unknown): ApiError {
  return error instanceof RequestRefused ? error.error : apiErrorOfThrown(error);
}
