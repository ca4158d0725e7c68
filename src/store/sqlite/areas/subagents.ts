import { AppError } from "../../../base/errors.ts";
import { numberOf } from "../../rows.ts";
import type { SpawnLimits, SubagentRow, SubagentsReads, SubagentsWrites } from "../../areas/subagents.ts";
import { shape, shapeAll, where, type ReadContext, type ReadHandlers, type WriteContext, type WriteHandlers } from "../handlers.ts";

const COLUMNS = `run_id AS runId, child_session_key AS childSessionKey, requester_session_key AS requesterSessionKey, state, outcome, announced,
  created_at AS createdAt, started_at AS startedAt, ended_at AS endedAt, archive_at AS archiveAt, data`;

function runOf({ sql }: ReadContext, runId: string): SubagentRow | undefined {
  return shape<SubagentRow>(sql(`SELECT ${COLUMNS} FROM subagents WHERE run_id = ?`).get(runId), ["data"], ["announced"]);
}

const ADD = `INSERT INTO subagents (run_id, child_session_key, requester_session_key, state, announced, created_at, archive_at, data)
  VALUES (?, ?, ?, 'queued', 0, ?, ?, ?) ON CONFLICT (run_id) DO NOTHING`;

interface NewRun {
  readonly runId: string;
  readonly childSessionKey: string;
  readonly requesterSessionKey: string;
  readonly data: unknown;
  readonly archiveAt?: number | undefined;
}

function add({ sql, now }: WriteContext, { runId, childSessionKey, requesterSessionKey, data, archiveAt }: NewRun): void {
  const done = sql(ADD).run(runId, childSessionKey, requesterSessionKey, now, archiveAt ?? null, JSON.stringify(data ?? null));
  if (done.changes === 0) throw new AppError("CONFLICT", `subagent run ${runId} is already there`, { details: { runId } });
}

/** A session goes on after a command that is not older than this. */
const GOES_ON_MS = 24 * 60 * 60_000;
const WAITING = `SELECT 1 FROM subagents JOIN approvals ON session_key = child_session_key WHERE run_id = ? AND subagents.state <> 'ended' AND kind = 'exec'
  AND approvals.created_at >= ? AND json_extract(request, '$.plan') IS NOT NULL AND coalesce(json_extract(fate, '$.told'), 0) = 0`;

const reached = (limit: string, message: string, active: number, max: number): AppError =>
  new AppError("OVERLOADED", message, { details: { limit, active, max } });

/** Refuses a child that would be outside of a limit. */
function checkLimits({ sql, now }: WriteContext, requester: string, { children, total, failures, pauseMs }: SpawnLimits): void {
  const killed = sql("SELECT 1 FROM subagents WHERE child_session_key = ? AND outcome = 'killed'").get(requester);
  if (killed) throw reached("killed", "the session that starts it was stopped", 0, 0);
  const own = numberOf(sql("SELECT count(*) AS own FROM subagents WHERE requester_session_key = ? AND state <> 'ended'"), requester);
  if (own >= children) throw reached("children", `${own} children of the session are running (at most ${children})`, own, children);
  const all = numberOf(sql("SELECT count(*) AS everyone FROM subagents WHERE state <> 'ended'"));
  if (all >= total) throw reached("total", `${all} sub-agents are running (at most ${total})`, all, total);
  const last = sql("SELECT outcome, ended_at AS at FROM subagents WHERE requester_session_key = ? AND state = 'ended' ORDER BY ended_at DESC LIMIT ?").all(
    requester,
    failures,
  );
  const failed = last.filter(({ outcome }) => outcome === "error" || outcome === "timeout").length;
  if (failed >= failures && Number(last[0]?.["at"] ?? 0) > now - pauseMs)
    throw reached("failures", `the last ${failed} children of the session failed`, failed, failures);
}

/** Refuses a child where children have started each other for too long. */
function checkChain({ sql }: WriteContext, chain: SpawnLimits["chain"]): void {
  if (!chain || chain.generation === 0) return;
  const { root, generation, maxGenerations, maxChildren } = chain;
  if (generation > maxGenerations) throw reached("chain", "reports of sub-agents have started others too often", generation, maxGenerations);
  const text = "SELECT count(*) AS chained FROM subagents WHERE json_extract(data, '$.chain.root') = ? AND json_extract(data, '$.chain.generation') > 0";
  const chained = numberOf(sql(text), root);
  if (chained >= maxChildren) throw reached("chain", "reports of sub-agents have started too many others", chained, maxChildren);
}

export const subagentsWrites = {
  "subagents.spawn"(context, { limits, ...run }) {
    checkChain(context, limits.chain);
    checkLimits(context, run.requesterSessionKey, limits);
    add(context, run);
  },
  "subagents.end"({ sql, now }, { runId, outcome, error, startedAt, archiveMs, unlessWaiting = false }) {
    if (unlessWaiting && sql(WAITING).get(runId, now - GOES_ON_MS)) return { ended: false };
    const text = `UPDATE subagents SET state = 'ended', outcome = ?, ended_at = ?, started_at = coalesce(started_at, ?), archive_at = ?,
      data = CASE WHEN ? IS NULL THEN data ELSE json_set(data, '$.error', ?) END WHERE run_id = ? AND state <> 'ended'`;
    const failure = error ?? null;
    const archiveAt = archiveMs === undefined ? null : now + archiveMs;
    return { ended: sql(text).run(outcome, now, startedAt ?? null, archiveAt, failure, failure, runId).changes === 1 };
  },
  "subagents.announced"({ sql }, { runIds }) {
    for (const runId of runIds) {
      if (sql("UPDATE subagents SET announced = 1 WHERE run_id = ? AND announced = 0").run(runId).changes === 1) continue;
      throw new AppError("CONFLICT", `subagent run ${runId} was announced before, or is not there`, { details: { runId } });
    }
  },
  "subagents.replace"(context, { runId, by, data }) {
    const row = runOf(context, runId);
    if (!row || row.state === "ended") throw new AppError("CONFLICT", `subagent run ${runId} has ended`, { details: { runId } });
    context.sql("UPDATE subagents SET run_id = ?, started_at = NULL, data = ? WHERE run_id = ?").run(by, JSON.stringify(data ?? null), runId);
  },
  "subagents.add": add,
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
  "subagents.pending"({ sql }) {
    const row = sql("SELECT sum(state <> 'ended' OR announced = 0) AS unsettled, min(archive_at) AS at FROM subagents").get();
    return { open: Number(row?.["unsettled"] ?? 0), archiveAt: typeof row?.["at"] === "number" ? row["at"] : null };
  },
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
