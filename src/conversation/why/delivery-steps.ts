import { isRecord } from "../../base/records.ts";
import type { InboxRow, OutboxRow } from "../../store/index.ts";
import type { RowPayload } from "../delivery/attempt.ts";
import { hookSteps } from "./message-steps.ts";
import { given, type StoryStep, type StoryStore } from "./story.ts";

const RECENT_ROWS = 500;

export const payloadOf = ({ payload }: OutboxRow): Partial<RowPayload> => payload ?? {};

/** What was sent because of a message without a turn: the answer of a command, a pairing code. */
export async function deliveriesOfMessage(store: StoryStore, row: InboxRow, messageId: string): Promise<readonly OutboxRow[]> {
  const [ofSession, all] = await Promise.all([
    row.sessionKey === null ? [] : store.read("outbox.recent", { sessionKey: row.sessionKey, limit: RECENT_ROWS }),
    store.read("outbox.recent", { limit: RECENT_ROWS }),
  ]);
  const rows = new Map([...ofSession, ...all].map((one) => [one.id, one]));
  const own = (one: OutboxRow): boolean =>
    (one.turnId === null || payloadOf(one).resends !== undefined) &&
    one.channel === row.channel &&
    one.account === row.account &&
    one.createdAt >= row.receivedAt &&
    payloadOf(one).messageId === messageId;
  return [...rows.values()].filter(own).sort((a, b) => a.id - b.id);
}

const times = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** `sent as message 77 after 2 attempts`. */
export function stateText(row: OutboxRow): string {
  const { state, attempts, repeats, why, receipt, nextAttemptAt } = row;
  const id = isRecord(receipt) ? receipt["messageId"] : undefined;
  const how: Record<OutboxRow["state"], string> = {
    sent: `sent${typeof id === "string" ? ` as message ${id}` : ""}`,
    failed: "not delivered",
    suppressed: "blocked",
    unknown: "may have arrived",
    pending: nextAttemptAt === null ? "waiting" : `waiting, next attempt at ${new Date(nextAttemptAt).toISOString()}`,
    attempting: "sending",
  };
  const tried = attempts > 1 ? ` after ${times(attempts, "attempt")}` : "";
  const again = repeats > 0 ? `, ${times(repeats, "repeat")}` : "";
  const beside = payloadOf(row).isPreviewLost ? "; a preview with the beginning of it may also be in the chat" : "";
  return `${how[state]}${tried}${again}${why === null || state === "sent" ? "" : `: ${why}`}${beside}`;
}

/** Rows of the outbox, in the order in which they were to be sent. */
export function deliverySteps(rows: readonly OutboxRow[]): StoryStep[] {
  return rows.flatMap((row, index) => {
    const { hookLog = [], hooks, kind, text = "", mediaUrl, resends } = payloadOf(row);
    const piece = rows.length === 1 ? "" : ` ${index + 1} of ${rows.length}`;
    const what = kind === "final" || kind === undefined ? "reply" : kind;
    const details = given({
      outbox: row.id,
      state: row.state,
      attempts: row.attempts,
      repeats: row.repeats,
      channel: row.channel,
      account: row.account,
      target: row.target,
      nonce: row.nonce,
      receipt: row.receipt,
      why: row.why,
      attemptedAt: row.attemptedAt,
      nextAttemptAt: row.nextAttemptAt,
      expiresAt: row.settledAt === null ? row.expiresAt : undefined,
      changedBy: hooks,
      chars: text.length,
      media: mediaUrl !== undefined,
    });
    const took = row.settledAt === null ? {} : { ms: Math.max(0, row.settledAt - row.createdAt) };
    const step: StoryStep = {
      at: row.createdAt,
      ...took,
      kind: "delivery",
      text: `${what}${piece}${resends === undefined ? "" : ` (resend of out:${resends})`} to ${row.channel} ${row.target}: ${stateText(row)}`,
      details,
    };
    return [...hookSteps(hookLog), step];
  });
}
