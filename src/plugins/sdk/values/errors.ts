/** Whatever was thrown. */
import { isRecord } from "../../../base/records.ts";
import { formatErrorMessage } from "../text.ts";

/** The `code` of an error, as text. */
export function extractErrorCode(error: unknown): string | undefined {
  const code = isRecord(error) ? error["code"] : undefined;
  return typeof code === "string" ? code : typeof code === "number" ? String(code) : undefined;
}

export function readErrorName(error: unknown): string {
  const name = isRecord(error) ? error["name"] : undefined;
  return typeof name === "string" ? name : "";
}

/** An `Error` of it. */
export function toErrorObject(error: unknown, fallback = "unknown error"): Error {
  if (error instanceof Error) return error;
  return new Error(error === undefined || error === null ? fallback : formatErrorMessage(error), { cause: error });
}

/** With its stack. */
export function formatUncaughtError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? formatErrorMessage(error)) : formatErrorMessage(error);
}

export const coerceErrorMessage = formatErrorMessage;
