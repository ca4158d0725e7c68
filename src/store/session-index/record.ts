import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, type Stats } from "node:fs";
import type { StatementSync } from "node:sqlite";
import { firstRow, need } from "../rows.ts";

type Sql = (text: string) => StatementSync;

/** The known state of one index file: its content when this program last wrote or imported it. */
export interface FileRecord {
  readonly n: number;
  readonly path: string;
  readonly size: number;
  /** Milliseconds, with fractions. */
  readonly mtime: number;
  readonly digest: string;
  /** False when another program wrote the file and its content was imported. */
  readonly own: boolean;
  /** Number of the write that produced the file. */
  readonly pass: number;
  /** Set while a write replaces the file: until it is done, either content may be there. */
  readonly nextDigest: string | undefined;
  /** Sessions in the file, and when the newest of them was changed. */
  readonly sessions: number;
  readonly newest: number;
}

/** One session as it is in the file. */
export interface WrittenSession {
  /** Spelling of the key in the file, when it differs from ours. */
  readonly writtenAs: string | undefined;
  /** Version of the session that matches the file; 0 when none does. */
  readonly version: number;
  readonly digest: string;
}

const COLUMNS = "n, path, size, mtime, digest, own, pass, next_digest AS nextDigest, sessions, newest";

export function recordOf(sql: Sql, path: string): FileRecord | undefined {
  const row = firstRow<Omit<FileRecord, "own" | "nextDigest"> & { own: 0 | 1; nextDigest: string | null }>(
    sql(`SELECT ${COLUMNS} FROM session_files WHERE path = ?`),
    path,
  );
  return row && { ...row, own: row.own === 1, nextDigest: row.nextDigest ?? undefined };
}

/** A new record for an unknown file: its content comes from another program. */
export function newRecord(sql: Sql, path: string): FileRecord {
  sql("INSERT INTO session_files (path, size, mtime, digest, own, pass, sessions, newest) VALUES (?, -1, -1, '', 0, 0, -1, -1)").run(path);
  return need(recordOf(sql, path));
}

export function saveRecord(sql: Sql, record: FileRecord): void {
  sql("UPDATE session_files SET size = ?, mtime = ?, digest = ?, own = ?, pass = ?, next_digest = ?, sessions = ?, newest = ? WHERE n = ?").run(
    record.size,
    record.mtime,
    record.digest,
    record.own ? 1 : 0,
    record.pass,
    record.nextDigest ?? null,
    record.sessions,
    record.newest,
    record.n,
  );
}

/** The session as it is in the file. Rows of a write that did not replace the file are not reliable. */
export function writtenSession(sql: Sql, { n, pass }: Pick<FileRecord, "n" | "pass">, key: string): WrittenSession | undefined {
  const text = "SELECT written_as AS writtenAs, version, digest, pass FROM session_projected WHERE file = ? AND key = ?";
  const row = firstRow<{ writtenAs: string | null; version: number; digest: string; pass: number }>(sql(text), n, key);
  if (!row) return undefined;
  const writtenAs = row.writtenAs ?? undefined;
  return row.pass > pass ? { writtenAs, version: 0, digest: "" } : { writtenAs, version: row.version, digest: row.digest };
}

export function saveWritten(sql: Sql, file: number, pass: number, key: string, { writtenAs, version, digest }: WrittenSession): void {
  sql(
    `INSERT INTO session_projected (file, key, written_as, version, digest, pass) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (file, key) DO UPDATE SET written_as = excluded.written_as, version = excluded.version, digest = excluded.digest, pass = excluded.pass`,
  ).run(file, key, writtenAs ?? null, version, digest, pass);
}

export function forgetWritten(sql: Sql, file: number, key: string): void {
  sql("DELETE FROM session_projected WHERE file = ? AND key = ?").run(file, key);
}

const CHUNK = 256 * 1024;

/** Digest of a file's content, read in chunks. */
export function digestFile(path: string): string {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(CHUNK);
  const fd = openSync(path, "r");
  try {
    for (let size = readSync(fd, buffer); size > 0; size = readSync(fd, buffer)) hash.update(buffer.subarray(0, size));
  } finally {
    closeSync(fd);
  }
  return hash.digest("base64url");
}

/**
 * The record of a file that is unchanged since it was written or imported, with its current size and time; undefined when another program wrote
 * it. The file is read only when its size or time differ.
 */
export function recognise(record: FileRecord, stat: Stats): FileRecord | undefined {
  const current = { size: stat.size, mtime: stat.mtimeMs };
  if (record.nextDigest === undefined && current.size === record.size && current.mtime === record.mtime) return record;
  const digest = digestFile(record.path);
  if (digest === record.digest) return { ...record, ...current, nextDigest: undefined };
  // The process ended after it had replaced the file. Its content was not counted: it is written again.
  if (digest === record.nextDigest) return { ...record, ...current, digest, own: true, pass: record.pass + 1, nextDigest: undefined, sessions: -1 };
  return undefined;
}
