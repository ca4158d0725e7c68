/** What goes wrong with IRC. No password stands in any of it. */

/** What became of a message: see `SendFailure` of the SDK. */
export interface Delivery {
  readonly state: "failed" | "retry" | "unknown";
  readonly retryAfterMs?: number;
}

export class IrcError extends Error {
  override readonly name = "IrcError";
  readonly code: string;
  readonly delivery: Delivery;
  /** Trying again is useless until the configuration changes. */
  readonly permanent: boolean;

  constructor(message: string, facts: { readonly code: string; readonly delivery: Delivery; readonly permanent?: boolean }) {
    super(message);
    this.code = facts.code;
    this.delivery = facts.delivery;
    this.permanent = facts.permanent ?? false;
  }
}

/** It certainly did not leave. */
export function notSent(message: string, retryAfterMs?: number): IrcError {
  return new IrcError(message, { code: "UNAVAILABLE", delivery: { state: "retry", ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } });
}

/** It left, and nobody knows whether it arrived. */
export function unsure(message: string): IrcError {
  return new IrcError(message, { code: "UNAVAILABLE", delivery: { state: "unknown" } });
}

/** The server refused, and will refuse again. */
export function refused(message: string, code = "IRC_REFUSED"): IrcError {
  return new IrcError(message, { code, delivery: { state: "failed" } });
}

/** The account cannot run like this. */
export function hopeless(message: string, code = "CONFIG_INVALID"): IrcError {
  return new IrcError(message, { code, delivery: { state: "failed" }, permanent: true });
}

export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
