import { AppError, type ErrorCode } from "../../base/errors.ts";
import type { ErrorShape, ResponseFrame } from "../frames.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  INVALID_REQUEST: "INVALID_INPUT",
  NOT_PAIRED: "PERMISSION_DENIED",
  AGENT_TIMEOUT: "TIMEOUT",
};

const UNNAMED: ErrorShape = { code: "UNAVAILABLE", message: "the gateway refused without a reason" };

/** What the gateway answered instead of a result. `details.protocolCode` is the code as it came over the wire. */
export function refusal(method: string, { error = UNNAMED, payload }: ResponseFrame): AppError {
  const { code, message, details, retryable, retryAfterMs } = error;
  return new AppError(CODES[code] ?? "UNAVAILABLE", message, {
    details: {
      method,
      protocolCode: code,
      ...(details === undefined ? {} : { details }),
      ...(retryable === undefined ? {} : { retryable }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(payload === undefined ? {} : { payload }),
    },
  });
}

/** The connection ended. `details.closeCode` says how. */
export function closedError(code: number, reason: string): AppError {
  const why = reason === "" ? "" : `: ${reason}`;
  return new AppError("UNAVAILABLE", `the connection to the gateway was closed (${code}${why})`, { details: { closeCode: code, reason } });
}

/** True when the gateway does not know the device token that was shown. */
export function isTokenMismatch(error: unknown): boolean {
  return error instanceof AppError && error.message.includes("device token mismatch");
}

/** True when trying again with the same credentials cannot help: only a person can. */
export function isFinal(error: unknown): boolean {
  if (!(error instanceof AppError) || error.details["method"] !== "connect") return false;
  return error.details["protocolCode"] === "INVALID_REQUEST" && !error.message.includes("too many failed authentication attempts");
}
