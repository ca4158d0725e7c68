import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { MaintenanceReport, RetentionPolicy } from "../retention.ts";
import { createSweeps, type Sweep } from "./sweeps.ts";

/** The time after which a transaction ends: no request waits longer than about this and one statement more. */
const BATCH_MS = 3;
/** Rows and pages of one statement: fewer where one takes long, as on a cold disk, more where it does not. */
const FEWEST = 2;
const MOST_ROWS = 100;
const MOST_PAGES = 64;
const QUICK_MS = 0.5;
const SLOW_MS = 1.5;
/** Rows that are so much past their time are told. */
const LATE_MS = 86_400_000;

/** How much one statement does, by what the last one took. */
function createPace(most: number): { readonly size: number; took(ms: number): void } {
  let size = FEWEST * 4;
  return {
    get size() {
      return size;
    },
    took(ms) {
      if (ms > SLOW_MS) size = Math.max(FEWEST, Math.floor(size / 2));
      else if (ms < QUICK_MS) size = Math.min(most, size * 2);
    },
  };
}

export interface Maintenance {
  /** Each `next` is one short transaction; commits may pass between two. */
  readonly steps: Iterator<void>;
  /** What has been done so far, for a caller whose time is over. */
  report(done: boolean): MaintenanceReport;
}

/** Deletes what is past its time, the tables by turns, and gives space back. */
export function createMaintenance(db: DatabaseSync, sql: (text: string) => StatementSync, now: number, policy: RetentionPolicy): Maintenance {
  const deleted: Record<string, number> = {};
  const rowPace = createPace(MOST_ROWS);
  const pagePace = createPace(MOST_PAGES);
  let open: readonly Sweep[] = createSweeps(sql, now, policy);
  let pagesFreed = 0;

  /** Nothing here has to be synced by itself: lost with the machine, it is done again. */
  function unsynced<T>(work: () => T): T {
    db.exec("PRAGMA synchronous = NORMAL");
    try {
      return work();
    } finally {
      if (db.isTransaction) db.exec("ROLLBACK");
      db.exec("PRAGMA synchronous = FULL");
    }
  }

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
      if (!done && until - started < BATCH_MS) continue;
      db.exec("COMMIT");
      return done;
    }
  }

  const freePages = (): number => Number(sql("PRAGMA freelist_count").get()!["freelist_count"]);

  function* steps(): Generator<void, void> {
    while (open.length > 0) {
      const done = new Set<Sweep>();
      for (const sweep of open) {
        if (unsynced(() => sweepOnce(sweep))) done.add(sweep);
        yield;
      }
      open = open.filter((sweep) => !done.has(sweep));
    }
    for (let before = freePages(); before > 0;) {
      const from = performance.now();
      unsynced(() => db.exec(`PRAGMA incremental_vacuum(${pagePace.size})`));
      pagePace.took(performance.now() - from);
      const after = freePages();
      pagesFreed += before - after;
      if (after >= before) return;
      before = after;
      yield;
    }
  }

  /** The table whose oldest row is most past its time, when that is long. */
  function behind(): MaintenanceReport["behind"] {
    const late = open
      .map((sweep) => ({ table: sweep.table, lateMs: now - (sweep.oldest() ?? now) }))
      .filter(({ lateMs }) => lateMs > LATE_MS)
      .sort((a, b) => b.lateMs - a.lateMs);
    return late[0];
  }

  return {
    steps: steps(),
    report(done) {
      const late = done ? undefined : behind();
      return { done, deleted, pagesFreed, ...(late ? { behind: late } : {}) };
    },
  };
}
