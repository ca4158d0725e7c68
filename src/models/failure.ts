import { AppError } from "../base/errors.ts";

/** Where a call was when it failed. */
export type FailurePhase = "connect" | "headers" | "stream" | "answer";

/** Facts about a failed call to a provider, without deciding what to do about it. */
export interface ModelFailure {
  readonly phase: FailurePhase;
  /** HTTP status, or the equivalent of an error event inside the stream. */
  readonly status?: number;
  /** The provider's own code: `rate_limit_error`, `insufficient_quota`, `ECONNRESET`. */
  readonly code?: string;
  /** All codes in the answer, most specific first; `code` is one of them. */
  readonly codes?: readonly string[];
  /** The answer was JSON: its texts are the provider's own, not a proxy's. */
  readonly structured?: boolean;
  /** The answer was an HTML page: its text says nothing about the call. */
  readonly html?: boolean;
  /** The provider's message, bounded; contains secrets until it is redacted. */
  readonly text: string;
  /** From `retry-after` or similar headers. */
  readonly retryAfterMs?: number;
  /** No progress within the time limit. */
  readonly hung?: boolean;
  /** The caller aborted. */
  readonly aborted?: boolean;
  /** The answer violated the format: no JSON, an unclosed tool call, a stream that ended in the middle. */
  readonly malformed?: boolean;
  /** The answer had nothing in it: no text, no thought, no call. */
  readonly empty?: boolean;
  /** Part of the answer had already been passed on. */
  readonly afterContent?: boolean;
  readonly requestId?: string;
}

/** A failed call as the one error class, with the facts in its details. */
export function modelFailed(failure: ModelFailure, cause?: unknown): AppError {
  return new AppError("MODEL_FAILED", failure.text, { details: { failure }, ...(cause === undefined ? {} : { cause }) });
}

/** The facts of a failed call; undefined for every other error. */
export function failureOf(error: unknown): ModelFailure | undefined {
  return error instanceof AppError && error.code === "MODEL_FAILED" ? (error.details["failure"] as ModelFailure) : undefined;
}
