import type { DatabaseSync, StatementSync } from "node:sqlite";
import { AppError } from "../../base/errors.ts";
import type { TranscriptLine } from "../../protocol/index.ts";
import { createLineReader } from "./packs.ts";

/** The database's record of one transcript file. */
export interface TranscriptRow {
  readonly tid: number;
  readonly agentId: string;
  readonly sessionId: string;
  /** Relative to the state folder, with `/`. */
  readonly file: string;
  readonly nextSeq: number;
  /** Expected size of the file. */
  readonly bytes: number;
  readonly leafId: string | undefined;
}

export function transcriptRow(db: DatabaseSync, tid: number): TranscriptRow {
  const row = db.prepare("SELECT agent_id, session_id, file, next_seq, bytes, leaf_id FROM transcripts WHERE tid = ?").get(tid);
  if (!row) throw new AppError("NOT_FOUND", `there is no transcript with the number ${tid}`);
  return {
    tid,
    agentId: String(row["agent_id"]),
    sessionId: String(row["session_id"]),
    file: String(row["file"]),
    nextSeq: Number(row["next_seq"]),
    bytes: Number(row["bytes"]),
    leafId: typeof row["leaf_id"] === "string" ? row["leaf_id"] : undefined,
  };
}

/** The lines of a transcript in order, as the bytes expected in the file. */
export function* expectedLines(db: DatabaseSync, tid: number, fromSeq = 0): Generator<{ readonly seq: number; readonly bytes: Buffer }> {
  const rows = db.prepare("SELECT seq, line FROM transcript_entries WHERE tid = ? AND seq >= ? ORDER BY seq").iterate(tid, fromSeq);
  const lines = createLineReader((text) => db.prepare(text));
  for (const row of rows) {
    const seq = Number(row["seq"]);
    yield { seq, bytes: Buffer.from(`${lines.read(tid, seq, row["line"])}\n`) };
  }
}

/** The line at `seq`, as expected in the file. */
export function expectedLine(db: DatabaseSync, tid: number, seq: number): Buffer | undefined {
  const row = db.prepare("SELECT line FROM transcript_entries WHERE tid = ? AND seq = ?").get(tid, seq);
  return row && Buffer.from(`${createLineReader((text) => db.prepare(text)).read(tid, seq, row["line"])}\n`);
}

/** Appends lines to a transcript. Runs in the caller's transaction; `finish` writes the totals. */
export interface LineAppender {
  add(text: string, parsed: TranscriptLine): void;
  /** True when an entry with this id exists. */
  knows(entryId: string): boolean;
  readonly added: number;
  readonly nextSeq: number;
  /** `moveLeaf`: whether the conversation continues after the last entry added. */
  finish(moveLeaf: boolean): void;
}

function timeOf(value: unknown): number | null {
  const time = typeof value === "string" ? Date.parse(value) : value;
  return typeof time === "number" && Number.isSafeInteger(time) ? time : null;
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

export function appendLines(db: DatabaseSync, transcript: TranscriptRow): LineAppender {
  const insert: StatementSync = db.prepare("INSERT INTO transcript_entries (tid, seq, entry_id, parent_id, type, ts, line) VALUES (?, ?, ?, ?, ?, ?, ?)");
  const find = db.prepare("SELECT 1 FROM transcript_entries WHERE tid = ? AND entry_id = ? LIMIT 1");
  const { tid } = transcript;
  let { nextSeq, bytes, leafId } = transcript;
  let added = 0;
  return {
    add(text, parsed) {
      const entry = parsed.kind === "header" ? parsed.header : parsed.entry;
      // The id of a header is the session's, not that of a tree entry.
      const id = parsed.kind === "header" ? null : textOrNull(parsed.entry.id);
      const parent = parsed.kind === "header" ? null : textOrNull(parsed.entry.parentId);
      insert.run(tid, nextSeq, id, parent, entry.type, timeOf(entry.timestamp), text);
      nextSeq += 1;
      added += 1;
      bytes += Buffer.byteLength(text) + 1;
      if (id !== null) leafId = id;
    },
    knows: (entryId) => find.get(tid, entryId) !== undefined,
    get added() {
      return added;
    },
    get nextSeq() {
      return nextSeq;
    },
    finish(moveLeaf) {
      const leaf = moveLeaf ? leafId : transcript.leafId;
      db.prepare("UPDATE transcripts SET next_seq = ?, bytes = ?, leaf_id = ? WHERE tid = ?").run(nextSeq, bytes, leaf ?? null, tid);
    },
  };
}

/** Runs `work` as one transaction. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
