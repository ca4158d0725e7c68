/** What a row of the outbox shows by itself. */
import { isRecord } from "../../base/records.ts";
import type { OutboxRow } from "../../store/index.ts";

/** Rows of an account whose credential is refused wait with these words before the platform's. */
export const WAITS_FOR_ACCOUNT = "waiting for the account: ";

export const waitsForAccount = ({ why }: Pick<OutboxRow, "why">): boolean => why?.startsWith(WAITS_FOR_ACCOUNT) === true;

/** The store writes it as well, where a row expires that may have arrived. */
export const MAY_HAVE_ARRIVED = "it may have arrived";

/** Whether a row that has failed may be there all the same. */
export const mayHaveArrived = ({ why, repeats }: Pick<OutboxRow, "why" | "repeats">): boolean => repeats > 0 || why?.includes(MAY_HAVE_ARRIVED) === true;

/** The turn that resends of a row belong to: its own, or one that only they have. */
export const turnOfResends = ({ id, turnId }: Pick<OutboxRow, "id" | "turnId">): string => turnId ?? `resend:${id}`;

const resendsOf = ({ payload }: OutboxRow): unknown => (isRecord(payload) ? payload["resends"] : undefined);

/** A row and what was sent again in its place, oldest first. */
export function withResends(row: OutboxRow, ofTurn: readonly OutboxRow[]): readonly [OutboxRow, ...OutboxRow[]] {
  const next = ofTurn.find((one) => resendsOf(one) === row.id);
  return next ? [row, ...withResends(next, ofTurn)] : [row];
}

/** The rows without those that were sent again. */
export function withoutResent(rows: readonly OutboxRow[]): readonly OutboxRow[] {
  const resent = new Set(rows.map(resendsOf));
  return rows.filter(({ id, state }) => state !== "failed" || !resent.has(id));
}
