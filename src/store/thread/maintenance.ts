import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { MaintenanceReport, RetentionPolicy } from "../retention.ts";
import { createPace, unsynced } from "./pace.ts";
import { createPacking, type PackingDeps } from "./packing.ts";
import { createSweeps, type Sweep } from "./sweeps.ts";
import { numberOf } from "../rows.ts";

/**
 * Longest and shortest time of one transaction. Committing can take several times as long as deleting: rows that lie far apart fill a page
 * of the log each. Together they should take about `WHOLE_MS`: no request waits much longer than that.
 */
const LONGEST_BATCH_MS = 3;
const SHORTEST_BATCH_MS = 0.25;
const WHOLE_MS = 5;
const MOST_ROWS = 100;
const MOST_PAGES = 64;
/** Rows overdue by more than this are reported. */
const OVERDUE_MS = 86_400_000;

export interface Maintenance {
  /** Each `next` is one short transaction; commits may pass between two. */
  readonly steps: Iterator<void>;
  /** False in the middle of something that would have to start over. */
  canStop(): boolean;
  /** Progress so far, for a caller whose time is over. */
  report(done: boolean): MaintenanceReport;
}

export interface MaintenanceDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly files: PackingDeps["files"];
  readonly cursor: PackingDeps["cursor"];
}

/** Deletes overdue rows, table by table in turns, compresses old transcripts, and returns free space. */
export function createMaintenance({ db, sql, files, cursor }: MaintenanceDeps, now: number, policy: RetentionPolicy): Maintenance {
  const { compressMs } = policy;
  const packing = compressMs === undefined ? undefined : createPacking({ db, sql, files, cursor, now, before: now - compressMs });
  const deleted: Record<string, number> = {};
  const rowPace = createPace(MOST_ROWS);
  const pagePace = createPace(MOST_PAGES);
  let open: readonly Sweep[] = createSweeps(sql, now, policy);
  let pagesFreed = 0;
  let batchMs = LONGEST_BATCH_MS;

  /** Deletes from one table until the time is over; true when nothing is left there. */
  function sweepOnce(sweep: Sweep): boolean {
    const started = performance.now();
    db.exec("BEGIN IMMEDIATE");
    for (;;) {
      const from = performance.now();
      const gone = Object.entries(sweep.delete(rowPace.size));
      const until = performance.now();
      rowPace.took(until - from);
      for (const [table, rows] of gone) if (rows > 0) deleted[table] = (deleted[table] ?? 0) + rows;
      const done = gone.every(([, rows]) => rows === 0);
      if (!done && until - started < batchMs) continue;
      db.exec("COMMIT");
      const whole = performance.now() - started;
      if (whole > WHOLE_MS) {
        batchMs = Math.max(SHORTEST_BATCH_MS, batchMs / 2);
        rowPace.took(whole);
      } else if (whole < WHOLE_MS / 2) batchMs = Math.min(LONGEST_BATCH_MS, batchMs * 1.5);
      return done;
    }
  }

  const freePages = (): number => numberOf(sql("PRAGMA freelist_count"));

  function* steps(): Generator<void, void> {
    let isPacked = packing === undefined;
    while (open.length > 0 || !isPacked) {
      const done = new Set<Sweep>();
      for (const sweep of open) {
        if (unsynced(db, () => sweepOnce(sweep))) done.add(sweep);
        yield;
      }
      open = open.filter((sweep) => !done.has(sweep));
      if (isPacked) continue;
      isPacked = packing?.steps.next().done === true;
      yield;
    }
    for (let before = freePages(); before > 0;) {
      const from = performance.now();
      unsynced(db, () => db.exec(`PRAGMA incremental_vacuum(${pagePace.size})`));
      pagePace.took(performance.now() - from);
      const after = freePages();
      pagesFreed += before - after;
      if (after >= before) return;
      before = after;
      yield;
    }
  }

  /** The table whose oldest row is most overdue, when that is long. */
  function behind(): MaintenanceReport["behind"] {
    const late = open
      .map((sweep) => ({ table: sweep.table, lateMs: now - (sweep.oldest() ?? now) }))
      .filter(({ lateMs }) => lateMs > OVERDUE_MS)
      .sort((a, b) => b.lateMs - a.lateMs);
    return late[0];
  }

  return {
    steps: steps(),
    canStop: () => packing?.canStop() !== false,
    report(ended) {
      const done = ended && packing?.unfinished() !== true;
      const late = ended ? undefined : behind();
      const compressed = packing?.report();
      return { done, deleted, pagesFreed, ...(compressed ? { compressed } : {}), ...(late ? { behind: late } : {}) };
    },
  };
}
