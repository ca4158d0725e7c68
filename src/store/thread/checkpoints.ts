import type { StatementSync } from "node:sqlite";
import { AppError } from "../../base/errors.ts";
import { storeError } from "../sqlite/failure.ts";
import type { LogMover } from "./log-mover.ts";
import { firstRow, need } from "../rows.ts";

/**
 * Pages in the log: above the first limit they are moved when the store is idle for a while, above the second in any case. Moving some hundred pages
 * takes 1 to 2 ms; thousands would give more throughput, but make one commit in a hundred wait several milliseconds longer. A short log is also
 * reused sooner, which syncs faster.
 */
const QUIET_PAGES = 200;
const QUIET_MS = 200;
const BUSY_PAGES = 800;
/** Commits after which the log is measured: each adds about ten pages. */
const MEASURED_COMMITS = 8;
/**
 * With a log of this many pages, background work waits until all of them are moved: only then is the log reused from its start. Otherwise the work
 * would keep appending, and the file would keep growing.
 */
const FULL_PAGES = 4000;

/** The row of `PRAGMA wal_checkpoint`. */
interface Checkpointed {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

export interface CheckpointsDeps {
  readonly sql: (text: string) => StatementSync;
  /** Calls back later, when the thread may be idle. */
  readonly later: (ms: number, fn: () => void) => unknown;
  /** Reports damage or a disk error outside of a request. */
  readonly failed: (error: AppError) => void;
  /** Moves the pages of background work. */
  readonly mover: LogMover;
  /** Called when background work may continue, in case `swept` stopped it. */
  readonly resume: () => void;
}

/** Moves the log into the database, between groups. */
export interface Checkpoints {
  /** Called after each group was acknowledged, with its number of commits. */
  readonly committed: (commits: number) => void;
  /** Called after each step of background work. False when the work has to wait until `resume`: the log is long, and another thread is moving it. */
  readonly swept: () => boolean;
  /** Moves it now, or right after the thread that is moving it; SQLite allows only one at a time. `done` gets the error, if any. */
  readonly checkpoint: (truncate: boolean, done: (error: AppError | undefined) => void) => void;
}

export function createCheckpoints(deps: CheckpointsDeps): Checkpoints {
  const { sql } = deps;
  let lastCommit = 0;
  let quietTimer = false;
  let unmeasured = 0;
  let isMoving = false;
  const postponed: { readonly truncate: boolean; readonly done: (error: AppError | undefined) => void }[] = [];

  /** Pages in the log, and how many of them are not in the database yet. */
  function measure(): { readonly length: number; readonly pages: number } {
    const { log, checkpointed } = need(firstRow<Checkpointed>(sql("PRAGMA wal_checkpoint(NOOP)")));
    return { length: log, pages: log - checkpointed };
  }

  const logPages = (): number => measure().pages;

  /** A failure here is final: nobody knows which pages reached the disk, and a second fsync would not tell. */
  function moveLog(): void {
    sql("PRAGMA wal_checkpoint(PASSIVE)").get();
  }

  function watchQuiet(): void {
    if (quietTimer) return;
    quietTimer = true;
    deps.later(QUIET_MS, () => {
      quietTimer = false;
      if (performance.now() - lastCommit < QUIET_MS) return watchQuiet();
      attempt(() => {
        if (!isMoving && logPages() >= QUIET_PAGES) moveLog();
      });
    });
  }

  function attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      deps.failed(storeError("the write-ahead log could not be moved into the database", error));
    }
  }

  function moveNow(truncate: boolean): AppError | undefined {
    try {
      const { busy } = need(firstRow<Checkpointed>(sql(`PRAGMA wal_checkpoint(${truncate ? "TRUNCATE" : "PASSIVE"})`)));
      return truncate && busy !== 0 ? new AppError("LOCKED", "the write-ahead log could not be emptied: a reader still needs it; try again") : undefined;
    } catch (error) {
      const reason = storeError("the write-ahead log could not be moved into the database", error);
      if (reason.code !== "LOCKED") deps.failed(reason);
      return reason;
    }
  }

  function moveElsewhere(): void {
    isMoving = true;
    deps.mover.move(({ error, unavailable }) => {
      isMoving = false;
      const reason = error && storeError("the write-ahead log could not be moved into the database", error);
      const fatal = reason && reason.code !== "LOCKED" ? reason : undefined;
      if (fatal) deps.failed(fatal);
      if (unavailable) attempt(moveLog);
      // Nothing is synced again after a failed sync.
      for (const { truncate, done } of postponed.splice(0)) done(fatal ?? moveNow(truncate));
      deps.resume();
    });
  }

  return {
    committed(commits) {
      lastCommit = performance.now();
      unmeasured += commits;
      if (unmeasured < MEASURED_COMMITS) return watchQuiet();
      unmeasured = 0;
      if (!isMoving && logPages() >= BUSY_PAGES) moveLog();
      else watchQuiet();
    },
    swept() {
      lastCommit = performance.now();
      const { length, pages } = measure();
      const isLong = length >= FULL_PAGES;
      if (!isMoving && (pages >= BUSY_PAGES || (isLong && pages > 0))) moveElsewhere();
      else if (!isMoving) watchQuiet();
      return !isMoving || !isLong;
    },
    checkpoint(truncate, done) {
      if (isMoving) postponed.push({ truncate, done });
      else done(moveNow(truncate));
    },
  };
}
