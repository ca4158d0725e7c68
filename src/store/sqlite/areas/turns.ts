import { AppError } from "../../../base/errors.ts";
import type { JournalReads, JournalWrites, StepRow, TurnRow, TurnSpan, TurnsReads, TurnsWrites } from "../../areas/turns.ts";
import { ofTurn } from "./inbox.ts";
import { shape, shapeAll, toJson, type ReadHandlers, type WriteContext, type WriteHandlers } from "../handlers.ts";

const COLUMNS = `id, session_key AS sessionKey, agent_id AS agentId, state, outcome, why, resumptions, next_step AS steps, started_at AS startedAt,
  touched_at AS touchedAt, ended_at AS endedAt, detail`;
const JSON_COLUMNS = ["detail"] as const;

/** Turns of a session follow one another; only commands run beside one. So a turn this many before the given time had already ended by then. */
const BESIDE = 8;
const SPANS = `SELECT spans.id, started_at AS startedAt, ended_at AS endedAt, inbox.channel, inbox.kind, inbox.sender,
  CASE WHEN inbox.channel = 'gateway' THEN NULL ELSE json_extract(inbox.payload, '$.event.sender.name') END AS senderName
  FROM (SELECT id, started_at, ended_at, (SELECT min(id) FROM (${ofTurn("inbox.id", "turns.id")})) AS input FROM turns
    WHERE session_key = ?1 AND started_at <= ?3 AND (ended_at IS NULL OR ended_at >= ?2) AND started_at >= coalesce(
      (SELECT started_at FROM turns WHERE session_key = ?1 AND started_at <= ?2 ORDER BY started_at DESC LIMIT 1 OFFSET ${BESIDE}), 0)
    ORDER BY started_at DESC LIMIT ?4) AS spans
  LEFT JOIN inbox ON inbox.id = spans.input ORDER BY startedAt DESC, spans.id DESC`;

/** Explains why a turn could not be changed as a running one. */
function notRunning({ sql }: Pick<WriteContext, "sql">, id: string): AppError {
  const row = sql("SELECT outcome FROM turns WHERE id = ?").get(id);
  if (!row) return new AppError("NOT_FOUND", `there is no turn ${id}; start it first`);
  return new AppError("CONFLICT", `turn ${id} has ended (${String(row["outcome"])})`, { details: { id, outcome: row["outcome"] } });
}

export const turnsWrites = {
  "turns.start"({ sql, now }, { id, sessionKey, agentId, detail }) {
    const done = sql(`INSERT INTO turns (id, session_key, agent_id, state, resumptions, next_step, started_at, touched_at, detail)
      VALUES (?, ?, ?, 'running', 0, 0, ?, ?, ?) ON CONFLICT (id) DO NOTHING`).run(id, sessionKey, agentId, now, now, toJson(detail));
    if (done.changes === 0) throw new AppError("CONFLICT", `turn ${id} was already started`, { details: { id } });
  },
  "turns.resume"(context, { id }) {
    const row = context
      .sql("UPDATE turns SET resumptions = resumptions + 1, touched_at = ? WHERE id = ? AND state = 'running' RETURNING resumptions")
      .get(context.now, id);
    if (!row) throw notRunning(context, id);
    return { resumptions: Number(row["resumptions"]) };
  },
  "turns.note"(context, { id, detail }) {
    const done = context.sql("UPDATE turns SET detail = ?, touched_at = ? WHERE id = ? AND state = 'running'").run(toJson(detail), context.now, id);
    if (done.changes === 0) throw notRunning(context, id);
  },
  "turns.end"(context, { id, outcome, why, detail }) {
    const { sql, now } = context;
    const text = `UPDATE turns SET state = 'ended', outcome = ?, why = ?, ended_at = ?, touched_at = ?, detail = coalesce(?, detail)
      WHERE id = ? AND state = 'running'`;
    if (sql(text).run(outcome, why ?? null, now, now, toJson(detail), id).changes === 0) throw notRunning(context, id);
  },
} satisfies WriteHandlers<TurnsWrites>;

export const turnsReads = {
  "turns.get": ({ sql }, { id }) => shape<TurnRow>(sql(`SELECT ${COLUMNS} FROM turns WHERE id = ?`).get(id), JSON_COLUMNS),
  "turns.unfinished": ({ sql }, { limit = 1000 }) =>
    shapeAll<TurnRow>(sql(`SELECT ${COLUMNS} FROM turns WHERE state = 'running' ORDER BY started_at, id LIMIT ?`).all(limit), JSON_COLUMNS),
  "turns.spans": ({ sql }, { sessionKey, from, until, limit }) => shapeAll<TurnSpan>(sql(SPANS).all(sessionKey, from, until, limit)),
  "turns.ofSession": ({ sql }, { sessionKey, limit = 100 }) =>
    shapeAll<TurnRow>(sql(`SELECT ${COLUMNS} FROM turns WHERE session_key = ? ORDER BY started_at DESC, id DESC LIMIT ?`).all(sessionKey, limit), JSON_COLUMNS),
} satisfies ReadHandlers<TurnsReads>;

const STEP_COLUMNS = "j.turn_id AS turnId, j.step, j.kind, j.call_id AS callId, j.data, j.at";
const STEP_JSON = ["data"] as const;
const NO_RESULT = `j.kind = 'tool.intent' AND NOT EXISTS
  (SELECT 1 FROM journal r WHERE r.turn_id = j.turn_id AND r.step > j.step AND r.kind = 'tool.result' AND r.call_id IS j.call_id)`;

export const journalWrites = {
  "journal.append"(context, { turnId, kind, callId, data }) {
    const { sql, now } = context;
    const turn = sql("UPDATE turns SET next_step = next_step + 1, touched_at = ? WHERE id = ? AND state = 'running' RETURNING next_step - 1 AS step").get(
      now,
      turnId,
    );
    if (!turn) throw notRunning(context, turnId);
    const step = Number(turn["step"]);
    sql("INSERT INTO journal (turn_id, step, kind, call_id, data, at) VALUES (?, ?, ?, ?, ?, ?)").run(
      turnId,
      step,
      kind,
      callId ?? null,
      JSON.stringify(data ?? null),
      now,
    );
    return { step };
  },
} satisfies WriteHandlers<JournalWrites>;

export const journalReads = {
  "journal.steps": ({ sql }, { turnId, after = -1, limit = 10_000 }) =>
    shapeAll<StepRow>(
      sql(`SELECT ${STEP_COLUMNS} FROM journal j WHERE j.turn_id = ? AND j.step > ? ORDER BY j.step LIMIT ?`).all(turnId, after, limit),
      STEP_JSON,
    ),
  "journal.dangling"({ sql }, { turnId }) {
    const rows =
      turnId === undefined
        ? sql(
            `SELECT ${STEP_COLUMNS} FROM turns t JOIN journal j ON j.turn_id = t.id WHERE t.state = 'running' AND ${NO_RESULT} ORDER BY t.started_at, t.id, j.step`,
          ).all()
        : sql(`SELECT ${STEP_COLUMNS} FROM journal j WHERE j.turn_id = ? AND ${NO_RESULT} ORDER BY j.step`).all(turnId);
    return shapeAll<StepRow>(rows, STEP_JSON);
  },
} satisfies ReadHandlers<JournalReads>;
