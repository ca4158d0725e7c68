import { AppError } from "../../../base/errors.ts";
import type { SubagentRow, SubagentsReads, SubagentsWrites } from "../../areas/subagents.ts";
import { shape, shapeAll, where, type ReadContext, type ReadHandlers, type WriteHandlers } from "../handlers.ts";

const COLUMNS = `run_id AS runId, child_session_key AS childSessionKey, requester_session_key AS requesterSessionKey, state, outcome, announced,
  created_at AS createdAt, started_at AS startedAt, ended_at AS endedAt, archive_at AS archiveAt, data`;

function runOf({ sql }: ReadContext, runId: string): SubagentRow | undefined {
  return shape<SubagentRow>(sql(`SELECT ${COLUMNS} FROM subagents WHERE run_id = ?`).get(runId), ["data"], ["announced"]);
}

export const subagentsWrites = {
  "subagents.add"({ sql, now }, { runId, childSessionKey, requesterSessionKey, data, archiveAt }) {
    const text = `INSERT INTO subagents (run_id, child_session_key, requester_session_key, state, announced, created_at, archive_at, data)
      VALUES (?, ?, ?, 'queued', 0, ?, ?, ?) ON CONFLICT (run_id) DO NOTHING`;
    const done = sql(text).run(runId, childSessionKey, requesterSessionKey, now, archiveAt ?? null, JSON.stringify(data ?? null));
    if (done.changes === 0) throw new AppError("CONFLICT", `subagent run ${runId} is already there`, { details: { runId } });
  },
  "subagents.patch"(context, { runId, patch }) {
    const row = runOf(context, runId);
    if (!row) throw new AppError("NOT_FOUND", `there is no subagent run ${runId}`);
    const changesEnd = (patch.state !== undefined && patch.state !== "ended") || (patch.outcome !== undefined && patch.outcome !== row.outcome);
    if (row.state === "ended" && changesEnd) {
      throw new AppError("CONFLICT", `subagent run ${runId} has ended (${row.outcome ?? "no outcome"}); its end cannot be changed`, { details: { runId } });
    }
    const changes: Partial<SubagentRow> = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    const next: SubagentRow = { ...row, ...changes };
    context
      .sql("UPDATE subagents SET state = ?, outcome = ?, announced = ?, started_at = ?, ended_at = ?, archive_at = ?, data = ? WHERE run_id = ?")
      .run(next.state, next.outcome, next.announced ? 1 : 0, next.startedAt, next.endedAt, next.archiveAt, JSON.stringify(next.data ?? null), runId);
    return next;
  },
  "subagents.delete": ({ sql }, { runId }) => ({ deleted: sql("DELETE FROM subagents WHERE run_id = ?").run(runId).changes === 1 }),
} satisfies WriteHandlers<SubagentsWrites>;

export const subagentsReads = {
  "subagents.get": (context, { runId }) => runOf(context, runId),
  "subagents.list"({ sql }, filter) {
    const { text, values } = where([
      ["requester_session_key = ?", filter.requesterSessionKey],
      ["child_session_key = ?", filter.childSessionKey],
      ["(state <> 'ended') = ?", filter.unfinished === undefined ? undefined : Number(filter.unfinished)],
      ["(announced = 0) = ?", filter.unannounced === undefined ? undefined : Number(filter.unannounced)],
      ["archive_at <= ?", filter.archiveUntil],
    ]);
    return shapeAll<SubagentRow>(sql(`SELECT ${COLUMNS} FROM subagents WHERE ${text} ORDER BY created_at, run_id`).all(...values), ["data"], ["announced"]);
  },
} satisfies ReadHandlers<SubagentsReads>;
