import { AppError } from "../../../base/errors.ts";
import type { CronJobRow, CronOutcomes, CronReads, CronSlotRow, CronWrites } from "../../areas/cron.ts";
import { shape, shapeAll, toJson, where, type ReadContext, type ReadHandlers, type WriteHandlers } from "../handlers.ts";
import { need } from "../../rows.ts";

const JOB_COLUMNS = "id, agent_id AS agentId, enabled, next_run_at AS nextRunAt, version, updated_at AS updatedAt, job";
const SLOT_COLUMNS = "job_id AS jobId, scheduled_at AS scheduledAt, state, owner, claimed_at AS claimedAt, finished_at AS finishedAt, status, detail";

function slotOf({ sql }: ReadContext, jobId: string, scheduledAt: number): CronSlotRow | undefined {
  return shape<CronSlotRow>(sql(`SELECT ${SLOT_COLUMNS} FROM cron_slots WHERE job_id = ? AND scheduled_at = ?`).get(jobId, scheduledAt), ["detail"]);
}

const ADD_SLOT = `INSERT INTO cron_slots (job_id, scheduled_at, state, owner, claimed_at, finished_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (job_id, scheduled_at) DO NOTHING`;

/** A time that was recorded as missed has not run: after the clock was set back it may come again. */
const CLAIM_DUE = `INSERT INTO cron_slots (job_id, scheduled_at, state, owner, claimed_at, finished_at) VALUES (?, ?, 'running', NULL, ?, NULL)
  ON CONFLICT (job_id, scheduled_at) DO UPDATE SET state = 'running', claimed_at = excluded.claimed_at, finished_at = NULL WHERE cron_slots.state = 'missed'`;

export const cronWrites = {
  "cron.job.put"({ sql, now }, { id, job, enabled, nextRunAt, agentId, version }) {
    const row = sql("SELECT version FROM cron_jobs WHERE id = ?").get(id);
    const actual = row ? Number(row["version"]) : 0;
    if (version !== undefined && version !== actual) {
      throw new AppError("CONFLICT", `cron job ${id} is at version ${actual}, the change was made for version ${version}; read it again`, {
        details: { id, version, actual },
      });
    }
    const text = `INSERT INTO cron_jobs (id, agent_id, enabled, next_run_at, version, updated_at, job) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET agent_id = excluded.agent_id, enabled = excluded.enabled, next_run_at = excluded.next_run_at, version = excluded.version,
      updated_at = excluded.updated_at, job = excluded.job`;
    sql(text).run(id, agentId ?? null, enabled ? 1 : 0, nextRunAt, actual + 1, now, JSON.stringify(job ?? null));
    return { version: actual + 1 };
  },
  "cron.job.next"({ sql }, { id, nextRunAt }) {
    const done = sql("UPDATE cron_jobs SET next_run_at = ? WHERE id = ?").run(nextRunAt, id);
    if (done.changes === 0) throw new AppError("NOT_FOUND", `there is no cron job ${id}`, { details: { id } });
  },
  "cron.job.delete": ({ sql }, { id }) => ({ deleted: sql("DELETE FROM cron_jobs WHERE id = ?").run(id).changes === 1 }),
  "cron.job.due"({ sql, now }, { id, nextRunAt, run, missed, skipped, why }) {
    const done = sql("UPDATE cron_jobs SET next_run_at = ? WHERE id = ?").run(nextRunAt, id);
    if (done.changes === 0) throw new AppError("NOT_FOUND", `there is no cron job ${id}`, { details: { id } });
    for (const at of missed) sql(ADD_SLOT).run(id, at, "missed", null, now, now);
    for (const at of skipped) {
      if (sql(ADD_SLOT).run(id, at, "finished", null, now, now).changes === 0) continue;
      sql("UPDATE cron_slots SET status = 'skipped', detail = ? WHERE job_id = ? AND scheduled_at = ?").run(toJson({ error: why }), id, at);
    }
    return { claimed: run.filter((at) => sql(CLAIM_DUE).run(id, at, now).changes === 1) };
  },
  "cron.slot.claim"(context, { jobId, scheduledAt, owner }) {
    const done = context.sql(ADD_SLOT).run(jobId, scheduledAt, "running", owner ?? null, context.now, null);
    return { claimed: done.changes === 1, slot: need(slotOf(context, jobId, scheduledAt)) };
  },
  "cron.slot.finish"(context, { jobId, scheduledAt, status, detail, at = context.now }) {
    const text =
      "UPDATE cron_slots SET state = 'finished', status = ?, detail = ?, finished_at = ? WHERE job_id = ? AND scheduled_at = ? AND state = 'running'";
    if (context.sql(text).run(status, toJson(detail), at, jobId, scheduledAt).changes === 1) return;
    const state = slotOf(context, jobId, scheduledAt)?.state ?? "not claimed";
    throw new AppError("CONFLICT", `the run of cron job ${jobId} for ${new Date(scheduledAt).toISOString()} is ${state}, not running`, {
      details: { jobId, scheduledAt, state },
    });
  },
  "cron.slot.note"({ sql }, { jobId, scheduledAt, patch }) {
    const text = "UPDATE cron_slots SET detail = json_patch(coalesce(detail, '{}'), ?) WHERE job_id = ? AND scheduled_at = ?";
    sql(text).run(JSON.stringify(patch), jobId, scheduledAt);
  },
  "cron.slot.missed"({ sql, now }, { jobId, scheduledAt }) {
    return scheduledAt.filter((at) => sql(ADD_SLOT).run(jobId, at, "missed", null, now, now).changes === 1);
  },
} satisfies WriteHandlers<CronWrites>;

export const cronReads = {
  "cron.job.get": ({ sql }, { id }) => shape<CronJobRow>(sql(`SELECT ${JOB_COLUMNS} FROM cron_jobs WHERE id = ?`).get(id), ["job"], ["enabled"]),
  "cron.job.list"({ sql }, { enabled, dueUntil, lastStatus, limit = -1 }) {
    const { text, values } = where([
      ["enabled = ?", enabled === undefined ? undefined : Number(enabled)],
      ["next_run_at <= ?", dueUntil],
      ["json_extract(job, '$.state.lastStatus') = ?", lastStatus],
    ]);
    return shapeAll<CronJobRow>(
      sql(`SELECT ${JOB_COLUMNS} FROM cron_jobs WHERE ${text} ORDER BY next_run_at NULLS LAST, id LIMIT ?`).all(...values, limit),
      ["job"],
      ["enabled"],
    );
  },
  "cron.job.page": ({ sql }, { afterId, limit }) =>
    shapeAll<CronJobRow>(sql(`SELECT ${JOB_COLUMNS} FROM cron_jobs WHERE id > ? ORDER BY id LIMIT ?`).all(afterId, limit), ["job"], ["enabled"]),
  "cron.job.count": ({ sql }) => Number(sql("SELECT count(*) AS jobs FROM cron_jobs").get()?.["jobs"]),
  "cron.job.mark"({ sql }) {
    const sums = "count(*) AS jobs, total(version) AS versions, total(next_run_at) AS times, total(updated_at) AS changes";
    const row = sql(`SELECT ${sums} FROM cron_jobs`).get();
    return [row?.["jobs"], row?.["versions"], row?.["times"], row?.["changes"]].join(" ");
  },
  "cron.job.earliest"({ sql }) {
    const row = sql("SELECT min(next_run_at) AS earliest FROM cron_jobs WHERE next_run_at IS NOT NULL AND enabled = 1").get();
    return typeof row?.["earliest"] === "number" ? row["earliest"] : null;
  },
  "cron.slot.list": ({ sql }, { jobId, limit = 200, before = Number.MAX_SAFE_INTEGER }) =>
    shapeAll<CronSlotRow>(
      sql(`SELECT ${SLOT_COLUMNS} FROM cron_slots WHERE job_id = ? AND scheduled_at < ? ORDER BY scheduled_at DESC LIMIT ?`).all(jobId, before, limit),
      ["detail"],
    ),
  "cron.slot.outcomes": ({ sql }, { since, stepMs }) =>
    shapeAll<CronOutcomes>(
      sql(`SELECT ?1 + CAST((finished_at - ?1) / ?2 AS INTEGER) * ?2 AS "from", count(*) AS runs, count(*) FILTER (WHERE status = 'error') AS failed
        FROM cron_slots WHERE finished_at >= ?1 AND status IN ('ok', 'error') GROUP BY 1 ORDER BY 1`).all(Math.trunc(since), Math.trunc(stepMs)),
    ),
  "cron.slot.running": ({ sql }) =>
    shapeAll<CronSlotRow>(sql(`SELECT ${SLOT_COLUMNS} FROM cron_slots WHERE state = 'running' ORDER BY claimed_at, job_id`).all(), ["detail"]),
} satisfies ReadHandlers<CronReads>;
