import type { DatabaseSync } from "node:sqlite";

export interface SalvageOptions {
  /** The damaged database; it must not be open anywhere. */
  readonly file: string;
  readonly stateDir: string;
  readonly now: () => number;
  /** Creates the current schema in an empty database. */
  readonly prepare: (db: DatabaseSync) => void;
  /** Why the file is considered damaged, for `reason.txt`. */
  readonly reason?: string;
}

export interface SalvagedTable {
  readonly table: string;
  /** Rows copied into the new database. */
  readonly copied: number;
  /** Ranges of the primary key that could not be read, as text. */
  readonly unreadable: readonly string[];
  /** Rows that were read but rejected by the new schema. */
  readonly refused: number;
}

export interface SalvageReport {
  /** Folder that holds the damaged file, `reason.txt` and `report.json`. */
  readonly folder: string;
  readonly reason: string;
  /** False when nothing in the file could be read as a database. */
  readonly readable: boolean;
  /** The first hundred findings of SQLite's check of the damaged file. */
  readonly findings: readonly string[];
  readonly tables: readonly SalvagedTable[];
  /** Transcript lines that came from JSONL files. */
  readonly linesFromFiles: number;
  /** Session entries made from transcript files alone. */
  readonly sessionsFromFiles: number;
}
