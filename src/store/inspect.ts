import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { AppError, messageOf } from "../base/errors.ts";
import type { ReadInput, ReadKind, ReadResult } from "./areas/index.ts";
import { createStatements, runRead } from "./sqlite/connection.ts";
import { isDamage, storeError } from "./sqlite/failure.ts";
import { assertReadable, MIGRATIONS } from "./sqlite/migrations.ts";
import { isSuspect, markSuspect, openReader } from "./sqlite/open.ts";

/** Reads the state from another process: read-only, in this thread, whether a gateway runs or not. All reads see the same snapshot. */
export interface Inspection extends Disposable {
  read<K extends ReadKind>(kind: K, input: ReadInput<K>): ReadResult<K>;
  /** Lets go of the snapshot: the next read sees, and holds, the state as it is then. */
  renew(): void;
}

/** Tables that came with later versions, as far as they are read here. */
const LATER_TABLES = {
  session_parts: "session_key TEXT, name TEXT, value TEXT",
  transcript_unwritten: "tid INTEGER PRIMARY KEY",
  transcript_keys: "tid INTEGER PRIMARY KEY, session_key TEXT",
  session_marks: "session_key TEXT PRIMARY KEY, pinned_at INTEGER, archived_at INTEGER",
  session_folders: "session_key TEXT PRIMARY KEY, folder TEXT",
  deleted_sessions: "id TEXT, key TEXT, agent_id TEXT, entry TEXT, extensions TEXT, deleted_at INTEGER",
  transcript_forks: "tid INTEGER, seq INTEGER, PRIMARY KEY (tid, seq)",
};

/** Opens the state for reading. Undefined when there is no database yet. */
export function inspectStore(stateDir: string): Inspection | undefined {
  const file = join(stateDir, "openclaw.db");
  if (!existsSync(file)) return undefined;
  try {
    const db = openReader(file);
    assertReadable(db, MIGRATIONS);
    // A state that no gateway of this version has opened lacks these tables; nothing is written to the file.
    for (const [name, columns] of Object.entries(LATER_TABLES)) {
      const isMissing = db.prepare("SELECT 1 FROM main.sqlite_schema WHERE name = ?").get(name) === undefined;
      if (isMissing) db.exec(`CREATE TEMP TABLE ${name} (${columns})`);
    }
    db.exec("BEGIN");
    const context = { sql: createStatements(db), trees: new Map() };
    return {
      read(kind, input) {
        try {
          return runRead(context, kind, input);
        } catch (error) {
          if (isDamage(error)) markSuspect(file, messageOf(error));
          throw storeError(`could not read ${file}`, error);
        }
      },
      renew: () => db.exec("COMMIT; BEGIN"),
      [Symbol.dispose]: () => db.close(),
    };
  } catch (error) {
    throw error instanceof AppError ? error : storeError(`could not read ${file}`, error);
  }
}

/** The condition of the database file. */
export interface Examination {
  readonly file: string;
  readonly bytes: number;
  /** Size of the write-ahead log. */
  readonly walBytes: number;
  /** Damage was found, and the next start will salvage the database. */
  readonly suspect: boolean;
  /** It needs a newer version of this program. */
  readonly tooNew?: string;
  /** Damage, or why it cannot be read. Empty when it is sound; undefined when it was not checked. */
  readonly damage?: readonly string[];
}

/** Most lines of a damage report. */
const MOST_LINES = 5;

/** Examines the database file. `thorough` reads all of it, which takes seconds for a gigabyte. Undefined when there is none. */
export function examineStore(stateDir: string, options: { readonly thorough: boolean }): Examination | undefined {
  const file = join(stateDir, "openclaw.db");
  const bytes = statSync(file, { throwIfNoEntry: false })?.size;
  if (bytes === undefined) return undefined;
  const facts = { file, bytes, walBytes: statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0, suspect: isSuspect(file) };
  try {
    using db = openReader(file);
    assertReadable(db, MIGRATIONS);
    if (!options.thorough) return facts;
    const rows = db.prepare(`PRAGMA quick_check(${MOST_LINES})`).all();
    const lines = rows.map((row) => String(row["quick_check"]));
    return { ...facts, damage: lines.length === 1 && lines[0] === "ok" ? [] : lines };
  } catch (error) {
    if (error instanceof AppError && error.code === "STORE_TOO_NEW") return { ...facts, tooNew: error.message };
    if (isDamage(error)) return { ...facts, damage: [messageOf(error)] };
    throw error instanceof AppError ? error : storeError(`could not read ${file}`, error);
  }
}

/** Makes the next start salvage a damaged database. */
export function suspectStore(stateDir: string, reason: string): void {
  markSuspect(join(stateDir, "openclaw.db"), reason);
}
