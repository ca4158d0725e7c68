import { closeSync, openSync, renameSync, type Stats } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { AppError, messageOf } from "../../base/errors.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { currentKey, loadLooseJson, recordProgress, rowOf, sourceName, type IndexSource } from "../import/index.ts";
import { transaction } from "../projection/rows.ts";
import { extensionsWrites } from "../sqlite/areas/extensions.ts";
import { sessionsWrites } from "../sqlite/areas/sessions.ts";
import type { WriteContext } from "../sqlite/handlers.ts";
import { digestOf, fileEntry, type StoredSession } from "./entry.ts";
import { isPrivateField } from "../private-fields.ts";
import { digestFile, forgetWritten, newRecord, recordOf, saveRecord, saveWritten, writtenSession, type FileRecord } from "./record.ts";
import { readLines } from "../projection/lines.ts";
import { firstRow, numberOf } from "../rows.ts";
import { isRecord } from "../../base/records.ts";

/** The file does not have the gateway's layout and has to be read as a whole. */
class OtherLayout extends Error {}

/** An entry is at most some 100 KB: a prompt report and a list of skills. */
const MAX_ENTRY = 64 * 1024 * 1024;

/** Entries of an index that is indented by two, one after the other: a large index is never in memory as a whole. */
function* streamed(fd: number): Generator<readonly [key: string, value: unknown]> {
  let [state, text]: ["before" | "inside" | "after", string] = ["before", ""];
  for (const { bytes, tooLong } of readLines(fd)) {
    const line = bytes.toString();
    if (tooLong || text.length > MAX_ENTRY || (state === "after" && line.trim() !== "")) throw new OtherLayout();
    if (state === "before") {
      if (line !== "{") throw new OtherLayout();
      state = "inside";
    } else if (line === "}") {
      if (text !== "") throw new OtherLayout();
      state = "after";
    } else if (state === "inside") {
      text += line;
      if (!/^ {2}\},?$/.test(line) && !/^ {2}".*[^{[],?$/.test(line)) continue;
      const found: object = JSON.parse(`{${text.replace(/,$/, "")}}`);
      yield* Object.entries(found);
      text = "";
    }
  }
  if (state !== "after") throw new OtherLayout();
}

function* whole(path: string): Generator<readonly [key: string, value: unknown]> {
  const read = loadLooseJson(path);
  if (!isRecord(read)) throw new AppError("INVALID_INPUT", "expected an object of session keys");
  yield* Object.entries(read);
}

/** Runs `work` with the entries of an index. It runs a second time, from the start, when the file turns out to have another layout. */
export function withEntries<T>(path: string, work: (entries: Iterable<readonly [key: string, value: unknown]>) => T): T {
  const fd = openSync(path, "r");
  try {
    return work(streamed(fd));
  } catch (error) {
    if (!(error instanceof OtherLayout) && !(error instanceof SyntaxError)) throw error;
  } finally {
    closeSync(fd);
  }
  return work(whole(path));
}

export interface ImportChangesDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  readonly now: () => number;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
}

/** A session whose transcript another program may have written or archived. */
export interface TouchedSession {
  readonly agentId: string;
  readonly sessionId: string;
}

export interface ImportedChanges {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Sessions that were changed on both sides, or are missing in the file, and stayed as they are here. */
  readonly kept: number;
  readonly touched: readonly TouchedSession[];
  /** Why nothing could be imported. */
  readonly problem?: string;
}

const NOTHING: ImportedChanges = { added: 0, changed: 0, removed: 0, kept: 0, touched: [] };
/** When a file has lost this many sessions and has none of its former ones, it was recreated after damage: nothing is removed here. */
const MANY_LOST = 3;

interface Run extends ImportChangesDeps {
  readonly record: FileRecord;
  readonly source: IndexSource;
  /** For entries without a time of their last change. */
  readonly writtenAt: number;
  readonly outcome: { added: number; changed: number; removed: number; kept: number; touched: TouchedSession[] };
}

interface FileSession {
  /** The key as the file spells it. */
  readonly written: string;
  readonly value: unknown;
}

const timeOf = (value: unknown): number => (isRecord(value) && typeof value["updatedAt"] === "number" ? value["updatedAt"] : 0);

function storedSession({ sql }: Run, key: string): StoredSession | undefined {
  const text = "SELECT key, agent_id AS agentId, session_id AS sessionId, version, updated_at AS updatedAt, entry FROM sessions WHERE key = ?";
  return firstRow(sql(text), key);
}

const contextOf = ({ sql, now }: Run): WriteContext => ({ sql, now: now(), effects: [] });

/** Replaces our entry by the file's; fields that only this program may set stay. */
function save(run: Run, key: string, { written, value }: FileSession, digest: string, current: StoredSession | undefined): boolean {
  const row = rowOf(run.db, run.source, written, value, run.writtenAt);
  if (!row) return false;
  const before: Partial<SessionEntry> = current ? JSON.parse(current.entry) : {};
  const entry: SessionEntry = { ...row.entry, ...Object.fromEntries(Object.entries(before).filter(([field]) => isPrivateField(field))) };
  const context = contextOf(run);
  const { version } = sessionsWrites["sessions.put"](context, { key, agentId: current?.agentId ?? row.agentId, entry });
  if (current && current.sessionId !== row.sessionId) {
    extensionsWrites["extensions.clear"](context, { sessionKey: key });
    run.outcome.touched.push({ agentId: current.agentId, sessionId: current.sessionId });
  }
  run.outcome.touched.push({ agentId: row.agentId, sessionId: row.sessionId });
  saveWritten(run.sql, run.record.n, run.record.pass, key, { writtenAs: written === key ? undefined : written, version, digest });
  return true;
}

/** Merges one session of the file with ours. True when the file still has the session that was written to it. */
function merge(run: Run, key: string, session: FileSession): boolean {
  const { sql, record, outcome } = run;
  const { written, value } = session;
  const base = writtenSession(sql, record, key);
  const digest = digestOf(value);
  // It was not changed there: our state wins, also when the session was deleted.
  if (base?.digest === digest) return true;
  const current = storedSession(run, key);
  if (!current) {
    if (save(run, key, session, digest, undefined)) outcome.added += 1;
    return false;
  }
  const same = isRecord(value) && value["sessionId"] === current.sessionId;
  const writtenAs = written === key ? undefined : written;
  if (same && digestOf(fileEntry(sql, run.stateDir, record, current)) === digest) {
    saveWritten(sql, record.n, record.pass, key, { writtenAs, version: current.version, digest });
    return true;
  }
  const at = Math.trunc(timeOf(value));
  if (at > current.updatedAt || (at === current.updatedAt && base?.version === current.version)) {
    if (save(run, key, session, digest, current)) outcome.changed += 1;
  } else {
    outcome.kept += 1;
    saveWritten(sql, record.n, record.pass, key, { writtenAs, version: 0, digest });
    if (isRecord(value) && typeof value["sessionId"] === "string") outcome.touched.push({ agentId: current.agentId, sessionId: value["sessionId"] });
  }
  return same;
}

/** Removes sessions that were in the file and are missing now, unless they were changed here since. */
function removeMissing(run: Run, found: ReadonlySet<string>, survived: boolean): void {
  const { sql, record, outcome } = run;
  const missing = sql("SELECT key FROM session_projected WHERE file = ?")
    .all(record.n)
    .map(({ key }) => String(key))
    .filter((key) => !found.has(key));
  const begunAgain = !survived && missing.length >= MANY_LOST;
  if (begunAgain) run.log("sessions.json has none of its previous sessions; they were kept", { path: record.path, sessions: missing.length });
  for (const key of missing) {
    const current = storedSession(run, key);
    const base = writtenSession(sql, record, key);
    forgetWritten(sql, record.n, key);
    if (!current) continue;
    if (begunAgain || base?.version !== current.version) {
      outcome.kept += 1;
      continue;
    }
    const context = contextOf(run);
    extensionsWrites["extensions.clear"](context, { sessionKey: key });
    sessionsWrites["sessions.delete"](context, { key });
    outcome.touched.push({ agentId: current.agentId, sessionId: current.sessionId });
    outcome.removed += 1;
  }
}

function mergeAll(run: Run, entries: Iterable<readonly [string, unknown]>, stat: Stats): ImportedChanges {
  const { sql, record, outcome } = run;
  const found = new Set<string>();
  let survived = false;
  let newest = -1;
  for (const [written, value] of entries) {
    // Two spellings of one key are one session: the newer entry wins.
    const key = currentKey(written);
    found.add(key);
    survived = merge(run, key, { written, value }) || survived;
    newest = Math.max(newest, Math.trunc(timeOf(value)));
  }
  removeMissing(run, found, survived);
  // What stayed here is not in the file: it has to be written again.
  const count = outcome.kept > 0 ? -1 : numberOf(sql("SELECT count(*) FROM session_projected WHERE file = ?"), record.n);
  const digest = digestFile(record.path);
  saveRecord(sql, { ...record, size: stat.size, mtime: stat.mtimeMs, digest, own: false, nextDigest: undefined, sessions: count, newest });
  recordProgress(run.db, sourceName(run.stateDir, record.path), stat, { state: "done", detail: { rows: found.size } }, run.now());
  // New transcripts are looked for, also by the next process if this one ends first.
  sql("DELETE FROM meta WHERE key = 'store.imported'").run();
  return outcome;
}

/** Moves a file that is not an index out of the way; it is never a reason to remove a session. */
function setAside(deps: ImportChangesDeps, path: string, reason: unknown): ImportedChanges {
  const aside = `${path}.damaged-${deps.now()}`;
  renameSync(path, aside);
  const problem = `it could not be read (${messageOf(reason)}) and was moved to ${aside}; no session was changed, and the file will be rewritten`;
  deps.log("sessions.json is damaged", { path, problem });
  return { ...NOTHING, problem };
}

function importEntries(deps: ImportChangesDeps, path: string, agentId: string, stat: Stats, entries: Iterable<readonly [string, unknown]>): ImportedChanges {
  const problems: string[] = [];
  const taken = transaction(deps.db, () => {
    const record = recordOf(deps.sql, path) ?? newRecord(deps.sql, path);
    const source: IndexSource = { path, agentId, legacy: false, stateDir: deps.stateDir, now: deps.now, problem: (text) => problems.push(text) };
    const outcome = { added: 0, changed: 0, removed: 0, kept: 0, touched: [] };
    return mergeAll({ ...deps, record, source, outcome, writtenAt: Math.trunc(stat.mtimeMs) }, entries, stat);
  });
  for (const problem of problems) deps.log("import", { source: sourceName(deps.stateDir, path), problem });
  return taken;
}

/**
 * Imports what another program wrote to an index file, in one transaction: new, changed and removed sessions. Where both sides
 * changed a session, the newer entry wins.
 */
export function importChanges(deps: ImportChangesDeps, path: string, agentId: string, stat: Stats): ImportedChanges {
  let taken: ImportedChanges;
  try {
    taken = withEntries(path, (entries) => importEntries(deps, path, agentId, stat, entries));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "INVALID_INPUT") throw error;
    return setAside(deps, path, error);
  }
  const { touched: _touched, ...counts } = taken;
  if (Object.values(counts).some((count) => count !== 0)) deps.log("sessions.json was changed by another program and has been imported", { path, ...counts });
  return taken;
}
