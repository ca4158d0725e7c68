import type { JournalReads, JournalWrites, StepRow } from "../../areas/journal.ts";
import { shapeAll, type ReadHandlers, type WriteHandlers } from "../handlers.ts";
import { notRunning } from "./turns.ts";

const COLUMNS = "j.turn_id AS turnId, j.step, j.kind, j.call_id AS callId, j.data, j.at";
const JSON_COLUMNS = ["data"] as const;
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
      sql(`SELECT ${COLUMNS} FROM journal j WHERE j.turn_id = ? AND j.step > ? ORDER BY j.step LIMIT ?`).all(turnId, after, limit),
      JSON_COLUMNS,
    ),
  "journal.dangling"({ sql }, { turnId }) {
    const rows =
      turnId === undefined
        ? sql(
            `SELECT ${COLUMNS} FROM turns t JOIN journal j ON j.turn_id = t.id WHERE t.state = 'running' AND ${NO_RESULT} ORDER BY t.started_at, t.id, j.step`,
          ).all()
        : sql(`SELECT ${COLUMNS} FROM journal j WHERE j.turn_id = ? AND ${NO_RESULT} ORDER BY j.step`).all(turnId);
    return shapeAll<StepRow>(rows, JSON_COLUMNS);
  },
} satisfies ReadHandlers<JournalReads>;
