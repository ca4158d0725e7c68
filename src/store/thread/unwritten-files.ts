import type { DatabaseSync, StatementSync } from "node:sqlite";
import { unsynced } from "./pace.ts";

/** The files that the last process left are completed when the start is over. */
const FIRST_MS = 500;
/** Longest step, and the pause between two. */
const STEP_MS = 3;
const NEXT_MS = 4;
/** A mark is removed when its file was not written between two rounds: by then the system has moved the file to the disk, too. */
const ROUND_MS = 60_000;
/** How long closing the store may take to complete files. */
const CLOSE_MS = 5_000;

export interface UnwrittenFilesDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly later: (ms: number, fn: () => void) => unknown;
  /** Runs work that no request waits for, unless the store has failed. */
  readonly upkeep: (work: () => void) => void;
  /** Compares the file of a transcript with the database and adds what it lacks. */
  readonly complete: (file: string) => void;
  /** Writes pending lines. */
  readonly flush: () => void;
  /** Files that are known to be behind. */
  readonly behind: () => readonly string[];
  /** Milliseconds that only go forward. */
  readonly now?: () => number;
}

/**
 * Transcripts whose files may lack lines that the database has, in `transcript_unwritten`. A commit marks its transcripts; their files are written some
 * milliseconds later and never synced, so that a process that is killed, or a power cut, leaves marks. The next process completes exactly these files.
 */
export interface UnwrittenFiles {
  /** Called after a commit that changed this file. */
  written(file: string): void;
  /** Completes all files that are still behind. Called last, before the store is closed. */
  completeAll(): void;
}

export function createUnwrittenFiles({ db, sql, later, upkeep, complete, flush, behind, now = () => performance.now() }: UnwrittenFilesDeps): UnwrittenFiles {
  /** Files written since the last round. */
  const recent = new Set<string>();
  const rest = completing();
  let isComplete = false;
  let isArmed = false;
  let isOver = false;
  later(FIRST_MS, () => upkeep(step));

  function completeOne(file: string): void {
    complete(file);
    recent.add(file);
  }

  /** Tries again where a file could not be written, until the time is over. */
  function completeBehind(until: number): void {
    for (const file of behind()) if (now() < until) completeOne(file);
  }

  function* completing(): Generator<void> {
    for (const { tid } of sql("SELECT tid FROM transcript_unwritten ORDER BY tid DESC").all()) {
      const row = sql("SELECT file FROM transcripts WHERE tid = ?").get(Number(tid));
      if (row) completeOne(String(row["file"]));
      yield;
    }
  }

  /** Completes files until the time is over. */
  function completeUntil(until: number): void {
    while (!isComplete && now() < until) isComplete = rest.next().done === true;
  }

  function step(): void {
    if (isOver) return;
    completeUntil(now() + STEP_MS);
    if (isComplete) arm();
    else later(NEXT_MS, () => upkeep(step));
  }

  function arm(): void {
    if (isArmed || !isComplete) return;
    isArmed = true;
    later(ROUND_MS, () => {
      isArmed = false;
      upkeep(round);
    });
  }

  /** Completes files that could not be written, and removes the marks of those that were not written lately. */
  function round(): void {
    if (isOver) return;
    completeBehind(Infinity);
    const kept = JSON.stringify([...recent, ...behind()]);
    recent.clear();
    const text = `DELETE FROM transcript_unwritten WHERE tid NOT IN (SELECT tid FROM transcripts WHERE file IN (SELECT value FROM json_each(?)))`;
    unsynced(db, () => sql(text).run(kept));
    if (sql("SELECT 1 FROM transcript_unwritten LIMIT 1").get() !== undefined) arm();
  }

  return {
    written(file) {
      recent.add(file);
      arm();
    },
    completeAll() {
      const until = now() + CLOSE_MS;
      flush();
      completeUntil(until);
      completeBehind(until);
      isOver = true;
    },
  };
}
