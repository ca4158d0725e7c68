import { AppError, type ErrorCode } from "../../base/errors.ts";
import type { RunFailure, RunOutcome } from "../ports.ts";
import type { ApiError } from "./reply.ts";

/** What a failure is to an HTTP caller. */
interface Shape {
  readonly status: number;
  readonly type: string;
  readonly code?: string;
  /** Hint where nothing better is known. */
  readonly retryAfterMs?: number;
}

const RESTART_MS = 5000;
const BUSY_MS = 1000;

export const INTERNAL: ApiError = { status: 500, message: "internal error", type: "api_error" };

/** A run that took longer than a run may. */
export const timedOut = (limitMs: number | undefined): ApiError => ({
  status: 504,
  message: `no response within ${limitMs === undefined ? "the run timeout" : `${limitMs / 1000} s`} (agents.defaults.timeoutSeconds)`,
  type: "api_error",
  code: "run_timeout",
});

/** The response to every caller while the gateway shuts down. */
export const RESTARTING: ApiError = {
  status: 503,
  message: "the gateway is restarting; try again shortly",
  type: "unavailable",
  code: "RESTARTING",
  retryAfterMs: RESTART_MS,
};

/** The response to deliveries for which no route is there yet, while channels start. */
export const STARTING: ApiError = {
  status: 503,
  message: "a channel is still starting; try again shortly",
  type: "unavailable",
  code: "STARTING",
  retryAfterMs: BUSY_MS,
};

/**
 * By kind of a run's failure. A provider that refuses the gateway's key is the gateway's trouble (502), not the caller's (401): clients would ask their
 * users for another key. What trying again cannot mend is 402, which clients do not repeat by themselves.
 */
const RUNS: Readonly<Record<Exclude<RunFailure["kind"], "error">, Shape>> = {
  auth: { status: 502, type: "provider_error", code: "provider_auth" },
  billing: { status: 402, type: "insufficient_quota", code: "provider_billing" },
  budget: { status: 402, type: "insufficient_quota", code: "budget_exceeded" },
  rate_limit: { status: 429, type: "rate_limited", code: "rate_limit_exceeded", retryAfterMs: BUSY_MS },
  overloaded: { status: 503, type: "overloaded", code: "provider_overloaded", retryAfterMs: BUSY_MS },
  timeout: { status: 504, type: "provider_error", code: "provider_timeout" },
  network: { status: 502, type: "provider_error", code: "provider_unreachable" },
  format: { status: 502, type: "provider_error", code: "provider_bad_answer" },
  model_unknown: { status: 502, type: "provider_error", code: "provider_model_unknown" },
  context_overflow: { status: 400, type: "invalid_request_error", code: "context_length_exceeded" },
  role_order: { status: 400, type: "invalid_request_error", code: "role_order" },
  image_size: { status: 400, type: "invalid_request_error", code: "image_too_large" },
  thinking_level: { status: 400, type: "invalid_request_error", code: "thinking_level" },
  tool_schema: { status: 502, type: "provider_error", code: "provider_tool_schema" },
  refused: { status: 400, type: "invalid_request_error", code: "content_filter" },
  aborted: { status: 503, type: "unavailable", code: "aborted" },
  unknown: { status: 502, type: "provider_error", code: "provider_error" },
  turn_limit: { status: 500, type: "api_error", code: "turn_limit" },
  restarting: { status: 503, type: "unavailable", code: "RESTARTING", retryAfterMs: RESTART_MS },
  interrupted: { status: 500, type: "api_error", code: "interrupted" },
};

const CODES: Readonly<Partial<Record<ErrorCode, Shape>>> = {
  INVALID_INPUT: { status: 400, type: "invalid_request_error" },
  NOT_FOUND: { status: 400, type: "invalid_request_error" },
  CONFLICT: { status: 409, type: "invalid_request_error", code: "conflict" },
  PERMISSION_DENIED: { status: 403, type: "forbidden", code: "PERMISSION_DENIED" },
  HOST_BLOCKED: { status: 403, type: "forbidden", code: "HOST_BLOCKED" },
  OVERLOADED: { status: 429, type: "rate_limited", code: "OVERLOADED", retryAfterMs: BUSY_MS },
  UNAVAILABLE: { status: 503, type: "unavailable", code: "UNAVAILABLE", retryAfterMs: BUSY_MS },
  LOCKED: { status: 503, type: "unavailable", code: "LOCKED", retryAfterMs: BUSY_MS },
  STORE_FAILED: { status: 503, type: "unavailable", code: "STORE_FAILED" },
  DISK_FULL: { status: 503, type: "unavailable", code: "DISK_FULL" },
  READ_ONLY: { status: 503, type: "unavailable", code: "READ_ONLY" },
  TIMEOUT: { status: 504, type: "api_error", code: "TIMEOUT" },
  CANCELLED: { status: 503, type: "unavailable", code: "CANCELLED" },
  CONFIG_INVALID: { status: 500, type: "api_error", code: "CONFIG_INVALID" },
  SECRET_UNRESOLVED: { status: 500, type: "api_error", code: "SECRET_UNRESOLVED" },
  PLUGIN_FAILED: { status: 500, type: "api_error", code: "PLUGIN_FAILED" },
};

function shaped(shape: Shape, message: string, retryAfterMs?: unknown): ApiError {
  const wait = typeof retryAfterMs === "number" && Number.isFinite(retryAfterMs) ? retryAfterMs : shape.retryAfterMs;
  const { retryAfterMs: _, ...rest } = shape;
  return { ...rest, message, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
}

/** An error that was thrown on purpose, to a caller. Anything unforeseen stays in the log. */
export function apiErrorOfThrown(error: unknown): ApiError {
  const shape = error instanceof AppError ? CODES[error.code] : undefined;
  if (!(error instanceof AppError) || !shape) return INTERNAL;
  const message = error.code === "UNAVAILABLE" ? `UNAVAILABLE: ${error.message}` : error.message;
  return shaped(shape, message, error.details["retryAfterMs"]);
}

/** A failed run, to a caller: the same text that clients of the WebSocket get. */
export function apiErrorOfRun({ error, failure }: Extract<RunOutcome, { readonly status: "error" }>): ApiError {
  if (!failure) return INTERNAL;
  if (failure.kind === "error") return apiErrorOfThrown(new AppError(failure.code, error));
  const shape = RUNS[failure.kind];
  const trouble = "trouble" in failure ? failure.trouble : undefined;
  const retryAfterMs = "retryAfterMs" in failure ? failure.retryAfterMs : undefined;
  return shaped(trouble === undefined ? shape : RUNS[trouble === "server error" ? "unknown" : "format"], error, retryAfterMs);
}
