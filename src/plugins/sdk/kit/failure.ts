/** What goes wrong with a platform. No secret stands in any of it. */
import type { SendFailure } from "../../../protocol/index.ts";

export interface ChannelErrorFacts {
  /** What was asked for: a method, a path, `send`, `start`. */
  readonly action: string;
  /** The platform's status; none where no answer came. */
  readonly status?: number | undefined;
  /** As the platform words it. */
  readonly description?: string | undefined;
  readonly delivery: SendFailure;
  /** Trying again is useless until the configuration changes. */
  readonly permanent?: boolean | undefined;
  readonly code?: string | undefined;
  /** The platform's own code or error name. */
  readonly reason?: string | undefined;
  /** The answer's body, where it was JSON. */
  readonly body?: unknown;
}

export class ChannelError extends Error {
  override readonly name = "ChannelError";
  readonly action: string;
  readonly status: number | undefined;
  readonly description: string;
  readonly delivery: SendFailure;
  readonly permanent: boolean;
  readonly code: string;
  readonly reason: string | undefined;
  readonly body: unknown;

  constructor(message: string, facts: ChannelErrorFacts) {
    super(message);
    this.action = facts.action;
    this.status = facts.status;
    this.description = facts.description ?? "";
    this.delivery = facts.delivery;
    this.permanent = facts.permanent ?? false;
    this.code = facts.code ?? (facts.status === undefined ? "UNAVAILABLE" : `HTTP_${facts.status}`);
    this.reason = facts.reason;
    this.body = facts.body;
  }

  /** Whether the platform's description contains one of these, whatever their case. */
  mentions(...texts: readonly string[]): boolean {
    const description = this.description.toLowerCase();
    return texts.some((text) => description.includes(text.toLowerCase()));
  }

  /** The same, with another end for what was to be sent. */
  withDelivery(delivery: SendFailure, message: string = this.message): ChannelError {
    const { action, status, description, permanent, code, reason, body } = this;
    return new ChannelError(message, { action, status, description, permanent, code, reason, body, delivery });
  }
}

export function asChannelError(error: unknown): ChannelError | undefined {
  return error instanceof ChannelError ? error : undefined;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** It certainly did not arrive. */
export function notSent(action: string, message: string, retryAfterMs?: number): ChannelError {
  return new ChannelError(message, { action, delivery: { state: "retry", ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } });
}

/** It left, and may have arrived. */
export function unsure(action: string, message: string): ChannelError {
  return new ChannelError(message, { action, delivery: { state: "unknown" } });
}

/** What was asked for cannot be done, and no request was made. */
export function unfit(action: string, message: string, code = "INVALID_INPUT"): ChannelError {
  return new ChannelError(message, { action, delivery: { state: "failed" }, code });
}

/** The account cannot run like this. */
export function hopeless(message: string, code = "CONFIG_INVALID"): ChannelError {
  return new ChannelError(message, { action: "start", delivery: { state: "failed" }, permanent: true, code });
}
