import type { StatementSync } from "node:sqlite";
import { UNDO_MS } from "../areas/trash.ts";
import type { RetentionPolicy } from "../retention.ts";
import { areTurnsInOrder } from "../sqlite/schema-lean.ts";

type Sql = (text: string) => StatementSync;

/** Overdue rows of one table, oldest first where an index gives the order. */
export interface Sweep {
  readonly table: string;
  /** Deletes up to about this many rows; returns how many of which table. Nothing when it is done. */
  delete(rows: number): Readonly<Record<string, number>>;
  /** When the oldest row became overdue; undefined when there is none known. */
  oldest(): number | undefined;
}

interface Simple {
  readonly table: string;
  readonly key: string;
  /** The column that says when a row ended, with an index. */
  readonly ended: string;
  readonly condition?: string;
  readonly keepMs: number;
}

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

function simple(sql: Sql, now: number, { table, key, ended, condition = "1", keepMs }: Simple): Sweep {
  const text = `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${ended} < ?1 AND ${condition} LIMIT ?2)`;
  return {
    table,
    delete: (rows) => ({ [table]: Number(sql(text).run(now - keepMs, rows).changes) }),
    oldest() {
      const at = numberOf(sql(`SELECT min(${ended}) AS at FROM ${table} WHERE ${ended} IS NOT NULL AND ${condition}`).get()?.["at"]);
      return at === undefined ? undefined : at + keepMs;
    },
  };
}

/** Rows inspected at the start of a table: retention misses rows only behind more unfinished ones than this. */
const LOOKED_AT = 2_000;

/** Inputs in order of arrival: the oldest come first, except for some that are not settled. */
function inbox(sql: Sql, now: number, keepMs: number): Sweep {
  const first = `SELECT id, settled_at FROM inbox WHERE id < (SELECT max(id) FROM inbox) ORDER BY id LIMIT max(?1, ${LOOKED_AT})`;
  const text = `DELETE FROM inbox WHERE id IN (SELECT id FROM (${first}) WHERE settled_at < ?2 LIMIT ?1)`;
  return {
    table: "inbox",
    delete: (rows) => ({ inbox: Number(sql(text).run(rows, now - keepMs).changes) }),
    oldest() {
      const at = numberOf(sql(`SELECT min(settled_at) AS at FROM (${first})`).get(0)?.["at"]);
      return at === undefined ? undefined : at + keepMs;
    },
  };
}

/** Turns with their steps, one turn after the other: a turn stays until its last step is deleted, so that no step is orphaned. */
function turns(sql: Sql, now: number, keepMs: number): Sweep {
  const first = `SELECT id, ended_at FROM turns ORDER BY n LIMIT max(?1, ${LOOKED_AT})`;
  const [ended, oldest] = areTurnsInOrder(sql)
    ? [`SELECT id FROM (${first}) WHERE ended_at < ?2 LIMIT ?1`, `SELECT min(ended_at) AS at FROM (${first})`]
    : ["SELECT id FROM turns WHERE ended_at < ?2 LIMIT ?1", "SELECT min(ended_at) AS at FROM turns WHERE ended_at IS NOT NULL AND ?1 = 0"];
  return {
    table: "turns",
    delete(rows) {
      const deleted = { journal: 0, turns: 0 };
      for (const { id } of sql(ended).all(rows, now - keepMs)) {
        const left = Math.max(1, rows - deleted.journal);
        const steps = sql("DELETE FROM journal WHERE turn_id = ?1 AND step IN (SELECT step FROM journal WHERE turn_id = ?1 LIMIT ?2)");
        const gone = Number(steps.run(String(id), left).changes);
        deleted.journal += gone;
        if (gone === left && sql("SELECT 1 FROM journal WHERE turn_id = ? LIMIT 1").get(String(id))) break;
        deleted.turns += Number(sql("DELETE FROM turns WHERE id = ?").run(String(id)).changes);
      }
      return deleted;
    },
    oldest() {
      const at = numberOf(sql(oldest).get(0)?.["at"]);
      return at === undefined ? undefined : at + keepMs;
    },
  };
}

/** By whole days, since these have the index. */
function usage(sql: Sql, now: number, keepMs: number): Sweep {
  const day = new Date(now - keepMs).toISOString().slice(0, 10);
  return {
    table: "usage",
    delete: (rows) => ({ usage: Number(sql("DELETE FROM usage WHERE seq IN (SELECT seq FROM usage WHERE day < ? LIMIT ?)").run(day, rows).changes) }),
    oldest() {
      const first = sql("SELECT min(day) AS day FROM usage").get()?.["day"];
      return typeof first === "string" ? Date.parse(first) + 86_400_000 + keepMs : undefined;
    },
  };
}

/** Archived transcripts, by number: those that stay are skipped once. */
function archivedTranscripts(sql: Sql, now: number, keepMs: number): Sweep {
  let passed = 0;
  return {
    table: "transcripts",
    delete(rows) {
      const deleted = { transcript_entries: 0, transcripts: 0 };
      const next = sql("SELECT tid FROM transcripts WHERE tid > ? AND archived_at < ? ORDER BY tid LIMIT 1").get(passed, now - keepMs);
      if (!next) return deleted;
      const tid = Number(next["tid"]);
      const lines = sql("DELETE FROM transcript_entries WHERE tid = ?1 AND seq IN (SELECT seq FROM transcript_entries WHERE tid = ?1 LIMIT ?2)");
      deleted.transcript_entries = Number(lines.run(tid, rows).changes);
      if (deleted.transcript_entries < rows) {
        sql("DELETE FROM transcript_packs WHERE tid = ?").run(tid);
        deleted.transcripts = Number(sql("DELETE FROM transcripts WHERE tid = ?").run(tid).changes);
        passed = tid;
      }
      return deleted;
    },
    oldest: () => undefined,
  };
}

/** The highest number of a table stays, so that numbers are never reused. */
export function createSweeps(sql: Sql, now: number, policy: RetentionPolicy): Sweep[] {
  const { archivedTranscriptsMs } = policy;
  const one = (sweep: Simple): Sweep => simple(sql, now, sweep);
  return [
    inbox(sql, now, policy.inboxMs),
    turns(sql, now, policy.turnsMs),
    one({ table: "outbox", key: "id", ended: "settled_at", condition: "id < (SELECT max(id) FROM outbox)", keepMs: policy.outboxMs }),
    one({ table: "idempotency", key: "scope, key", ended: "expires_at", keepMs: 0 }),
    one({ table: "approvals", key: "id", ended: "decided_at", keepMs: policy.approvalsMs }),
    one({ table: "injections", key: "seq", ended: "drained_at", keepMs: policy.injectionsMs }),
    one({ table: "pairing_requests", key: "id", ended: "expires_at", keepMs: 0 }),
    one({ table: "cron_slots", key: "job_id, scheduled_at", ended: "finished_at", keepMs: policy.cronSlotsMs }),
    one({ table: "deleted_sessions", key: "id", ended: "deleted_at", keepMs: UNDO_MS }),
    usage(sql, now, policy.usageMs),
    one({ table: "leases", key: "name", ended: "expires_at", condition: "token < (SELECT max(token) FROM leases)", keepMs: policy.idempotencyMs }),
    ...(archivedTranscriptsMs === undefined ? [] : [archivedTranscripts(sql, now, archivedTranscriptsMs)]),
  ];
}
