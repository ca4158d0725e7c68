import type { DatabaseSync, StatementSync } from "node:sqlite";
import { failpoint } from "../../base/failpoints.ts";
import { PACKED_LINE, packLines, transcriptRow } from "../projection/index.ts";
import type { MaintenanceReport } from "../retention.ts";
import { PACKS_VERSION, requireReader } from "../sqlite/migrations.ts";
import { createPace, unsynced } from "./pace.ts";
import type { TranscriptFiles } from "./transcript-files.ts";
import { allRows, firstRow } from "../rows.ts";

/** Bytes and lines of one pack: compressing it takes about a millisecond, and so does reading one line of it. */
const PACK_BYTES = 64 * 1024;
const PACK_LINES = 256;
/** A longer line, mostly an image, stays as it is: compressing it would block too long, and gains little. */
const LONG_LINE_BYTES = 256 * 1024;
/** Transcripts inspected by one statement. */
const MOST_LOOKED_AT = 500;
/** Compressed files that may wait for their sync at the same time. */
const MOST_SYNCING = 8;
/** Failed replacements after which no more are tried. */
const MOST_FAILURES = 3;

export interface PackingDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly files: Pick<TranscriptFiles, "importLines" | "compress" | "compressing">;
  /** The last transcript that was inspected; 0 for none. Preserved between calls, so that each continues where the previous one ended. */
  readonly cursor: { tid: number };
  readonly now: number;
  /** Transcripts that were last used before this time are compressed. */
  readonly before: number;
}

export interface Packing {
  /** Each `next` takes a few milliseconds. Ends early when too many files wait for their sync. */
  readonly steps: Iterator<void>;
  /** False in the middle of a file, which would have to be rewritten from its start. */
  canStop(): boolean;
  /** True when files are still being synced, or transcripts were left for the next call. */
  unfinished(): boolean;
  report(): MaintenanceReport["compressed"];
}

/**
 * The next transcripts with something to compress that were not used recently: neither their session nor an entry is newer, and they are not being
 * imported.
 */
const CANDIDATES = `SELECT tid FROM transcripts AS t WHERE tid > ?1 AND tid <= ?2 AND (packed_at IS NULL OR packed_lines < next_seq) AND created_at < ?3
  AND coalesce(archived_at, 0) < ?3
  AND NOT EXISTS (SELECT 1 FROM sessions AS s WHERE s.session_id = t.session_id AND s.agent_id = t.agent_id AND s.updated_at >= ?3)
  AND coalesce((SELECT ts FROM transcript_entries AS e WHERE e.tid = t.tid AND e.seq = t.next_seq - 1), 0) < ?3
  AND NOT EXISTS (SELECT 1 FROM imports AS i WHERE i.source = t.file AND i.state IN ('pending', 'partial'))
  ORDER BY tid`;

const SIZES = "SELECT seq, octet_length(line) AS bytes FROM transcript_entries WHERE tid = ? AND seq >= ? ORDER BY seq LIMIT ?";
const ROWS = "SELECT seq, entry_id AS id, parent_id AS parent, type, ts, line FROM transcript_entries WHERE tid = ? AND seq BETWEEN ? AND ? ORDER BY seq";
const INSERT = "INSERT INTO transcript_entries (tid, seq, entry_id, parent_id, type, ts, line) VALUES (?, ?, ?, ?, ?, ?, ?)";

interface EntryColumns {
  readonly seq: number;
  readonly id: string | null;
  readonly parent: string | null;
  readonly type: string;
  readonly ts: number | null;
  readonly line: string;
}

/** Compresses unused transcripts, one after the other. If interrupted, the next call continues there. */
export function createPacking({ db, sql, files, cursor, now, before }: PackingDeps): Packing {
  const total = { lines: 0, bytes: 0, packedBytes: 0 };
  const lookPace = createPace(MOST_LOOKED_AT);
  let isWriting = false;
  let failures = 0;

  /** The lines of the next pack; none when the next line stays as it is. */
  function nextRange(tid: number, from: number): { readonly last: number; readonly lines: number } | undefined {
    let bytes = 0;
    let last: number | undefined;
    let lines = 0;
    for (const row of sql(SIZES).all(tid, from, PACK_LINES)) {
      const size = Number(row["bytes"]);
      if (size > LONG_LINE_BYTES || (lines > 0 && bytes + size > PACK_BYTES)) break;
      bytes += size;
      lines += 1;
      last = Number(row["seq"]);
    }
    return last === undefined ? undefined : { last, lines };
  }

  /** Compresses the next lines in one transaction; false when none are left. */
  function packNext(tid: number): boolean {
    const row = firstRow<{ done: number; next: number }>(sql("SELECT packed_lines AS done, next_seq AS next FROM transcripts WHERE tid = ?"), tid);
    if (!row || row.done >= row.next) return false;
    const range = nextRange(tid, row.done);
    db.exec("BEGIN IMMEDIATE");
    if (range) {
      const rows = allRows<EntryColumns>(sql(ROWS), tid, row.done, range.last);
      const lines = rows.map(({ line }) => line);
      const data = packLines(lines);
      requireReader(db, PACKS_VERSION);
      sql("INSERT INTO transcript_packs (tid, first, last, data) VALUES (?, ?, ?, ?)").run(tid, row.done, range.last, data);
      // Rows that shrink in place leave their pages half empty; deleted and inserted again they are packed.
      sql("DELETE FROM transcript_entries WHERE tid = ? AND seq BETWEEN ? AND ?").run(tid, row.done, range.last);
      for (const { seq, id, parent, type, ts } of rows) sql(INSERT).run(tid, seq, id, parent, type, ts, PACKED_LINE);
      total.lines += lines.length;
      total.bytes += lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
      total.packedBytes += data.length;
    }
    sql("UPDATE transcripts SET packed_lines = ? WHERE tid = ?").run((range?.last ?? row.done) + 1, tid);
    db.exec("COMMIT");
    failpoint("transcript.packed");
    return true;
  }

  function* packOne(tid: number): Generator<void> {
    files.importLines(transcriptRow(db, tid).file);
    yield;
    while (unsynced(db, () => packNext(tid))) yield;
    isWriting = true;
    yield* files.compress(tid, (replaced) => {
      if (replaced) unsynced(db, () => sql("UPDATE transcripts SET packed_at = ? WHERE tid = ?").run(now, tid));
      else failures += 1;
    });
    isWriting = false;
  }

  function* steps(): Generator<void> {
    const end = Number(sql("SELECT max(tid) AS tid FROM transcripts").get()?.["tid"] ?? 0);
    while (cursor.tid < end) {
      const started = performance.now();
      const until = cursor.tid + lookPace.size;
      const found = sql(CANDIDATES).all(cursor.tid, until, before);
      lookPace.took(performance.now() - started);
      yield;
      for (const { tid } of found) {
        if (files.compressing() >= MOST_SYNCING) return;
        // A disk that accepts no files is left alone until the next round.
        if (failures < MOST_FAILURES) yield* packOne(Number(tid));
        cursor.tid = Number(tid);
      }
      cursor.tid = until;
    }
    cursor.tid = 0;
  }

  return {
    steps: steps(),
    canStop: () => !isWriting,
    unfinished: () => cursor.tid > 0 || files.compressing() > 0,
    report: () => (total.lines === 0 ? undefined : { ...total }),
  };
}
