import type { DatabaseSync } from "node:sqlite";
import { AppError } from "../../base/errors.ts";
import { leanTables } from "./schema-lean.ts";
import { SCHEMA_V1 } from "./schema.ts";
import { SESSION_FILES, SESSION_FOLDERS, SESSION_LISTS, SESSION_MARKS, SESSION_SEARCH } from "./schema-sessions.ts";
import { numberOf } from "../rows.ts";

export interface Migration {
  /** The version the file has afterwards; 1, 2, 3, … */
  readonly version: number;
  /** The oldest version of this program's schema that can still work with the result. */
  readonly minReader: number;
  readonly up: string | ((db: DatabaseSync) => void);
}

/** The first version that reads compressed lines. A database with compressed lines requires it; see packing.ts. */
export const PACKS_VERSION = 12;

/** Forward only. A published entry is never changed: mistakes are fixed by the next one. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, minReader: 1, up: SCHEMA_V1 },
  // Sender of the message that a call answered: used for budgets per sender.
  { version: 2, minReader: 1, up: "ALTER TABLE usage ADD COLUMN sender TEXT" },
  // The recent history of a chat is read when a message in it is answered.
  { version: 3, minReader: 1, up: "CREATE INDEX inbox_place ON inbox (channel, account, conversation, id)" },
  // Outcome of a command that needed approval. Nothing waits for earlier ones; what an allowed one did was not stored.
  {
    version: 4,
    minReader: 1,
    up: `ALTER TABLE approvals ADD COLUMN fate TEXT;
      UPDATE approvals SET fate = CASE
        WHEN decision IN ('allow-once', 'allow-always') THEN '{"state":"lost","told":true}'
        WHEN state = 'expired' THEN '{"state":"denied","why":"approval-timeout","told":true}'
        ELSE '{"state":"denied","told":true}' END
      WHERE kind = 'exec'`,
  },
  // Commands that the user allowed permanently, with the shape of their arguments.
  {
    version: 5,
    minReader: 1,
    up: `CREATE TABLE remembered_commands (
      id TEXT PRIMARY KEY,
      agent_id TEXT NOT NULL,
      program TEXT NOT NULL,
      rule TEXT NOT NULL,
      command TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      last_used_at INTEGER,
      UNIQUE (agent_id, program, rule)
    ) STRICT`,
  },
  // Lists and counts of sessions, and words in them, have indexes of their own. They are filled after the start: see session-indexes.ts.
  { version: 6, minReader: 1, up: SESSION_LISTS + SESSION_SEARCH },
  // Retention finds used rows without reading unused ones.
  { version: 7, minReader: 1, up: "CREATE INDEX injections_drained ON injections (drained_at) WHERE drained_at IS NOT NULL" },
  // Fields that make up most of an entry and rarely change are stored separately. Existing entries are split when they are next written; an older
  // program finds them without these fields, and creates them again.
  {
    version: 8,
    minReader: 1,
    up: "CREATE TABLE session_parts (session_key TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (session_key, name)) WITHOUT ROWID",
  },
  // Parts of the cost of a call. For earlier calls only the sum is known.
  {
    version: 9,
    minReader: 1,
    up: `ALTER TABLE usage ADD COLUMN input_cost REAL;
      ALTER TABLE usage ADD COLUMN output_cost REAL;
      ALTER TABLE usage ADD COLUMN cache_read_cost REAL;
      ALTER TABLE usage ADD COLUMN cache_write_cost REAL`,
  },
  // The known state of session index files that other programs share: see session-index/.
  { version: 10, minReader: 1, up: SESSION_FILES },
  // A turn writes fewer pages.
  { version: 11, minReader: 1, up: leanTables },
  // Lines of unused transcripts can be stored compressed: `packed_lines` have been processed so far, `packed_at` is when the file was done.
  {
    version: PACKS_VERSION,
    minReader: 1,
    up: `ALTER TABLE transcripts ADD COLUMN packed_lines INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE transcripts ADD COLUMN packed_at INTEGER;
      CREATE TABLE transcript_packs (
        id INTEGER PRIMARY KEY,
        tid INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        data BLOB NOT NULL,
        UNIQUE (tid, first)
      )`,
  },
  // Transcripts whose files may lack their last lines: see transcript-files.ts. Which files of an older state do is unknown; the newest are compared.
  {
    version: 13,
    minReader: 1,
    up: `CREATE TABLE transcript_unwritten (tid INTEGER PRIMARY KEY);
      INSERT INTO transcript_unwritten SELECT tid FROM transcripts WHERE packed_at IS NULL ORDER BY tid DESC LIMIT 1000`,
  },
  // Whose conversation a transcript was, once its session continues in another one. For earlier ones it is unknown.
  {
    version: 14,
    minReader: 1,
    up: `CREATE TABLE transcript_keys (tid INTEGER PRIMARY KEY, session_key TEXT NOT NULL);
      CREATE TRIGGER transcript_left AFTER UPDATE OF session_id ON sessions WHEN OLD.session_id <> NEW.session_id BEGIN
        INSERT OR REPLACE INTO transcript_keys SELECT tid, OLD.key FROM transcripts WHERE agent_id = OLD.agent_id AND session_id = OLD.session_id;
      END;
      CREATE TRIGGER transcript_orphaned AFTER DELETE ON sessions BEGIN
        INSERT OR REPLACE INTO transcript_keys SELECT tid, OLD.key FROM transcripts WHERE agent_id = OLD.agent_id AND session_id = OLD.session_id;
      END;
      CREATE TRIGGER transcript_key_removed AFTER DELETE ON transcripts BEGIN
        DELETE FROM transcript_keys WHERE tid = OLD.tid;
      END`,
  },
  // Where transcripts branch. Of those that are there already it is found out when it is asked for: see branches.ts.
  {
    version: 15,
    minReader: 1,
    up: `CREATE TABLE transcript_forks (tid INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (tid, seq)) WITHOUT ROWID;
      CREATE TRIGGER transcript_forked AFTER INSERT ON transcript_entries WHEN NEW.seq > 1 AND NEW.entry_id IS NOT NULL
        AND NEW.parent_id IS NOT (SELECT entry_id FROM transcript_entries WHERE tid = NEW.tid AND seq = NEW.seq - 1) BEGIN
        INSERT OR IGNORE INTO transcript_forks (tid, seq) VALUES (NEW.tid, NEW.seq);
      END;
      CREATE TRIGGER transcript_forks_removed AFTER DELETE ON transcripts BEGIN
        DELETE FROM transcript_forks WHERE tid = OLD.tid;
      END;
      INSERT INTO meta (key, value) SELECT 'transcripts.unforked', max(tid) FROM transcripts HAVING max(tid) IS NOT NULL`,
  },
  // Sessions that are pinned or archived in lists, and those whose deletion can be undone.
  { version: 16, minReader: 1, up: SESSION_MARKS },
  // Sessions in folders.
  { version: 17, minReader: 1, up: SESSION_FOLDERS },
];

function versionOf(db: DatabaseSync): number {
  return numberOf(db.prepare("PRAGMA user_version"));
}

function minReaderOf(db: DatabaseSync): number {
  const row = db.prepare("SELECT value FROM meta WHERE key = 'store.min_reader'").get();
  return row ? Number(row["value"]) : 1;
}

/** Records the oldest program that may work with the file. A recorded version is never lowered: what required it is still there. */
export function requireReader(db: DatabaseSync, version: number): void {
  const text = `INSERT INTO meta (key, value) VALUES ('store.min_reader', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value
    WHERE CAST(value AS INTEGER) < CAST(excluded.value AS INTEGER)`;
  db.prepare(text).run(String(version));
}

/** Throws `STORE_TOO_NEW` when this program must not touch the file. Changes nothing. */
export function assertReadable(db: DatabaseSync, migrations: readonly Migration[] = MIGRATIONS): void {
  const ours = migrations.at(-1)?.version ?? 0;
  const version = versionOf(db);
  if (version <= ours) return;
  const needed = minReaderOf(db);
  if (needed <= ours) return;
  throw new AppError(
    "STORE_TOO_NEW",
    `the database has schema version ${version} and needs a program that knows version ${needed}, this one knows ${ours}; it was left untouched, start the newer version`,
    { details: { version, needed, ours } },
  );
}

/**
 * Brings the file to the newest version, each migration in a transaction of its own; an empty file gets all in one, which is one sync. Returns the
 * number of migrations applied.
 */
export function migrate(db: DatabaseSync, now: number, migrations: readonly Migration[] = MIGRATIONS): number {
  assertReadable(db, migrations);
  const from = versionOf(db);
  const todo = migrations.filter((migration) => migration.version > from);
  for (const together of from === 0 ? [todo] : todo.map((migration) => [migration])) {
    db.exec("BEGIN IMMEDIATE");
    try {
      for (const migration of together) apply(db, migration, now);
      db.exec("COMMIT");
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }
  return todo.length;
}

function apply(db: DatabaseSync, { version, minReader, up }: Migration, now: number): void {
  if (typeof up === "string") db.exec(up);
  else up(db);
  const note = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
  requireReader(db, minReader);
  note.run(`store.migrated.${version}`, String(now));
  db.exec(`PRAGMA user_version = ${version}`);
}
