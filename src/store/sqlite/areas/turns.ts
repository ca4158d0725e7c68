import { AppError } from "../../../base/errors.ts";
import type { TurnRow, TurnsReads, TurnsWrites } from "../../areas/turns.ts";
import { shape, shapeAll, toJson, type ReadHandlers, type WriteContext, type WriteHandlers } from "../handlers.ts";

const COLUMNS = `id, session_key AS sessionKey, agent_id AS agentId, state, outcome, why, resumptions, next_step AS steps, started_at AS startedAt,
  touched_at AS touchedAt, ended_at AS endedAt, detail`;
const JSON_COLUMNS = ["detail"] as const;

/** Says why a turn could not be changed as if it ran. */
export function notRunning({ sql }: Pick<WriteContext, "sql">, id: string): AppError {
  const row = sql("SELECT outcome FROM turns WHERE id = ?").get(id);
  if (!row) return new AppError("NOT_FOUND", `there is no turn ${id}; start it first`);
  return new AppError("CONFLICT", `turn ${id} has ended (${String(row["outcome"])})`, { details: { id, outcome: row["outcome"] } });
}

export const turnsWrites = {
  "turns.start"({ sql, now }, { id, sessionKey, agentId, detail }) {
    const done = sql(`INSERT INTO turns (id, session_key, agent_id, state, resumptions, next_step, started_at, touched_at, detail)
      VALUES (?, ?, ?, 'running', 0, 0, ?, ?, ?) ON CONFLICT (id) DO NOTHING`).run(id, sessionKey, agentId, now, now, toJson(detail));
    if (done.changes === 0) throw new AppError("CONFLICT", `turn ${id} was started before`, { details: { id } });
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
  "turns.ofSession": ({ sql }, { sessionKey, limit = 100 }) =>
    shapeAll<TurnRow>(sql(`SELECT ${COLUMNS} FROM turns WHERE session_key = ? ORDER BY started_at DESC, id DESC LIMIT ?`).all(sessionKey, limit), JSON_COLUMNS),
} satisfies ReadHandlers<TurnsReads>;
