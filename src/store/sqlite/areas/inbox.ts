import { AppError } from "../../../base/errors.ts";
import type { FailedInput, InboxAccepted, InboxArrivals, InboxQueue, InboxReads, InboxRow, InboxWrites, UntranscribedRow } from "../../areas/inbox.ts";
import { OF_CHANNEL, TURN_IS_OTHER } from "../schema-lean.ts";
import { shape, shapeAll, toJson, where, type ReadContext, type ReadHandlers, type WriteContext, type WriteHandlers } from "../handlers.ts";
import { firstRow, need } from "../../rows.ts";

const COLUMNS = `id, channel, account, conversation, message_id AS messageId, kind, text, payload, sender, session_key AS sessionKey,
  agent_id AS agentId, state, outcome, why, turn_id AS turnId, received_at AS receivedAt, claimed_at AS claimedAt, settled_at AS settledAt`;
const JSON_COLUMNS = ["payload"] as const;
const DEFAULT_LIMIT = 1000;

/** A turn writes its input to the transcript together with its first answer, or with a note that says so. */
const UNTRANSCRIBED = `SELECT id, channel, message_id AS messageId, kind, substr(text, 1, ?) AS text, sender, turn_id AS turnId, received_at AS receivedAt,
  json_extract(payload, '$.event.sender.name') AS senderName, json_extract(payload, '$.channel') AS via,
  coalesce(json_array_length(payload, '$.images'), 0) + coalesce(json_array_length(payload, '$.files'), 0)
    + coalesce(json_array_length(payload, '$.event.media'), 0) AS files
  FROM inbox WHERE state <> 'settled' AND session_key = ? AND NOT EXISTS (SELECT 1 FROM journal WHERE journal.turn_id = inbox.turn_id
    AND (journal.kind = 'model.result' OR (journal.kind = 'note' AND json_extract(journal.data, '$.said') = 1)))
  ORDER BY id LIMIT ?`;

/** Inputs of a turn: the one that the turn is named after by its message id, others by the index over turns. */
export const ofTurn = (columns: string, turn: string): string => `SELECT ${columns} FROM inbox WHERE turn_id = ${turn} AND ${TURN_IS_OTHER}
  UNION ALL SELECT ${columns} FROM inbox WHERE message_id = ${turn} AND turn_id = ${turn}`;

/** Runs a change that must match exactly one row; otherwise throws with that row's state. */
function changeOne(context: WriteContext, text: string, values: readonly (string | number | null)[], id: number, doing: string): void {
  if (context.sql(text).run(...values).changes === 1) return;
  const row = context.sql("SELECT state, outcome, turn_id AS turn FROM inbox WHERE id = ?").get(id);
  if (!row) throw new AppError("NOT_FOUND", `cannot ${doing} input ${id}: there is none with this id`);
  throw new AppError("CONFLICT", `cannot ${doing} input ${id}: it is ${String(row["state"])}${row["turn"] === null ? "" : ` (turn ${String(row["turn"])})`}`, {
    details: { id, state: row["state"], outcome: row["outcome"], turnId: row["turn"] },
  });
}

/** The first input that arrived at or after this time. Ids are in order of arrival, and there is no index by time: halving finds it in a few lookups. */
function firstSince({ sql }: ReadContext, since: number): number {
  const ends = sql("SELECT coalesce(min(id), 1) AS first, coalesce(max(id), 0) AS last FROM inbox").get();
  let [low, high] = [Number(ends?.["first"]), Number(ends?.["last"]) + 1];
  const next = sql("SELECT id, received_at AS at FROM inbox WHERE id >= ? ORDER BY id LIMIT 1");
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = next.get(middle);
    if (row && Number(row["at"]) < since) low = Number(row["id"]) + 1;
    else high = middle;
  }
  return low;
}

export const inboxWrites = {
  "inbox.accept"({ sql, now }, row) {
    const state = row.settled ? "settled" : "pending";
    const done = sql(`INSERT INTO inbox (channel, account, conversation, message_id, session_key, agent_id, sender, kind, text, payload, state, received_at,
        outcome, why, settled_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (channel, account, conversation, message_id) DO NOTHING`).run(
      row.channel,
      row.account,
      row.conversation,
      row.messageId,
      row.sessionKey ?? null,
      row.agentId ?? null,
      row.sender ?? null,
      row.kind,
      row.text,
      toJson(row.payload),
      state,
      now,
      row.settled?.outcome ?? null,
      row.settled?.why ?? null,
      row.settled ? now : null,
    );
    if (done.changes === 1) return { id: Number(done.lastInsertRowid), duplicate: false, state, outcome: row.settled?.outcome ?? null };
    const first = sql("SELECT id, state, outcome FROM inbox WHERE channel = ? AND account = ? AND conversation = ? AND message_id = ?");
    const found = need(firstRow<Omit<InboxAccepted, "duplicate">>(first, row.channel, row.account, row.conversation, row.messageId));
    return { ...found, duplicate: true };
  },
  "inbox.assign"(context, { id, sessionKey, agentId }) {
    changeOne(context, "UPDATE inbox SET session_key = ?, agent_id = ? WHERE id = ? AND state <> 'settled'", [sessionKey, agentId, id], id, "assign");
  },
  "inbox.decide"({ sql }, { inputs }) {
    const keep = sql("UPDATE inbox SET payload = json_set(coalesce(payload, '{}'), '$.decided', json(?)) WHERE id = ? AND state <> 'settled'");
    for (const { id, decided } of inputs) keep.run(JSON.stringify(decided), id);
  },
  "inbox.claim"(context, { ids, turnId }) {
    const text = `UPDATE inbox SET state = 'claimed', turn_id = ?, claimed_at = ? WHERE id = ? AND (state = 'pending' OR (state = 'claimed' AND turn_id = ?))`;
    for (const id of ids) changeOne(context, text, [turnId, context.now, id, turnId], id, "claim");
  },
  "inbox.release"(context, { ids }) {
    const text = "UPDATE inbox SET state = 'pending', turn_id = NULL, claimed_at = NULL WHERE id = ? AND state <> 'settled'";
    for (const id of ids) changeOne(context, text, [id], id, "release");
  },
  "inbox.settle"(context, { ids, outcome, why, turnId, hooks }) {
    if (hooks && hooks.length > 0) {
      const keep = context.sql("UPDATE inbox SET payload = json_set(coalesce(payload, '{}'), '$.hooks', json(?)) WHERE id = ? AND state <> 'settled'");
      for (const id of ids) keep.run(JSON.stringify(hooks), id);
    }
    // Nearly always the answering turn has claimed it before: setting it again would write its index again.
    const same =
      "UPDATE inbox SET state = 'settled', outcome = ?, why = ?, settled_at = ? WHERE id = ? AND state <> 'settled' AND turn_id = coalesce(?, turn_id)";
    const text = "UPDATE inbox SET state = 'settled', outcome = ?, why = ?, turn_id = coalesce(?, turn_id), settled_at = ? WHERE id = ? AND state <> 'settled'";
    for (const id of ids) {
      if (context.sql(same).run(outcome, why ?? null, context.now, id, turnId ?? null).changes === 1) continue;
      changeOne(context, text, [outcome, why ?? null, turnId ?? null, context.now, id], id, "settle");
    }
  },
  "inbox.redact"(context, { id, text }) {
    changeOne(context, "UPDATE inbox SET text = ?, payload = NULL WHERE id = ?", [text, id], id, "redact");
  },
} satisfies WriteHandlers<InboxWrites>;

export const inboxReads = {
  "inbox.get": ({ sql }, { id }) => shape<InboxRow>(sql(`SELECT ${COLUMNS} FROM inbox WHERE id = ?`).get(id), JSON_COLUMNS),
  "inbox.find"({ sql }, { messageId, channel, account, conversation }) {
    const { text, values } = where([
      ["channel = ?", channel],
      ["account = ?", account],
      ["conversation = ?", conversation],
      ["message_id = ?", messageId],
    ]);
    return shapeAll<InboxRow>(sql(`SELECT ${COLUMNS} FROM inbox WHERE ${text} ORDER BY id DESC LIMIT ${DEFAULT_LIMIT}`).all(...values), JSON_COLUMNS);
  },
  "inbox.open"({ sql }, { sessionKey, state, until, after, limit = DEFAULT_LIMIT }) {
    const { text, values } = where([
      ["id > ?", after],
      ["session_key = ?", sessionKey],
      ["state = ?", state],
      ["received_at <= ?", until],
    ]);
    return shapeAll<InboxRow>(sql(`SELECT ${COLUMNS} FROM inbox WHERE state <> 'settled' AND ${text} ORDER BY id LIMIT ?`).all(...values, limit), JSON_COLUMNS);
  },
  "inbox.untranscribed": ({ sql }, { sessionKey, chars, limit }) => shapeAll<UntranscribedRow>(sql(UNTRANSCRIBED).all(chars, sessionKey, limit)),
  "inbox.ofTurn": ({ sql }, { turnId }) => shapeAll<InboxRow>(sql(`${ofTurn(COLUMNS, "?1")} ORDER BY id`).all(turnId), JSON_COLUMNS),
  "inbox.recent"({ sql }, { sessionKey, limit = 100 }) {
    const { text, values } = where([["session_key = ?", sessionKey]]);
    return shapeAll<InboxRow>(sql(`SELECT ${COLUMNS} FROM inbox WHERE ${text} ORDER BY id DESC LIMIT ?`).all(...values, limit), JSON_COLUMNS);
  },
  "inbox.ofConversation"({ sql }, { channel, account, conversation, before, limit = 100 }) {
    const { text, values } = where([
      ["channel = ?", channel],
      ["account = ?", account],
      ["conversation = ?", conversation],
      ["id < ?", before],
    ]);
    const indexed = channel === "gateway" ? "1" : OF_CHANNEL;
    return shapeAll<InboxRow>(sql(`SELECT ${COLUMNS} FROM inbox WHERE ${text} AND ${indexed} ORDER BY id DESC LIMIT ?`).all(...values, limit), JSON_COLUMNS);
  },
  "inbox.queues": ({ sql }, { limit }) =>
    shapeAll<InboxQueue>(
      sql(`SELECT session_key AS sessionKey, count(*) AS waiting, min(received_at) AS oldestAt FROM inbox
        WHERE state <> 'settled' AND state = 'pending' AND session_key IS NOT NULL GROUP BY session_key ORDER BY oldestAt LIMIT ?`).all(limit),
    ),
  "inbox.failures": ({ sql }, { among, limit }) =>
    shapeAll<FailedInput>(
      sql(`WITH ended AS (SELECT id, channel, session_key, turn_id, why, settled_at, outcome FROM inbox WHERE settled_at IS NOT NULL ORDER BY id DESC LIMIT ?)
        SELECT id, channel, ended.session_key AS sessionKey, turn_id AS turnId, why, settled_at AS at
        FROM ended LEFT JOIN (SELECT session_key, max(id) AS last FROM ended WHERE outcome = 'answered' GROUP BY session_key) AS good
          ON good.session_key = ended.session_key
        WHERE outcome = 'failed' AND id > coalesce(good.last, 0) ORDER BY settled_at DESC LIMIT ?`).all(among, limit),
    ),
  "inbox.arrivals": (context, { since, stepMs }) =>
    shapeAll<InboxArrivals>(
      context
        .sql(
          `SELECT ?1 + CAST((received_at - ?1) / ?2 AS INTEGER) * ?2 AS "from", channel, count(*) AS count, count(*) FILTER (WHERE outcome = 'answered') AS answered,
            count(*) FILTER (WHERE outcome = 'failed') AS failed
          FROM inbox WHERE id >= ?3 AND received_at >= ?1 AND kind = 'message' GROUP BY 1, channel ORDER BY 1, channel`,
        )
        .all(Math.trunc(since), Math.trunc(stepMs), firstSince(context, since)),
    ),
  "inbox.lastBefore": ({ sql }, { before }) => {
    const row = sql("SELECT received_at AS at FROM inbox WHERE received_at < ? ORDER BY id DESC LIMIT 1").get(before);
    return row ? Number(row["at"]) : null;
  },
  "inbox.counts": ({ sql }) =>
    need(
      firstRow<InboxReads["inbox.counts"]["result"]>(
        sql(`SELECT count(*) FILTER (WHERE state = 'pending') AS pending, count(*) FILTER (WHERE state = 'claimed') AS claimed, min(received_at) AS oldestAt
        FROM inbox WHERE state <> 'settled'`),
      ),
    ),
} satisfies ReadHandlers<InboxReads>;
