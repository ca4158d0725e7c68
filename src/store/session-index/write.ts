import { createHash, type Hash } from "node:crypto";
import { closeSync, constants, copyFileSync, existsSync, linkSync, openSync, readdirSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { fileError, messageOf, systemCode } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { ensureFolder } from "../../base/files.ts";
import { digestOf, entryText, fileEntry, type StoredSession } from "./entry.ts";
import { lookAt, type Locations } from "./locations.ts";
import { forgetWritten, newRecord, recognise, recordOf, saveRecord, saveWritten, writtenSession, type FileRecord } from "./record.ts";
import { allRows } from "../rows.ts";
import { unsyncedTransaction } from "../sqlite/connection.ts";

/** No request of the store waits longer than about this for a step, plus one entry. */
const STEP_MS = 4;
/** Sessions read at a time. */
const PAGE = 16;
/** Bytes written at a time. */
const BUFFER = 64 * 1024;
/** Backups kept of another program's files that ours replaced. */
const MOST_BACKUPS = 3;

export interface WriteDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  readonly locations: Locations;
  readonly now: () => number;
  /** Called after something was written to the database. */
  readonly wrote: () => void;
}

/** Outcome of one file. */
export interface WriteResult {
  readonly path: string;
  /** `foreign`: another program changed the file, which was left as it is. */
  readonly outcome: "written" | "unchanged" | "foreign" | "failed";
  readonly bytes: number;
  readonly problem?: string;
}

/** A file being written, under a temporary name until it is complete. */
interface Output {
  readonly record: FileRecord;
  readonly temporary: string;
  readonly hash: Hash;
  fd: number | undefined;
  buffer: string;
  bytes: number;
  sessions: number;
  newest: number;
  problem?: string;
}

function failed(output: Output, error: unknown): void {
  output.problem = messageOf(fileError(output.record.path, "could not write the session index", error));
  abandon(output);
}

/** Removes the unfinished file. */
function abandon(output: Output): void {
  if (output.fd !== undefined) closeSync(output.fd);
  output.fd = undefined;
  rmSync(output.temporary, { force: true });
}

/** The folder is created only for sessions: an agent without any may have been deleted with its folder. */
function open(output: Output): number {
  if (output.fd !== undefined) return output.fd;
  ensureFolder(dirname(output.temporary));
  // Left by a process that died; a link there is removed, not followed.
  rmSync(output.temporary, { force: true });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  return (output.fd = openSync(output.temporary, flags, 0o600));
}

function flush(output: Output): void {
  const fd = open(output);
  const bytes = Buffer.from(output.buffer);
  output.buffer = "";
  output.hash.update(bytes);
  output.bytes += bytes.length;
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}

function put(output: Output, text: string): void {
  output.buffer += text;
  if (output.buffer.length < BUFFER) return;
  flush(output);
}

/** Saves another program's file under the name that the reference system rotates to. The file itself stays in place until it is replaced. */
function keepBackup(path: string, now: number): void {
  const folder = dirname(path);
  const prefix = `${basename(path)}.bak.`;
  const kept = `${path}.bak.${now}`;
  try {
    linkSync(path, kept);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    if (systemCode(error) !== "EEXIST") copyFileSync(path, kept);
  }
  const old = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .sort((a, b) => Number(b.slice(prefix.length)) - Number(a.slice(prefix.length)));
  for (const name of old.slice(MOST_BACKUPS)) rmSync(join(folder, name), { force: true });
}

/** Renames the finished file, unless another program has changed the existing one. */
function replace({ db, sql, now }: WriteDeps, output: Output, pass: number): WriteResult {
  const { record } = output;
  const { path } = record;
  const done = (outcome: WriteResult["outcome"]): WriteResult => ({ path, outcome, bytes: output.bytes });
  if (output.sessions === 0 && output.fd === undefined && !existsSync(path)) return done("unchanged");
  output.buffer += output.sessions === 0 ? "{}" : "\n}";
  flush(output);
  closeSync(open(output));
  output.fd = undefined;
  const digest = output.hash.digest("base64url");
  const before = lookAt(path);
  if (before && !recognise(record, before)) {
    abandon(output);
    return done("foreign");
  }
  const { sessions, newest } = output;
  const next = { ...record, sessions, newest, pass, digest, own: true, nextDigest: undefined };
  if (before && digest === record.digest) {
    abandon(output);
    unsyncedTransaction(db, () => saveRecord(sql, { ...next, own: record.own, size: before.size, mtime: before.mtimeMs }));
    return done("unchanged");
  }
  if (before && !record.own) keepBackup(path, now());
  // If killed between these two, either content is recognized as ours.
  unsyncedTransaction(db, () => saveRecord(sql, { ...record, nextDigest: digest }));
  failpoint("index.written");
  renameSync(output.temporary, path);
  failpoint("index.replaced");
  const after = lookAt(path);
  unsyncedTransaction(db, () => saveRecord(sql, { ...next, size: after?.size ?? -1, mtime: after?.mtimeMs ?? -1 }));
  return done("written");
}

/** Adds one session to its file; returns what has to be recorded about it, if that has changed. */
function add({ sql, stateDir }: WriteDeps, output: Output, session: StoredSession): (() => void) | undefined {
  const { record } = output;
  const { key, version } = session;
  const known = writtenSession(sql, record, key);
  const entry = fileEntry(sql, stateDir, record, session);
  const digest = digestOf(entry);
  put(output, `${output.sessions === 0 ? "{\n" : ",\n"}${entryText(known?.writtenAs ?? key, entry)}`);
  output.sessions += 1;
  output.newest = Math.max(output.newest, session.updatedAt);
  if (known?.version === version && known.digest === digest) return undefined;
  return () => saveWritten(sql, record.n, record.pass + 1, key, { writtenAs: known?.writtenAs, version, digest });
}

const SESSIONS = `SELECT rowid AS n, key, agent_id AS agentId, session_id AS sessionId, version, updated_at AS updatedAt, entry
  FROM sessions WHERE rowid > ? ORDER BY rowid LIMIT ${PAGE}`;

/** Reads sessions for about the time of a step. Returns where to continue, undefined at the end. */
function step(deps: WriteDeps, outputs: ReadonlyMap<string, Output>, from: number): number | undefined {
  const started = performance.now();
  const notes: (() => void)[] = [];
  let at: number | undefined = from;
  while (at !== undefined && performance.now() - started < STEP_MS) {
    const rows: readonly (StoredSession & { readonly n: number })[] = allRows(deps.sql(SESSIONS), at);
    for (const row of rows) {
      const output = outputs.get(deps.locations.pathOf(row.agentId) ?? "");
      if (!output || output.problem !== undefined) continue;
      try {
        const note = add(deps, output, row);
        if (note) notes.push(note);
      } catch (error) {
        if (systemCode(error) === "ERR_SQLITE_ERROR") throw error;
        failed(output, error);
      }
    }
    at = rows.length < PAGE ? undefined : rows.at(-1)?.n;
  }
  if (notes.length > 0) {
    unsyncedTransaction(deps.db, () => notes.forEach((note) => note()));
    deps.wrote();
  }
  return at;
}

/** A disk error here loses the file, not the store: the database has everything. */
function finish(deps: WriteDeps, output: Output): WriteResult {
  const { record } = output;
  try {
    if (output.problem === undefined) return replace(deps, output, record.pass + 1);
  } catch (error) {
    if (systemCode(error) === "ERR_SQLITE_ERROR") throw error;
    failed(output, error);
  }
  return { path: record.path, outcome: "failed", bytes: output.bytes, problem: output.problem ?? "" };
}

function begin({ sql, db }: WriteDeps, path: string): Output {
  const record = recordOf(sql, path) ?? unsyncedTransaction(db, () => newRecord(sql, path));
  const temporary = `${path}.tmp`;
  return { record, temporary, hash: createHash("sha256"), fd: undefined, buffer: "", bytes: 0, sessions: 0, newest: -1 };
}

/**
 * Writes index files from the database, a few milliseconds per step. Sessions may change between two steps: each is written as it is when it is
 * reached, and a change schedules another write. `gone` are removed sessions.
 */
export function* writeIndexes(deps: WriteDeps, paths: Iterable<string>, gone: Iterable<string> = []): Generator<void, readonly WriteResult[]> {
  const outputs = new Map([...paths].map((path) => [path, begin(deps, path)]));
  const lost = [...gone];
  let finished = false;
  try {
    for (let at: number | undefined = -1; at !== undefined;) {
      at = step(deps, outputs, at);
      yield;
    }
    const results: WriteResult[] = [];
    for (const output of outputs.values()) {
      const result = finish(deps, output);
      results.push(result);
      if (result.outcome === "written" && lost.length > 0)
        unsyncedTransaction(deps.db, () => {
          for (const key of lost) if (!deps.sql("SELECT 1 FROM sessions WHERE key = ?").get(key)) forgetWritten(deps.sql, output.record.n, key);
        });
      yield;
    }
    finished = true;
    return results;
  } finally {
    if (!finished) for (const output of outputs.values()) abandon(output);
  }
}
