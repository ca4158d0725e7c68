import type { NoInput } from "./input.ts";

export type OutboxState = "pending" | "attempting" | "sent" | "unknown" | "failed" | "suppressed";

export interface OutboxInput {
  /** Lets the platform recognize a repeated send; the same for all attempts. */
  readonly nonce: string;
  readonly channel: string;
  readonly account: string;
  readonly target: string;
  readonly payload: unknown;
  /** After this time the row is no longer sent. */
  readonly expiresAt: number;
  readonly turnId?: string | undefined;
  readonly sessionKey?: string | undefined;
  /** Not before; default at once. */
  readonly notBefore?: number | undefined;
  /** Why it is never sent: the row is created in its final state, so that there is a trace of it. */
  readonly suppressed?: string | undefined;
  /** Why its text may already have been posted by other means: the row starts as `unknown`, so that its only attempt counts as a repeat. */
  readonly mayHaveArrived?: string | undefined;
}

export interface OutboxRow {
  /** Assigned by the store, in sending order, never reused. */
  readonly id: number;
  readonly nonce: string;
  readonly channel: string;
  readonly account: string;
  readonly target: string;
  readonly payload: unknown;
  readonly state: OutboxState;
  /** How often it was handed to the channel. */
  readonly attempts: number;
  /** Attempts made although an earlier one may have arrived. */
  readonly repeats: number;
  /** Null when no further attempt is planned. */
  readonly nextAttemptAt: number | null;
  readonly expiresAt: number;
  readonly turnId: string | null;
  readonly sessionKey: string | null;
  readonly receipt: unknown;
  readonly why: string | null;
  readonly createdAt: number;
  readonly attemptedAt: number | null;
  readonly settledAt: number | null;
}

/**
 * One state change of a delivery. Allowed are
 * pending → attempting | failed | suppressed; attempting → sent | unknown | failed | pending (it certainly did not arrive);
 * unknown → attempting | sent | failed | suppressed. Sent, failed and suppressed are final. Everything else is `CONFLICT`.
 */
export type OutboxMark =
  /**
   * Allowed once after `unknown`, unless `nonceHonoured` says that the platform drops repeats by itself. `idempotent`: sending twice has the same
   * effect
   * as sending once, so it does not count as a repeat.
   */
  | { readonly id: number; readonly state: "attempting"; readonly nonceHonoured?: boolean | undefined; readonly idempotent?: boolean | undefined }
  | { readonly id: number; readonly state: "pending"; readonly nextAttemptAt: number; readonly why: string }
  | { readonly id: number; readonly state: "unknown"; readonly why: string; readonly nextAttemptAt?: number | undefined }
  | { readonly id: number; readonly state: "sent"; readonly receipt?: unknown }
  | { readonly id: number; readonly state: "failed"; readonly why: string }
  | { readonly id: number; readonly state: "suppressed"; readonly why: string };

export interface OutboxCounts {
  readonly pending: number;
  readonly attempting: number;
  readonly unknown: number;
  readonly oldestAt: number | null;
}

/** A row that will not be sent any more, without its text. */
export interface FailedDelivery extends Pick<OutboxRow, "id" | "channel" | "account" | "target" | "turnId" | "sessionKey" | "why"> {
  readonly at: number;
}

export interface OutboxWrites {
  /** Adds rows; they are sent in this order. */
  "outbox.add": { input: { readonly rows: readonly OutboxInput[] }; result: { readonly ids: readonly number[] } };
  "outbox.mark": { input: OutboxMark; result: { readonly attempts: number; readonly repeats: number } };
  /** After a restart: rows that were being sent may or may not have arrived, so they become `unknown`, due at once; the reason before stays behind the new one. Returns their ids. */
  "outbox.recover": { input: { readonly why: string }; result: readonly number[] };
  /** Marks expired rows as `failed: expired`, with what they waited for. Returns their ids. */
  "outbox.expire": { input: NoInput; result: readonly number[] };
}

export interface OutboxReads {
  "outbox.get": { input: { readonly id: number }; result: OutboxRow | undefined };
  /** Rows to send now, oldest first; with `after` only those with a higher id. */
  "outbox.due": {
    input: { readonly now: number; readonly channel?: string | undefined; readonly after?: number | undefined; readonly limit?: number | undefined };
    result: readonly OutboxRow[];
  };
  /** When the next row falls due, or null. */
  "outbox.nextDue": { input: NoInput; result: number | null };
  "outbox.ofTurn": { input: { readonly turnId: string }; result: readonly OutboxRow[] };
  /** Rows that are not in a final state. */
  "outbox.counts": { input: NoInput; result: OutboxCounts };
  /** Failures among the last `among` finished rows, newest first. */
  "outbox.failures": { input: { readonly among: number; readonly limit: number }; result: readonly FailedDelivery[] };
  /** The latest rows, newest first, whatever their state. */
  "outbox.recent": {
    input: { readonly state?: OutboxState | undefined; readonly sessionKey?: string | undefined; readonly limit?: number | undefined };
    result: readonly OutboxRow[];
  };
}
