import type { StatementSync } from "node:sqlite";
import { AppError } from "../../../base/errors.ts";
import type { EntryRow, TranscriptRow, TranscriptsReads, TranscriptsWrites } from "../../areas/transcripts.ts";
import { archivedName, createLineReader, isTranscriptFile, PACKED_LINE, replacePacked, type LineReader } from "../../projection/index.ts";
import { where, type ReadContext, type ReadHandlers, type WriteContext, type WriteHandlers } from "../handlers.ts";
import { allRows, eachRow, firstRow, need, numberOf } from "../../rows.ts";
import { branchReads } from "./branches.ts";

const COLUMNS =
  "file, agent_id AS agentId, session_id AS sessionId, next_seq AS lines, bytes, leaf_id AS leafId, created_at AS createdAt, archived_at AS archivedAt, (SELECT coalesce(max(seq), 0) FROM transcript_forks f WHERE f.tid = transcripts.tid) AS fork";
const ENTRY_COLUMNS = "seq, entry_id AS id, parent_id AS parentId, type, line";
const INSERT = "INSERT INTO transcript_entries (tid, seq, entry_id, parent_id, type, ts, line) VALUES (?, ?, ?, ?, ?, ?, ?)";

const GROW =
  "UPDATE transcripts SET next_seq = next_seq + ?, bytes = bytes + ?, leaf_id = coalesce(?, leaf_id) WHERE file = ? RETURNING tid, next_seq AS next, bytes";
const LEAF = "SELECT tid, leaf_id AS leaf FROM transcripts WHERE file = ?";

/** Marks a transcript in the commit that changes it: its file follows later. Costs nothing while it is marked. */
const MARK = "INSERT OR IGNORE INTO transcript_unwritten (tid) VALUES (?)";

function assertLine(file: string, line: string): void {
  if (line.includes("\n")) throw new AppError("INVALID_INPUT", `a line of ${file} contains a line break; write the JSON on one line`);
}

function missing(file: string): AppError {
  return new AppError("NOT_FOUND", `there is no transcript ${file}; ensure it first`, { details: { file } });
}

/** The internal number of a transcript; undefined when it does not exist. */
function tidOf({ sql }: ReadContext, file: string): number | undefined {
  return firstRow<{ tid: number }>(sql("SELECT tid FROM transcripts WHERE file = ?"), file)?.tid;
}

function transcriptIn(sql: ReadContext["sql"], file: string): TranscriptRow | undefined {
  return firstRow(sql(`SELECT ${COLUMNS} FROM transcripts WHERE file = ?`), file);
}

/** The index over sessions has the beginnings of messages: those of this transcript are removed from it at once, and filled in again later. */
function dropSearchText({ sql }: WriteContext, tid: number): void {
  const keys = allRows<{ key: string }>(sql("SELECT key FROM sessions WHERE session_id = (SELECT session_id FROM transcripts WHERE tid = ?)"), tid);
  if (keys.length === 0) return;
  sql("INSERT INTO session_words (session_words, rank) VALUES ('secure-delete', 1)").run();
  for (const { key } of keys) {
    sql("INSERT INTO session_words (session_words, rowid, words, last) SELECT 'delete', n, words, last FROM session_search WHERE key = ?").run(key);
    sql("DELETE FROM session_search WHERE key = ?").run(key);
    sql("INSERT OR IGNORE INTO session_unsearched (session_key) VALUES (?)").run(key);
  }
}

export const transcriptsWrites = {
  "transcripts.ensure"({ sql, now, effects }, { file, agentId, sessionId, header }) {
    if (!isTranscriptFile(file))
      throw new AppError("INVALID_INPUT", `${JSON.stringify(file)} cannot name a transcript: expected a path below the state folder that ends with .jsonl`);
    assertLine(file, header);
    const text = `INSERT INTO transcripts (agent_id, session_id, file, next_seq, bytes, created_at) VALUES (?, ?, ?, 1, ?, ?) ON CONFLICT (file) DO NOTHING`;
    const done = sql(text).run(agentId, sessionId, file, Buffer.byteLength(header) + 1, now);
    const created = done.changes === 1;
    if (created) {
      sql(INSERT).run(done.lastInsertRowid, 0, null, null, "session", now, header);
      sql(MARK).run(done.lastInsertRowid);
      effects.push({ kind: "appended", file, startBytes: 0, lines: [header] });
    }
    const transcript = need(transcriptIn(sql, file));
    if (transcript.sessionId !== sessionId || transcript.agentId !== agentId) {
      throw new AppError("CONFLICT", `${file} belongs to session ${transcript.sessionId} of agent ${transcript.agentId}, not to ${sessionId} of ${agentId}`, {
        details: { file },
      });
    }
    return { created, transcript };
  },
  "transcripts.append"({ sql, effects }, { file, entries, expectLeaf }) {
    let added = 0;
    let leaf: string | null = null;
    for (const entry of entries) {
      assertLine(file, entry.line);
      added += Buffer.byteLength(entry.line) + 1;
      leaf = entry.id ?? leaf;
    }
    if (expectLeaf !== undefined) {
      const now = sql("SELECT leaf_id AS leaf FROM transcripts WHERE file = ?").get(file);
      if (now && now["leaf"] !== expectLeaf) {
        throw new AppError("CONFLICT", `the last entry of ${file} is ${String(now["leaf"])}, not ${String(expectLeaf)}; read it again`, {
          details: { file, leaf: now["leaf"] },
        });
      }
    }
    const row = firstRow<{ tid: number; next: number; bytes: number }>(sql(GROW), entries.length, added, leaf, file);
    if (!row) throw missing(file);
    const firstSeq = row.next - entries.length;
    const insert = sql(INSERT);
    for (const [index, entry] of entries.entries())
      insert.run(row.tid, firstSeq + index, entry.id ?? null, entry.parentId ?? null, entry.type, entry.at ?? null, entry.line);
    sql(MARK).run(row.tid);
    effects.push({ kind: "appended", file, startBytes: row.bytes - added, lines: entries.map((entry) => entry.line) });
    return { firstSeq, lastSeq: row.next - 1, bytes: row.bytes };
  },
  "transcripts.expect"({ sql }, expected) {
    const row = transcriptIn(sql, expected.file);
    const same = row?.archivedAt === null && row.sessionId === expected.sessionId && row.createdAt === expected.createdAt && row.leafId === expected.leafId;
    if (same && row.lines === expected.lines && row.bytes === expected.bytes) return;
    throw new AppError("CONFLICT", `${expected.file} was changed at line ${expected.lines}; read it again`, {
      details: { file: expected.file, lines: row?.lines ?? null },
    });
  },
  "transcripts.branch"(context, { file, leafId }) {
    const tid = tidOf(context, file);
    if (tid === undefined) throw missing(file);
    if (leafId !== null && !context.sql("SELECT 1 FROM transcript_entries WHERE tid = ? AND entry_id = ?").get(tid, leafId)) {
      throw new AppError("NOT_FOUND", `there is no entry ${leafId} in ${file}`, { details: { file, leafId } });
    }
    context.sql("UPDATE transcripts SET leaf_id = ? WHERE tid = ?").run(leafId, tid);
  },
  "transcripts.archive"({ sql, now, effects }, { file, reason }) {
    const name = archivedName(file, reason, now);
    const text = "UPDATE transcripts SET file = ?, archived_at = ? WHERE file = ? AND archived_at IS NULL RETURNING tid";
    const row = firstRow<{ tid: number }>(sql(text), name, now, file);
    if (!row) throw missing(file);
    sql(MARK).run(row.tid);
    effects.push({ kind: "renamed", file, to: name });
    return { file: name };
  },
  "transcripts.restore"({ sql, effects }, { file }) {
    const name = file.replace(/\.(?:reset|deleted)\.[^/]*$/, "");
    if (sql("SELECT 1 FROM transcripts WHERE file = ?").get(name))
      throw new AppError("CONFLICT", `${name} is in use by another conversation`, { details: { file } });
    const row = firstRow<{ tid: number }>(
      sql("UPDATE transcripts SET file = ?, archived_at = NULL WHERE file = ? AND archived_at IS NOT NULL RETURNING tid"),
      name,
      file,
    );
    if (!row) throw missing(file);
    sql(MARK).run(row.tid);
    effects.push({ kind: "renamed", file, to: name });
    return { file: name };
  },
  "transcripts.redact"(context, { file, seq, id, line }) {
    const { sql, effects } = context;
    assertLine(file, line);
    const tid = tidOf(context, file);
    if (tid === undefined) throw missing(file);
    const row = firstRow<{ id: string | null; line: string }>(sql("SELECT entry_id AS id, line FROM transcript_entries WHERE tid = ? AND seq = ?"), tid, seq);
    if (!row || row.id !== id) throw new AppError("CONFLICT", `line ${seq} of ${file} is not entry ${String(id)}; read it again`, { details: { file, seq } });
    const before = createLineReader(sql).read(tid, seq, row.line);
    if (row.line === PACKED_LINE) replacePacked(sql, tid, seq, line);
    else sql("UPDATE transcript_entries SET line = ? WHERE tid = ? AND seq = ?").run(line, tid, seq);
    sql("UPDATE transcripts SET bytes = bytes + ? WHERE tid = ?").run(Buffer.byteLength(line) - Buffer.byteLength(before), tid);
    sql(MARK).run(tid);
    dropSearchText(context, tid);
    effects.push({ kind: "rewritten", file });
  },
  "transcripts.remove"(context, { file }) {
    const tid = tidOf(context, file);
    if (tid === undefined) return { removed: 0 };
    const removed = Number(context.sql("DELETE FROM transcript_entries WHERE tid = ?").run(tid).changes);
    context.sql("DELETE FROM transcript_packs WHERE tid = ?").run(tid);
    context.sql("DELETE FROM transcripts WHERE tid = ?").run(tid);
    context.effects.push({ kind: "removed", file });
    return { removed };
  },
} satisfies WriteHandlers<TranscriptsWrites>;

/** Without the hint SQLite walks the transcript backwards, since that gives the order for free. */
const BY_ID = `SELECT ${ENTRY_COLUMNS} FROM transcript_entries INDEXED BY transcript_entries_id WHERE tid = ? AND entry_id = ? ORDER BY seq DESC LIMIT 1`;

/** Lines before a position, nearest first. */
const BEFORE = `SELECT ${ENTRY_COLUMNS} FROM transcript_entries WHERE tid = ? AND seq < ? ORDER BY seq DESC LIMIT ?`;
/** One row when an id exists twice; answered by the index alone. */
const TWICE =
  "SELECT 1 FROM transcript_entries INDEXED BY transcript_entries_id WHERE tid = ? AND entry_id IS NOT NULL GROUP BY entry_id HAVING count(*) > 1 LIMIT 1";
/** Entries that are looked up one by one; only a longer path is worth reading in pages. */
const SHORT_WAY = 16;
/** Up to here single lookups cost less than checking for duplicate ids, which reads all ids of a long transcript. */
const LONG_WAY = 256;
const MAX_PAGE = 1024;

/** Rows as arrays cost half of what rows as objects do. */
function pageBefore(statement: StatementSync, lines: LineReader, tid: number, seq: number, limit: number): readonly EntryRow[] {
  statement.setReturnArrays(true);
  const rows = allRows<[number, string | null, string | null, string, string]>(statement, tid, seq, limit);
  return rows.map((row) => ({ seq: row[0], id: row[1], parentId: row[2], type: row[3], line: lines.read(tid, row[0], row[4]) }));
}

/** A row with its line as text, decompressed if needed. */
function withLine(row: EntryRow, tid: number, lines: LineReader): EntryRow {
  return row.line === PACKED_LINE ? { ...row, line: lines.read(tid, row.seq, row.line) } : row;
}

function withLines({ sql }: ReadContext, tid: number, rows: readonly EntryRow[]): readonly EntryRow[] {
  const lines = createLineReader(sql);
  return rows.map((row) => withLine(row, tid, lines));
}

/** Rows with their lines, up to the one that fills `bytes`; what comes after it is not read. */
function linesUntil({ sql }: ReadContext, tid: number, rows: Iterable<EntryRow>, bytes = Infinity): EntryRow[] {
  const lines = createLineReader(sql);
  const found: EntryRow[] = [];
  let size = 0;
  for (const row of rows) {
    const whole = withLine(row, tid, lines);
    found.push(whole);
    size += whole.line.length;
    if (size >= bytes) break;
  }
  return found;
}

/** Where a path ends: at an entry, after so many entries, or with the one that fills `bytes`. */
interface Reach {
  readonly until: string | undefined;
  readonly limit: number;
  readonly bytes: number | undefined;
}

/**
 * Follows parents upwards. A duplicate id means the later line; a cycle ends the walk. Parents nearly always stand shortly before
 * their children, so that a long path is read in pages of the file; entries outside of the page are looked up.
 */
function path({ sql }: ReadContext, tid: number, from: string, { until, limit, bytes = Infinity }: Reach): EntryRow[] {
  const find = sql(BY_ID);
  const lines = createLineReader(sql);
  const rows: EntryRow[] = [];
  const seen = new Set<string>();
  let page: readonly EntryRow[] = [];
  let at = 0;
  let size = 2 * SHORT_WAY;
  let paged: boolean | undefined;

  /** The line of `id`, from the page if possible: it must come before the one found last. */
  function lineOf(id: string): EntryRow | undefined {
    for (let next = at; next < page.length; next += 1) {
      if (page[next]?.id !== id) continue;
      at = next + 1;
      return page[next];
    }
    if (rows.length >= SHORT_WAY && limit > LONG_WAY) paged ??= sql(TWICE).get(tid) === undefined;
    const found = firstRow<EntryRow>(find, tid, id);
    const row = found && withLine(found, tid, lines);
    if (!row || !paged) return row;
    page = pageBefore(sql(BEFORE), lines, tid, row.seq, Math.min(size, limit - rows.length));
    at = 0;
    size = Math.min(2 * size, MAX_PAGE);
    return row;
  }

  let id: string | null = from;
  let read = 0;
  while (id !== null && rows.length < limit && read < bytes && !seen.has(id)) {
    seen.add(id);
    const row = lineOf(id);
    if (!row) break;
    rows.push(row);
    read += row.line.length;
    if (id === until) break;
    id = row.parentId;
  }
  return rows.reverse();
}

const POSITION_BY_ID =
  "SELECT seq, parent_id FROM transcript_entries INDEXED BY transcript_entries_id WHERE tid = ? AND entry_id = ? ORDER BY seq DESC LIMIT 1";
const POSITIONS_BEFORE = "SELECT seq, entry_id, parent_id FROM transcript_entries WHERE tid = ? AND seq < ? AND seq > ? ORDER BY seq DESC LIMIT ?";

/** The same walk as `path`, for positions only. */
function positions({ sql }: ReadContext, tid: number, leaf: string, after: number): number[] {
  const find = sql(POSITION_BY_ID);
  const before = sql(POSITIONS_BEFORE);
  find.setReturnArrays(true);
  before.setReturnArrays(true);
  const paged = sql(TWICE).get(tid) === undefined;
  const seen = new Set<string>();
  const found: number[] = [];
  let page: readonly (readonly [number, string | null, string | null])[] = [];
  let at = 0;
  let id: string | null = leaf;
  while (id !== null && !seen.has(id)) {
    seen.add(id);
    let next = at;
    while (next < page.length && page[next]?.[1] !== id) next += 1;
    const onPage: readonly [number, string | null, string | null] | undefined = page[next];
    const position: readonly [number, string | null] | undefined = onPage ? [onPage[0], onPage[2]] : firstRow(find, tid, id);
    if (!position || position[0] <= after) break;
    found.push(position[0]);
    id = position[1];
    if (onPage) at = next + 1;
    else if (paged) {
      page = allRows(before, tid, position[0], after, MAX_PAGE);
      at = 0;
    }
  }
  return found.reverse();
}

const CONVERSATIONS = `SELECT t.tid AS n, t.file, t.session_id AS sessionId, t.next_seq AS lines, t.archived_at AS archivedAt,
  coalesce(k.session_key, (SELECT s.key FROM sessions s WHERE s.session_id = t.session_id AND s.agent_id = t.agent_id LIMIT 1)) AS sessionKey
  FROM transcripts t LEFT JOIN transcript_keys k ON k.tid = t.tid`;

export const transcriptsReads = {
  ...branchReads,
  "transcripts.conversations"({ sql }, input) {
    if ("file" in input) return allRows(sql(`${CONVERSATIONS} WHERE t.file = ?`), input.file);
    return allRows(sql(`${CONVERSATIONS} WHERE t.agent_id = ? AND t.tid > ? ORDER BY t.tid LIMIT ?`), input.agentId, input.after, input.limit);
  },
  "transcripts.get": ({ sql }, { file }) => transcriptIn(sql, file),
  "transcripts.ofSession": ({ sql }, { agentId, sessionId }) =>
    allRows<TranscriptRow>(sql(`SELECT ${COLUMNS} FROM transcripts WHERE agent_id = ? AND session_id = ? ORDER BY tid`), agentId, sessionId),
  "transcripts.messages"({ sql }, { agentId, sessionId }) {
    const newest = "SELECT max(tid) FROM transcripts WHERE agent_id = ? AND session_id = ?";
    return numberOf(sql(`SELECT count(*) FROM transcript_entries WHERE tid = (${newest}) AND type = 'message'`), agentId, sessionId);
  },
  "transcripts.page"(context, { file, after, before, limit, bytes }) {
    const tid = tidOf(context, file);
    if (tid === undefined) return [];
    const backwards = before !== undefined && after === undefined;
    const text = `SELECT ${ENTRY_COLUMNS} FROM transcript_entries WHERE tid = ? AND seq > ? AND seq < ? ORDER BY seq ${backwards ? "DESC" : "ASC"} LIMIT ?`;
    const found = eachRow<EntryRow>(context.sql(text), tid, after ?? -1, before ?? Number.MAX_SAFE_INTEGER, limit);
    const rows = linesUntil(context, tid, found, bytes);
    return backwards ? rows.reverse() : rows;
  },
  "transcripts.tail"(context, { file, limit }) {
    const tid = tidOf(context, file);
    if (tid === undefined) return [];
    const text = `SELECT ${ENTRY_COLUMNS} FROM transcript_entries WHERE tid = ? AND seq > 0 ORDER BY seq DESC LIMIT ?`;
    return withLines(context, tid, allRows<EntryRow>(context.sql(text), tid, limit).reverse());
  },
  "transcripts.entry"(context, { file, id }) {
    const tid = tidOf(context, file);
    if (tid === undefined) return undefined;
    const row = firstRow<EntryRow>(context.sql(BY_ID), tid, id);
    return row && withLine(row, tid, createLineReader(context.sql));
  },
  "transcripts.path"(context, { file, from, until, limit = 1_000_000, bytes }) {
    const row = firstRow<{ tid: number; leaf: string | null }>(context.sql(LEAF), file);
    const start = from ?? row?.leaf ?? null;
    return row && start !== null ? path(context, row.tid, start, { until, limit, bytes }) : [];
  },
  "transcripts.positions"(context, { file, after, limit }) {
    const row = firstRow<{ tid: number; leaf: string | null }>(context.sql(LEAF), file);
    return row && row.leaf !== null ? positions(context, row.tid, row.leaf, after).slice(0, limit) : [];
  },
  "transcripts.unwritten": ({ sql }, { limit }) =>
    allRows<TranscriptRow>(
      sql(`SELECT ${COLUMNS} FROM transcripts WHERE tid IN (SELECT tid FROM transcript_unwritten ORDER BY tid DESC LIMIT ?) ORDER BY tid DESC`),
      limit,
    ),
  "transcripts.list"({ sql }, { agentId, archived, limit = 1000, offset = 0 }) {
    const { text, values } = where([
      ["agent_id = ?", agentId],
      ["(archived_at IS NOT NULL) = ?", archived === undefined ? undefined : archived ? 1 : 0],
    ]);
    return allRows<TranscriptRow>(sql(`SELECT ${COLUMNS} FROM transcripts WHERE ${text} ORDER BY tid LIMIT ? OFFSET ?`), ...values, limit, offset);
  },
} satisfies ReadHandlers<TranscriptsReads>;
