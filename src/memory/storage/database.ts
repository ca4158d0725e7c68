import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { messageOf } from "../../base/errors.ts";
import { ANALYSIS_VERSION } from "../text/analyser.ts";

/**
 * The index of one agent: a cache of its notes and transcripts. Deleting it loses nothing but the time to make it again.
 *
 * The number of a passage is `document << 20 | position`, so that neighbours and the document follow from it without a look-up.
 * `words` has no copy of the text: its entries are removed by giving the same terms again (`secure-delete` then leaves none of them in the file).
 */
const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  path TEXT NOT NULL UNIQUE,
  hash TEXT,
  mtime REAL,
  size INTEGER,
  -- Transcripts: the first line that is not indexed yet, and whose conversation it is.
  next_line INTEGER NOT NULL DEFAULT 0,
  session_key TEXT,
  session_id TEXT,
  chat TEXT,
  language INTEGER NOT NULL DEFAULT 0,
  passages INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX documents_key ON documents (session_key) WHERE session_key IS NOT NULL;
CREATE TABLE passages (
  id INTEGER PRIMARY KEY,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  -- Seconds since the epoch.
  at INTEGER,
  role INTEGER NOT NULL,
  language INTEGER NOT NULL,
  entry TEXT,
  about TEXT,
  text TEXT NOT NULL
);
CREATE INDEX passages_at ON passages (at);
CREATE VIRTUAL TABLE words USING fts5(body, about, content = '', tokenize = 'ascii');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
CREATE TABLE terms (term TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE vectors (passage INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE embedding_cache (
  provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL, hash TEXT NOT NULL,
  embedding TEXT NOT NULL, dims INTEGER, updated_at INTEGER NOT NULL,
  PRIMARY KEY (provider, model, provider_key, hash)
);
CREATE INDEX embedding_cache_updated ON embedding_cache (updated_at);
`;

/** How well a row of `words` matches, lower is better: what it is about counts half. */
export const RANK = "bm25(words, 1.0, 0.5)";

const META = "openclaw_memory_index";
const LAYOUT = 1;
const POSITION_BITS = 20;
/** Positions of one document; a longer transcript continues in a further one. */
export const MAX_POSITIONS = 2 ** POSITION_BITS;

export const passageId = (document: number, position: number): number => document * MAX_POSITIONS + position;
export const documentOf = (passage: number): number => Math.floor(passage / MAX_POSITIONS);
export const positionOf = (passage: number): number => passage % MAX_POSITIONS;
/** The document of a passage, in SQL. */
export const DOCUMENT_OF = (column: string): string => `(${column} >> ${POSITION_BITS})`;

/** What an index was made with; with anything else it is made again. */
export interface IndexStamp {
  readonly chunkTokens: number;
  readonly chunkOverlap: number;
}

export interface IndexDatabase extends Disposable {
  readonly file: string;
  readonly db: DatabaseSync;
  sql(text: string): StatementSync;
  transaction<T>(work: () => T): T;
  /** Free pages are returned and the log is emptied: nothing that was deleted is left in either. */
  compact(): void;
}

const stampText = ({ chunkTokens, chunkOverlap }: IndexStamp): string =>
  JSON.stringify({ layout: LAYOUT, analysis: ANALYSIS_VERSION, chunkTokens, chunkOverlap });

/** SQLite's words for a file that is no database, or one whose pages make no sense. */
export function isDamaged(error: unknown): boolean {
  return /malformed|not a database|disk image|corrupt|fts5: corruption|no such table/i.test(messageOf(error));
}

export function removeIndex(file: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(`${file}${ending}`, { force: true });
}

function connect(file: string, temporary: boolean): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    // Lost in a power cut is at most what was indexed last; it is indexed again.
    db.exec(`PRAGMA journal_mode = ${temporary ? "OFF" : "WAL"}; PRAGMA synchronous = ${temporary ? "OFF" : "NORMAL"};
      PRAGMA secure_delete = ON; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 2000`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function wrap(db: DatabaseSync, file: string): IndexDatabase {
  const statements = new Map<string, StatementSync>();
  return {
    file,
    db,
    sql(text) {
      let statement = statements.get(text);
      if (!statement) statements.set(text, (statement = db.prepare(text)));
      return statement;
    },
    transaction(work) {
      db.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        db.exec("COMMIT");
        return result;
      } finally {
        if (db.isTransaction) db.exec("ROLLBACK");
      }
    },
    compact() {
      db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    [Symbol.dispose]() {
      statements.clear();
      db.close();
    },
  };
}

/** A new, empty index. `temporary`: without a log, to be renamed when it is complete. */
export function createIndex(file: string, stamp: IndexStamp, temporary = false): IndexDatabase {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  removeIndex(file);
  const db = connect(file, temporary);
  db.exec("BEGIN");
  db.exec(SCHEMA);
  db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)").run(META, stampText(stamp));
  db.exec("COMMIT");
  return wrap(db, file);
}

export type Opened =
  | { readonly kind: "current"; readonly index: IndexDatabase }
  /** Made with other settings, by another version, or by the reference system. */
  | { readonly kind: "outdated"; readonly why: string }
  | { readonly kind: "missing" }
  | { readonly kind: "damaged"; readonly why: string };

/** Opens an index if it is one that this version can use. */
export function openIndex(file: string, stamp: IndexStamp): Opened {
  if (!existsSync(file)) return { kind: "missing" };
  let db: DatabaseSync | undefined;
  try {
    db = connect(file, false);
    const isIndex = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'meta'").get();
    const found = isIndex ? db.prepare("SELECT value FROM meta WHERE key = ?").get(META)?.["value"] : undefined;
    if (found === stampText(stamp)) {
      // Reads the structures that a torn file would have damaged first.
      db.prepare("SELECT count(*) FROM documents").get();
      db.prepare("SELECT rowid FROM words WHERE words MATCH '\"openclaw\"' LIMIT 1").get();
      return { kind: "current", index: wrap(db, file) };
    }
    db.close();
    return { kind: "outdated", why: found === undefined ? "it was created by another version" : "it was created with other settings" };
  } catch (error) {
    try {
      db?.close();
    } catch {
      // It could not be used; whether it closes does not matter.
    }
    return { kind: "damaged", why: messageOf(error) };
  }
}
