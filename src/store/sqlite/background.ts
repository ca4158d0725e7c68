import type { DatabaseSync, StatementSync } from "node:sqlite";
import { AppError } from "../../base/errors.ts";
import type { MaintenanceReport } from "../retention.ts";
import { storeError } from "./failure.ts";
import { createMaintenance } from "./maintenance.ts";
import type { ControlRequest } from "./messages.ts";

/**
 * Pages in the log: above the first they are moved when nobody writes for a while, above the second in any case. Some hundred pages take 1 to
 * 2 ms to move; ten thousand would make one commit in a hundred wait for 10 ms. A short log is also written over sooner, which syncs faster.
 */
const QUIET_PAGES = 100;
const QUIET_MS = 200;
const BUSY_PAGES = 500;

type MaintainRequest = Extract<ControlRequest, { type: "maintain" }>;
type Done = (error: AppError | undefined, report?: MaintenanceReport) => void;

/** Work nobody waits for, in steps of a few milliseconds. */
export interface Background {
  /** Told after each group was acknowledged. */
  readonly committed: () => void;
  /** Does one step; true when there is more to do at once. */
  readonly step: () => boolean;
  /** True when there is something to do at once. */
  waiting(): boolean;
  maintain(request: MaintainRequest, done: Done): void;
  whenImported(done: () => void): void;
  /** Moves the log into the database now. Returns what stood in the way. */
  checkpoint(truncate: boolean): AppError | undefined;
}

export interface BackgroundDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  /** Steps of an unfinished import. */
  readonly importing: Iterator<unknown> | undefined;
  /** Told when the import is through. */
  readonly imported: () => void;
  /** Calls back later, when the thread may have become quiet. */
  readonly later: (ms: number, fn: () => void) => unknown;
  /** Damage or a failing disk met outside of a request. */
  readonly failed: (error: AppError) => void;
}

interface Maintaining {
  readonly request: MaintainRequest;
  readonly done: Done;
  readonly until: number;
  readonly work: ReturnType<typeof createMaintenance>;
}

export function createBackground(deps: BackgroundDeps): Background {
  const { db, sql } = deps;
  const maintaining: Maintaining[] = [];
  const awaitingImport: (() => void)[] = [];
  let importing = deps.importing;
  let lastCommit = 0;
  let quietTimer = false;

  /** Pages that are in the log only. */
  function logPages(): number {
    const row = sql("PRAGMA wal_checkpoint(NOOP)").get()!;
    return Number(row["log"]) - Number(row["checkpointed"]);
  }

  /** A failure here is final: nobody knows what of the database file reached the disk, and a second fsync would not tell. */
  function moveLog(): void {
    sql("PRAGMA wal_checkpoint(PASSIVE)").get();
  }

  function watchQuiet(): void {
    if (quietTimer) return;
    quietTimer = true;
    deps.later(QUIET_MS, () => {
      quietTimer = false;
      if (performance.now() - lastCommit < QUIET_MS) return watchQuiet();
      try {
        if (logPages() >= QUIET_PAGES) moveLog();
      } catch (error) {
        deps.failed(storeError("the log could not be moved into the database", error));
      }
    });
  }

  function importStep(): void {
    if (!importing?.next().done) return;
    importing = undefined;
    deps.imported();
    for (const done of awaitingImport.splice(0)) done();
  }

  function maintainStep(): void {
    const current = maintaining[0];
    if (!current) return;
    try {
      const through = current.work.steps.next().done === true;
      if (!through && performance.now() < current.until) return;
      maintaining.shift();
      current.done(undefined, current.work.report(through));
    } catch (error) {
      maintaining.shift();
      current.done(storeError("maintenance stopped", error));
      throw error;
    }
  }

  const waiting = (): boolean => importing !== undefined || maintaining.length > 0;

  return {
    waiting,
    committed() {
      lastCommit = performance.now();
      if (logPages() >= BUSY_PAGES) moveLog();
      else watchQuiet();
    },
    step() {
      if (importing) importStep();
      else maintainStep();
      return waiting();
    },
    maintain(request, done) {
      maintaining.push({ request, done, until: performance.now() + request.budgetMs, work: createMaintenance(db, sql, request.now, request.policy) });
    },
    whenImported(done) {
      if (importing) awaitingImport.push(done);
      else done();
    },
    checkpoint(truncate) {
      try {
        const row = sql(`PRAGMA wal_checkpoint(${truncate ? "TRUNCATE" : "PASSIVE"})`).get()!;
        return truncate && Number(row["busy"]) !== 0 ? new AppError("LOCKED", "the log could not be emptied: a reader still needs it; try again") : undefined;
      } catch (error) {
        const reason = storeError("the log could not be moved into the database", error);
        if (reason.code !== "LOCKED") deps.failed(reason);
        return reason;
      }
    },
  };
}
