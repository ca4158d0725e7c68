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
  /** File and database agree. */
  | "ok"
  /** There was no file. */
  | "created"
  /** The file was a beginning of what it has to be. */
  | "completed"
  /** The file went on with lines of another program; the database has them now. */
  | "adopted"
  /** The file was set aside and written anew. */
  | "rewritten"
  /** Only the compressed file is there, and nobody is about to write. */
  | "compressed"
  /** Nothing could be done; the reason is in `problem`. The database is not affected. */
  | "failed";

export interface RepairReport {
  readonly file: string;
  readonly action: RepairAction;
  /** Lines taken from the file into the database. */
  readonly adopted: number;
  /** Where the old content is kept, when the file was written anew: a path relative to the state folder. */
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
 * its next `check`, and `problems` tells of it.
 */
export interface Projection {
  /** Takes lines that the database has committed. `startBytes` is what the file measured before them. */
  appended(file: string, startBytes: number, lines: readonly string[]): void;
  /** Writes what waits. Never throws. */
  flush(): void;
  /** Lines that wait. */
  pending(): number;
  /**
   * Compares one transcript with its file and makes them agree. Must not run inside a transaction of the caller. Size, first and last line
   * decide, unless `thorough` asks for every byte. A compressed file is left as it is unless the transcript is about to be written (the default).
   */
  check(db: DatabaseSync, tid: number, options?: { readonly thorough?: boolean; readonly writing?: boolean }): RepairReport;
  /** `check`, unless this file was checked before in this process and nothing happened to it since. */
  ensure(db: DatabaseSync, tid: number, options?: { readonly writing?: boolean }): RepairReport | undefined;
  /**
   * Writes a compressed file of a transcript in steps of a few milliseconds. `synced` is called when that is on the disk: its `finish` replaces the file by
   * the compressed one, and returns false when it could not, or the transcript was written in between.
   */
  compress(db: DatabaseSync, tid: number, synced: (finish: () => boolean) => void): Generator<void>;
  /** Follows a transcript to its new name (`archivedName`). False, and a problem, when the file could not be renamed. */
  renamed(from: string, to: string): boolean;
  /** Follows a transcript that the database no longer has: its file is deleted. */
  removed(file: string): boolean;
  /** Files that are not as they should be, the latest trouble of each. */
  problems(): readonly ProjectionProblem[];
  close(): void;
}
