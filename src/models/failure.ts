import { AppError } from "../base/errors.ts";

/** Where a call was when it failed. */
export type FailurePhase = "connect" | "headers" | "stream" | "answer";

/** How a call to a provider failed, as far as can be told without deciding what to do about it. */
export interface ModelFailure {
  readonly phase: FailurePhase;
  /** HTTP status, or the one an error event inside the stream stands for. */
  readonly status?: number;
  /** The provider's own word: `rate_limit_error`, `insufficient_quota`, `ECONNRESET`. */
  readonly code?: string;
  /** Everything in the answer that is a code, most specific first; `code` is one of them. */
  readonly codes?: readonly string[];
  /** The answer was JSON: its texts are the provider's own, not a proxy's. */
  readonly structured?: boolean;
  /** The answer was a page for people: its words say nothing about the call. */
  readonly html?: boolean;
  /** The provider's words, bounded; without secrets only after redaction. */
  readonly text: string;
  /** From `retry-after` or its relatives. */
  readonly retryAfterMs?: number;
  /** Nothing that counts as progress came within the budget. */
  readonly hung?: boolean;
  /** The caller gave up. */
  readonly aborted?: boolean;
  /** The answer broke the format: no JSON, an unclosed tool call, a stream that ended in the middle. */
  readonly malformed?: boolean;
  /** Something of the answer had already been passed on. */
  readonly afterContent?: boolean;
  readonly requestId?: string;
}

/** A failed call as it travels: the one error class, with the facts in its details. */
export function modelFailed(failure: ModelFailure, cause?: unknown): AppError {
  return new AppError("MODEL_FAILED", failure.text, { details: { failure }, ...(cause === undefined ? {} : { cause }) });
}

/** The facts of a failed call; undefined for every other error. */
export function failureOf(error: unknown): ModelFailure | undefined {
  return error instanceof AppError && error.code === "MODEL_FAILED" ? (error.details["failure"] as ModelFailure) : undefined;
}
