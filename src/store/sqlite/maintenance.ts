import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { MaintenanceReport, RetentionPolicy } from "../retention.ts";

/** Rows of one transaction at most, and the time after which it ends early: no commit waits longer than about this. */
const BATCH_ROWS = 500;
const BATCH_MS = 3;
const SLICE_ROWS = 25;
const VACUUM_PAGES = 64;

interface Sweep {
  readonly table: string;
  /** Deletes at most `?2` rows older than `?1`. */
  readonly text: string;
  readonly keepMs: number;
}

function oldest(table: string, key: string, condition: string, keepMs: number): Sweep {
  return { table, keepMs, text: `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ?2)` };
}

/** Parts go before the whole, so that an interruption leaves nothing without its owner. The highest number of a table stays: numbers never come twice. */
function sweeps(policy: RetentionPolicy): Sweep[] {
  const journalOf = "SELECT id FROM turns WHERE ended_at < ?1";
  const archived = "SELECT tid FROM transcripts WHERE archived_at < ?1";
  return [
    oldest("inbox", "id", "settled_at < ?1 AND id < (SELECT max(id) FROM inbox)", policy.inboxMs),
    {
      table: "journal",
      keepMs: policy.turnsMs,
      text: `DELETE FROM journal WHERE (turn_id, step) IN (SELECT turn_id, step FROM journal WHERE turn_id IN (${journalOf}) LIMIT ?2)`,
    },
    oldest("turns", "id", "ended_at < ?1", policy.turnsMs),
    oldest("outbox", "id", "settled_at < ?1 AND id < (SELECT max(id) FROM outbox)", policy.outboxMs),
    {
      table: "idempotency",
      keepMs: 0,
      text: "DELETE FROM idempotency WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE expires_at <= ?1 LIMIT ?2)",
    },
    oldest("approvals", "id", "decided_at < ?1", policy.approvalsMs),
    oldest("injections", "seq", "drained_at < ?1", policy.injectionsMs),
    oldest("pairing_requests", "id", "expires_at < ?1", 0),
    {
      table: "cron_slots",
      keepMs: policy.cronSlotsMs,
      text: "DELETE FROM cron_slots WHERE (job_id, scheduled_at) IN (SELECT job_id, scheduled_at FROM cron_slots WHERE finished_at < ?1 LIMIT ?2)",
    },
    oldest("usage", "seq", "at < ?1", policy.usageMs),
    oldest("leases", "name", "expires_at < ?1 AND token < (SELECT max(token) FROM leases)", policy.idempotencyMs),
    ...(policy.archivedTranscriptsMs === undefined
      ? []
      : [
          {
            table: "transcript_entries",
            keepMs: policy.archivedTranscriptsMs,
            text: `DELETE FROM transcript_entries WHERE (tid, seq) IN (SELECT tid, seq FROM transcript_entries WHERE tid IN (${archived}) LIMIT ?2)`,
          },
          oldest("transcripts", "tid", "archived_at < ?1", policy.archivedTranscriptsMs),
        ]),
  ];
}

/** Deletes one batch; true when this sweep is done. */
function sweepOnce(db: DatabaseSync, sql: (text: string) => StatementSync, sweep: Sweep, now: number, deleted: Record<string, number>): boolean {
  const statement = sql(sweep.text);
  const started = performance.now();
  let rows = 0;
  let done = false;
  db.exec("BEGIN IMMEDIATE");
  try {
    while (rows < BATCH_ROWS && !done && performance.now() - started < BATCH_MS) {
      const changes = Number(statement.run(now - sweep.keepMs, SLICE_ROWS).changes);
      rows += changes;
      done = changes < SLICE_ROWS;
    }
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
  if (rows > 0) deleted[sweep.table] = (deleted[sweep.table] ?? 0) + rows;
  return done;
}

function freePages(sql: (text: string) => StatementSync): number {
  return Number(sql("PRAGMA freelist_count").get()!["freelist_count"]);
}

/**
 * The work in small steps: each `yield` is a place where commits may pass. The report is returned when all is done.
 * `report` is what has been done so far, for a caller whose time is over.
 */
export function createMaintenance(
  db: DatabaseSync,
  sql: (text: string) => StatementSync,
  now: number,
  policy: RetentionPolicy,
): { readonly steps: Iterator<void>; report(done: boolean): MaintenanceReport } {
  const deleted: Record<string, number> = {};
  let pagesFreed = 0;

  function* steps(): Generator<void, void> {
    for (const sweep of sweeps(policy)) {
      while (!sweepOnce(db, sql, sweep, now, deleted)) yield;
      yield;
    }
    for (let before = freePages(sql); before > 0;) {
      db.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
      const after = freePages(sql);
      pagesFreed += before - after;
      if (after >= before) return;
      before = after;
      yield;
    }
  }

  return { steps: steps(), report: (done) => ({ done, deleted, pagesFreed }) };
}
