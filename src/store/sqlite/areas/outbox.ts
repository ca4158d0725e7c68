import { AppError } from "../../../base/errors.ts";
import type { FailedDelivery, OutboxCounts, OutboxMark, OutboxReads, OutboxRow, OutboxState, OutboxWrites } from "../../areas/outbox.ts";
import { shape, shapeAll, toJson, where, type ReadHandlers, type WriteHandlers } from "../handlers.ts";
import { firstRow, need } from "../../rows.ts";

const COLUMNS = `id, nonce, channel, account, target, payload, state, attempts, repeats, next_attempt_at AS nextAttemptAt, expires_at AS expiresAt,
  turn_id AS turnId, session_key AS sessionKey, receipt, why, created_at AS createdAt, attempted_at AS attemptedAt, settled_at AS settledAt`;
const JSON_COLUMNS = ["payload", "receipt"] as const;

/** Allowed transitions from each state. */
const NEXT: Readonly<Record<OutboxState, readonly OutboxState[]>> = {
  pending: ["attempting", "failed", "suppressed"],
  attempting: ["sent", "unknown", "failed", "pending"],
  unknown: ["attempting", "sent", "failed", "suppressed"],
  sent: [],
  failed: [],
  suppressed: [],
};

interface DeliveryState {
  readonly state: OutboxState;
  readonly attempts: number;
  readonly repeats: number;
}

/** Refuses a transition that is not allowed from the row's state. */
function assertLegal(mark: OutboxMark, row: DeliveryState): void {
  if (!NEXT[row.state].includes(mark.state)) {
    throw new AppError(
      "CONFLICT",
      `delivery ${mark.id} is ${row.state} and cannot become ${mark.state}; allowed: ${NEXT[row.state].join(", ") || "nothing, it is final"}`,
      {
        details: { id: mark.id, from: row.state, to: mark.state },
      },
    );
  }
  if (mark.state === "attempting" && row.state === "unknown" && row.repeats > 0 && mark.nonceHonoured !== true && mark.idempotent !== true) {
    throw new AppError("CONFLICT", `delivery ${mark.id} may have arrived and was already repeated once; mark it failed instead of sending it again`, {
      details: { id: mark.id, from: row.state, to: mark.state, repeats: row.repeats },
    });
  }
}

export const outboxWrites = {
  "outbox.add"({ sql, now }, { rows }) {
    const insert =
      sql(`INSERT INTO outbox (nonce, turn_id, session_key, channel, account, target, payload, expires_at, created_at, state, next_attempt_at, why, settled_at, attempts, repeats)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)`);
    const ids = rows.map((row) => {
      const values = [row.nonce, row.turnId ?? null, row.sessionKey ?? null, row.channel, row.account, row.target, JSON.stringify(row.payload ?? null)];
      const open = row.mayHaveArrived === undefined ? "pending" : "unknown";
      const standing =
        row.suppressed === undefined ? [open, row.notBefore ?? now, row.mayHaveArrived ?? null, null] : ["suppressed", null, row.suppressed, now];
      return Number(insert.run(...values, row.expiresAt, now, ...standing).lastInsertRowid);
    });
    return { ids };
  },
  "outbox.mark"({ sql, now }, mark) {
    const row = firstRow<DeliveryState>(sql("SELECT state, attempts, repeats FROM outbox WHERE id = ?"), mark.id);
    if (!row) throw new AppError("NOT_FOUND", `there is no delivery ${mark.id}`);
    assertLegal(mark, row);
    const attempting = mark.state === "attempting";
    const attempts = row.attempts + (attempting ? 1 : 0);
    const repeats = row.repeats + (attempting && row.state === "unknown" && mark.idempotent !== true ? 1 : 0);
    const ended = NEXT[mark.state].length === 0;
    sql(`UPDATE outbox SET state = ?, attempts = ?, repeats = ?, next_attempt_at = ?, receipt = coalesce(?, receipt), why = coalesce(?, why),
      attempted_at = CASE WHEN ? THEN ? ELSE attempted_at END, settled_at = ? WHERE id = ?`).run(
      mark.state,
      attempts,
      repeats,
      "nextAttemptAt" in mark ? (mark.nextAttemptAt ?? null) : null,
      mark.state === "sent" ? toJson(mark.receipt) : null,
      "why" in mark ? mark.why : null,
      attempting ? 1 : 0,
      now,
      ended ? now : null,
      mark.id,
    );
    return { attempts, repeats };
  },
  "outbox.recover"({ sql, now }, { why }) {
    const text =
      "UPDATE outbox SET state = 'unknown', why = ? || coalesce('; before that: ' || why, ''), next_attempt_at = ? WHERE settled_at IS NULL AND state = 'attempting' RETURNING id";
    return sql(text)
      .all(why, now)
      .map((row) => Number(row["id"]));
  },
  "outbox.expire"({ sql, now }) {
    const text = `UPDATE outbox SET state = 'failed', why = 'expired' || coalesce(': ' || why, '') || iif(state = 'unknown', '; it may have arrived', ''), next_attempt_at = NULL, settled_at = ?
      WHERE settled_at IS NULL AND state IN ('pending', 'unknown') AND expires_at <= ? RETURNING id`;
    return sql(text)
      .all(now, now)
      .map((row) => Number(row["id"]));
  },
} satisfies WriteHandlers<OutboxWrites>;

export const outboxReads = {
  "outbox.get": ({ sql }, { id }) => shape<OutboxRow>(sql(`SELECT ${COLUMNS} FROM outbox WHERE id = ?`).get(id), JSON_COLUMNS),
  "outbox.due"({ sql }, { now, channel, after, limit = 1000 }) {
    const { text, values } = where([
      ["channel = ?", channel],
      ["id > ?", after],
    ]);
    const query = `SELECT ${COLUMNS} FROM outbox WHERE settled_at IS NULL AND state IN ('pending', 'unknown') AND next_attempt_at <= ? AND ${text} ORDER BY id LIMIT ?`;
    return shapeAll<OutboxRow>(sql(query).all(now, ...values, limit), JSON_COLUMNS);
  },
  "outbox.nextDue"({ sql }) {
    const text = "SELECT min(next_attempt_at) AS at FROM outbox WHERE settled_at IS NULL AND state IN ('pending', 'unknown')";
    return firstRow<{ at: number | null }>(sql(text))?.at ?? null;
  },
  "outbox.ofTurn": ({ sql }, { turnId }) => shapeAll<OutboxRow>(sql(`SELECT ${COLUMNS} FROM outbox WHERE turn_id = ? ORDER BY id`).all(turnId), JSON_COLUMNS),
  "outbox.counts": ({ sql }) =>
    need(
      firstRow<OutboxCounts>(
        sql(`SELECT count(*) FILTER (WHERE state = 'pending') AS pending, count(*) FILTER (WHERE state = 'attempting') AS attempting,
        count(*) FILTER (WHERE state = 'unknown') AS unknown, min(created_at) AS oldestAt FROM outbox WHERE settled_at IS NULL`),
      ),
    ),
  "outbox.failures": ({ sql }, { among, limit }) =>
    shapeAll<FailedDelivery>(
      sql(`SELECT id, channel, account, target, turn_id AS turnId, session_key AS sessionKey, why, settled_at AS at
        FROM (SELECT id, channel, account, target, turn_id, session_key, why, settled_at, state FROM outbox
          WHERE settled_at IS NOT NULL ORDER BY settled_at DESC LIMIT ?)
        WHERE state = 'failed' ORDER BY settled_at DESC LIMIT ?`).all(among, limit),
    ),
  "outbox.recent"({ sql }, { state, sessionKey, limit = 100 }) {
    const { text, values } = where([
      ["state = ?", state],
      ["session_key = ?", sessionKey],
    ]);
    return shapeAll<OutboxRow>(sql(`SELECT ${COLUMNS} FROM outbox WHERE ${text} ORDER BY id DESC LIMIT ?`).all(...values, limit), JSON_COLUMNS);
  },
} satisfies ReadHandlers<OutboxReads>;
