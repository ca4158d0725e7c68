import type { DatabaseSync } from "node:sqlite";

export interface ProjectionDeps {
  readonly stateDir: string;
  /** Part of the name of a file that is set aside. */
  readonly pid: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
}

/** What `check` found and did. */
export type RepairAction =
  /** File and database match. */
  | "ok"
  /** There was no file. */
  | "created"
  /** The file was a prefix of what it should be. */
  | "completed"
  /** The file had additional lines of another program; they are in the database now. */
  | "adopted"
  /** The file was set aside and rewritten. */
  | "rewritten"
  /** Only the compressed file exists, and no write is about to happen. */
  | "compressed"
  /** Nothing could be done; the reason is in `problem`. The database is not affected. */
  | "failed";

export interface RepairReport {
  readonly file: string;
  readonly action: RepairAction;
  /** Lines taken from the file into the database. */
  readonly adopted: number;
  /** How many of them could not be made part of the conversation. */
  readonly apart?: number;
  /** Where the old content is, when the file was rewritten: a path relative to the state folder. */
  readonly kept?: string;
  readonly problem?: string;
}

export interface ProjectionProblem {
  readonly file: string;
  readonly problem: string;
  readonly at: number;
}

/**
 * Writes transcript lines to their files. Nothing here is synced and no failure is fatal: a file that could not be written is suspect until
 * its next `check`, and listed in `problems`.
 */
export interface Projection {
  /** Adds lines that the database has committed. `startBytes` is the size of the file before them. */
  append(file: string, startBytes: number, lines: readonly string[]): void;
  /** Writes pending lines. Never throws. */
  flush(): void;
  /** Number of pending lines. */
  pending(): number;
  /**
   * Compares one transcript with its file and reconciles them. Must not run inside a transaction of the caller. Compares size, first and last line,
   * or every byte with `thorough`. A compressed file is left as it is unless the transcript is about to be written (the default).
   */
  check(db: DatabaseSync, tid: number, options?: { readonly thorough?: boolean; readonly writing?: boolean }): RepairReport;
  /** Like `check`, but skipped for files that were checked in this process and have not failed since. */
  ensure(db: DatabaseSync, tid: number, options?: { readonly writing?: boolean }): RepairReport | undefined;
  /**
   * Writes the compressed file of a transcript in steps of a few milliseconds. `synced` is called when it is on disk: its `finish` replaces the file
   * by
   * the compressed one, and returns false when it could not, or the transcript changed in the meantime.
   */
  compress(db: DatabaseSync, tid: number, synced: (finish: () => boolean) => void): Generator<void>;
  /** Renames the file of an archived transcript (`archivedName`). False, with a problem, when that failed. */
  rename(from: string, to: string): boolean;
  /** Deletes the file of a transcript that was removed from the database. */
  remove(file: string): boolean;
  /** Files with problems, the latest of each. */
  problems(): readonly ProjectionProblem[];
  /** Files from which entries were imported that are not part of the conversation. */
  branched(): readonly ProjectionProblem[];
  close(): void;
}
