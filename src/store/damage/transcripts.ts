import { closeSync, constants, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { parseTranscriptLine } from "../../protocol/index.ts";
import { createLineReader, createProjection, PACKED_LINE } from "../projection/index.ts";
import { hasCompressed, restoreFile } from "../projection/compressed-file.ts";
import { readLines, readTranscriptLine, type ReadLine } from "../projection/lines.ts";
import { isPathId, isTranscriptFile, transcriptFile } from "../projection/transcript-path.ts";
import { expectedLine, expectedLines } from "../projection/rows.ts";
import { sessionFolders } from "../import/sources.ts";
import type { SalvageOptions } from "./types.ts";
import type { Row } from "./reader.ts";

interface Found {
  readonly tid: number;
  readonly file: string;
}

/** A half-imported file is imported again from its start: half of it in the database would be taken for all of it. */
function dropHalfImported(db: DatabaseSync): void {
  for (const row of db.prepare("SELECT source, json_extract(detail, '$.tid') AS tid FROM imports WHERE state = 'partial'").all()) {
    db.prepare("DELETE FROM transcript_entries WHERE tid = ?").run(row["tid"] ?? null);
    db.prepare("DELETE FROM transcript_packs WHERE tid = ?").run(row["tid"] ?? null);
    db.prepare("DELETE FROM transcripts WHERE tid = ?").run(row["tid"] ?? null);
    db.prepare("DELETE FROM imports WHERE source = ?").run(row["source"] ?? null);
  }
}

/** Lines whose compressed block is lost are lost in the database, too. */
function dropUnpackable(db: DatabaseSync): void {
  db.prepare(
    `DELETE FROM transcript_entries AS e WHERE line = ? AND NOT EXISTS (SELECT 1 FROM transcript_packs AS p WHERE p.tid = e.tid AND e.seq BETWEEN p.first AND p.last)`,
  ).run(PACKED_LINE);
}

/** Stores the lines of a transcript uncompressed: their positions are about to change. */
function unpack(db: DatabaseSync, tid: number): void {
  const put = db.prepare("UPDATE transcript_entries SET line = ? WHERE tid = ? AND seq = ?");
  const lines = createLineReader((text) => db.prepare(text));
  const packed = db.prepare("SELECT seq FROM transcript_entries WHERE tid = ? AND line = ? ORDER BY seq").all(tid, PACKED_LINE);
  for (const { seq } of packed) put.run(lines.read(tid, Number(seq), PACKED_LINE), tid, Number(seq));
  db.prepare("DELETE FROM transcript_packs WHERE tid = ?").run(tid);
  db.prepare("UPDATE transcripts SET packed_lines = 0, packed_at = NULL WHERE tid = ?").run(tid);
}

/** Entries without a transcript row get a new one: the header names the session, the file the agent. */
function adoptOrphans(db: DatabaseSync, options: SalvageOptions): void {
  const orphans = db.prepare("SELECT DISTINCT tid FROM transcript_entries WHERE tid NOT IN (SELECT tid FROM transcripts)").all();
  for (const row of orphans) {
    const tid = Number(row["tid"]);
    const parsed = parseTranscriptLine(expectedLine(db, tid, 0)?.toString("utf8").trim() ?? "");
    const sessionId = parsed?.kind === "header" && isPathId(parsed.header.id) ? parsed.header.id : `recovered-${tid}`;
    const known = db.prepare("SELECT agent_id FROM sessions WHERE session_id = ?").get(sessionId);
    const folders = sessionFolders(options.stateDir).filter((folder) => !folder.legacy);
    const agentId = folders.find(({ path }) => existsSync(join(path, `${sessionId}.jsonl`)))?.agentId ?? String(known?.["agent_id"] ?? "main");
    const standard = transcriptFile(agentId, sessionId);
    const taken = db.prepare("SELECT 1 FROM transcripts WHERE file = ?").get(standard) !== undefined;
    const file = taken ? transcriptFile(agentId, `${sessionId.slice(0, 100)}-recovered-${tid}`) : standard;
    db.prepare("INSERT INTO transcripts (tid, agent_id, session_id, file, next_seq, bytes, created_at) VALUES (?, ?, ?, ?, 0, 0, ?)").run(
      tid,
      agentId,
      sessionId,
      file,
      options.now(),
    );
  }
}

/** Whether the file's line is the same entry as the one in the database, which may be damaged without showing it. */
function isSameEntry(read: ReadLine | undefined, known: Row): boolean {
  const id = read?.parsed.kind === "entry" ? read.parsed.entry.id : undefined;
  return read !== undefined && (id === undefined ? read.parsed.kind === "header" && known["type"] === "session" : id === known["entry_id"]);
}

/**
 * Line n of the file is entry n of the database. Fills the gaps from the file and prefers its text: the file was not damaged with the
 * database. If they diverge, the database wins, and the check that follows imports what only the file has.
 */
function fillFromFile(db: DatabaseSync, { tid, file }: Found, options: SalvageOptions): number {
  let fd: number;
  try {
    const path = join(options.stateDir, file);
    if (!existsSync(path) && hasCompressed(path)) restoreFile(path, 0);
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return 0;
  }
  db.exec("SAVEPOINT fill");
  try {
    const filled = fill(db, tid, fd);
    if (filled === undefined) db.exec("ROLLBACK TO fill");
    return filled ?? 0;
  } finally {
    db.exec("RELEASE fill");
    closeSync(fd);
  }
}

/** Undefined when file and database are not the same transcript. */
function fill(db: DatabaseSync, tid: number, fd: number): number | undefined {
  const at = db.prepare("SELECT entry_id, type, line FROM transcript_entries WHERE tid = ? AND seq = ?");
  const lines = createLineReader((text) => db.prepare(text));
  const put = db.prepare("INSERT OR REPLACE INTO transcript_entries (tid, seq, entry_id, parent_id, type, ts, line) VALUES (?, ?, ?, ?, ?, ?, ?)");
  let filled = 0;
  let seq = 0;
  for (const line of readLines(fd)) {
    const read = line.tooLong ? undefined : readTranscriptLine(line.bytes);
    const stored = at.get(tid, seq);
    const known = stored && { ...stored, line: lines.read(tid, seq, stored["line"]) };
    if (known && read?.text !== known["line"] && !isSameEntry(read, known)) return undefined;
    if (!read) return filled;
    if (read.text !== known?.["line"]) {
      const { parsed } = read;
      const entry = parsed.kind === "entry" ? parsed.entry : parsed.header;
      const [id, parent] = parsed.kind === "entry" ? [parsed.entry.id ?? null, parsed.entry.parentId ?? null] : [null, null];
      const time = Date.parse(entry.timestamp ?? "");
      put.run(tid, seq, id, parent, entry.type, Number.isNaN(time) ? null : time, read.text);
      filled += 1;
    }
    seq += 1;
  }
  return filled;
}

/** Closes the remaining gaps and updates the totals. */
function settle(db: DatabaseSync, { tid }: Found): void {
  const move = db.prepare("UPDATE transcript_entries SET seq = ? WHERE tid = ? AND seq = ?");
  const rows = db.prepare("SELECT seq FROM transcript_entries WHERE tid = ? ORDER BY seq").all(tid);
  if (rows.some((row, to) => Number(row["seq"]) !== to)) unpack(db, tid);
  for (const [to, row] of rows.entries()) if (Number(row["seq"]) !== to) move.run(to, tid, Number(row["seq"]));
  let bytes = 0;
  for (const line of expectedLines(db, tid)) bytes += line.bytes.length;
  const last = db.prepare("SELECT entry_id FROM transcript_entries WHERE tid = ? AND entry_id IS NOT NULL ORDER BY seq DESC LIMIT 1").get(tid);
  db.prepare(
    `UPDATE transcripts SET next_seq = ?, bytes = ?,
       leaf_id = CASE WHEN leaf_id IS NULL OR leaf_id NOT IN (SELECT entry_id FROM transcript_entries e WHERE e.tid = transcripts.tid AND entry_id IS NOT NULL) THEN ? ELSE leaf_id END
     WHERE tid = ?`,
  ).run(rows.length, bytes, last?.["entry_id"] ?? null, tid);
}

/** Completes every transcript from what was read and from its file. Returns the number of lines that came from files. */
export function completeTranscripts(db: DatabaseSync, options: SalvageOptions): number {
  dropHalfImported(db);
  dropUnpackable(db);
  adoptOrphans(db, options);
  const projection = createProjection({ stateDir: options.stateDir, pid: process.pid, now: options.now, log: () => {} });
  let lines = 0;
  const all: Found[] = db
    .prepare("SELECT tid, file FROM transcripts")
    .all()
    .map((row) => ({ tid: Number(row["tid"]), file: String(row["file"]) }));
  for (const found of all) {
    if (!isTranscriptFile(found.file)) continue;
    lines += fillFromFile(db, found, options);
    settle(db, found);
    lines += projection.check(db, found.tid, { thorough: true }).adopted;
  }
  projection.close();
  return lines;
}
