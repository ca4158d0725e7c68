import { closeSync, constants, existsSync, fstatSync, openSync, type Stats } from "node:fs";
import { basename } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { AppError } from "../../base/errors.ts";
import { hasCompressed, restoreFile } from "../projection/compressed-file.ts";
import { isBlank, readLines, readTranscriptLine, type FileLine } from "../projection/lines.ts";
import { isPathId } from "../projection/transcript-path.ts";
import { appendLines, transaction, transcriptRow, type LineAppender } from "../projection/rows.ts";
import { progressOf, recordProgress } from "./progress.ts";
import { parseTranscriptLine, type TranscriptLine } from "../../protocol/index.ts";
import { isRecord } from "../../base/records.ts";

/** The current format. */
const CURRENT_VERSION = 3;

interface UpgradedLine {
  readonly text: string;
  readonly parsed: TranscriptLine;
}

/** A line that this program has written. */
function written(text: string): UpgradedLine {
  const parsed = parseTranscriptLine(text);
  if (!parsed) throw new AppError("INTERNAL", "expected a line of a transcript after its upgrade");
  return { text, parsed };
}

/** Ids of entries that have none: derived from their position, so that another run gives the same ones. */
const idAt = (seq: number): string => seq.toString(16).padStart(8, "0");

function upgradeMessage(entry: Record<string, unknown>): void {
  const { message } = entry;
  if (isRecord(message) && message["role"] === "hookMessage") entry["message"] = { ...message, role: "custom" };
}

/** Format 1 was a list without ids; each entry's parent is the one before it, and a compaction counted lines. */
function addTree(entry: Record<string, unknown>, seq: number, lastId: string | undefined): void {
  entry["id"] ??= idAt(seq);
  if (entry["parentId"] === undefined) entry["parentId"] = lastId ?? null;
  const kept = entry["firstKeptEntryIndex"];
  if (typeof kept === "number") {
    delete entry["firstKeptEntryIndex"];
    if (kept > 0) entry["firstKeptEntryId"] ??= idAt(kept);
  }
}

/**
 * Upgrades a line of an older format; a current line passes unchanged, byte for byte. `seq` is its position,
 * `lastId` the id of the entry before it.
 */
function upgradeLine(line: UpgradedLine, version: number, seq: number, lastId: string | undefined): UpgradedLine {
  if (version >= CURRENT_VERSION) return line;
  if (line.parsed.kind === "header") {
    const text = JSON.stringify({ ...line.parsed.header, version: CURRENT_VERSION });
    return written(text);
  }
  const entry: Record<string, unknown> = { ...line.parsed.entry };
  if (version < 2) addTree(entry, seq, lastId);
  upgradeMessage(entry);
  const text = JSON.stringify(entry);
  return written(text);
}

/** The format of a file, from its first line. */
function versionOf(first: TranscriptLine): number {
  if (first.kind === "entry") return typeof first.entry.id === "string" ? CURRENT_VERSION : 1;
  return typeof first.header.version === "number" ? first.header.version : 1;
}

/** The header for a file without one. */
function madeUpHeader(sessionId: string, at: number): UpgradedLine {
  const text = JSON.stringify({ type: "session", version: CURRENT_VERSION, id: sessionId, timestamp: new Date(at).toISOString(), cwd: "" });
  return written(text);
}

/** One transcript file that is not in the database yet. */
export interface TranscriptSource {
  readonly path: string;
  /** Its name in the `imports` table. */
  readonly source: string;
  /** Where it is projected to from now on, relative to the state folder. */
  readonly file: string;
  readonly agentId: string;
  /** Known from an index; otherwise taken from the header or the file name. */
  readonly sessionId?: string | undefined;
  readonly now: () => number;
  readonly chunkBytes: number;
}

export interface TranscriptChunk {
  readonly rows: number;
  readonly done: boolean;
  /** Reported once, with the last chunk. */
  readonly problems: readonly string[];
}

/** State for the next chunk; stored in `imports.detail`. */
interface Resume {
  readonly tid: number;
  readonly file: string;
  offset: number;
  version: number;
  lastId?: string | undefined;
  /** Lines that are not JSON objects of a transcript. They stay in the file only. */
  unreadable: number;
  torn: boolean;
  headerMade: boolean;
}

function nameToSession(path: string): string {
  return basename(path, ".jsonl").replace(/-topic-.*$/, "");
}

/** The first line with content. */
function firstLine(fd: number): UpgradedLine | undefined {
  for (const line of readLines(fd)) {
    const read = line.tooLong ? undefined : readTranscriptLine(line.bytes);
    if (read) return read;
  }
  return undefined;
}

function begin(db: DatabaseSync, source: TranscriptSource, fd: number, stat: Stats): Resume {
  const first = firstLine(fd);
  const header = first?.parsed.kind === "header" ? first.parsed.header : undefined;
  const named = [source.sessionId, header?.id, nameToSession(source.path)].find((id) => id !== undefined && isPathId(id));
  const started = Date.parse(header?.timestamp ?? "");
  const createdAt = Number.isNaN(started) ? Math.trunc(stat.mtimeMs) : started;
  const { lastInsertRowid } = db
    .prepare("INSERT INTO transcripts (agent_id, session_id, file, next_seq, bytes, leaf_id, created_at) VALUES (?, ?, ?, 0, 0, NULL, ?)")
    .run(source.agentId, named ?? "unknown", source.file, createdAt);
  const resume: Resume = {
    tid: Number(lastInsertRowid),
    file: source.file,
    offset: 0,
    version: first ? versionOf(first.parsed) : 3,
    unreadable: 0,
    torn: false,
    headerMade: first !== undefined && !header,
  };
  if (resume.headerMade) {
    const lines = appendLines(db, transcriptRow(db, resume.tid));
    const made = madeUpHeader(named ?? "unknown", createdAt);
    lines.add(made.text, made.parsed);
    lines.finish(true);
  }
  return resume;
}

function takeLine(lines: LineAppender, line: FileLine, resume: Resume): void {
  const read = line.tooLong ? undefined : readTranscriptLine(line.bytes);
  if (read) {
    const { text, parsed } = upgradeLine(read, resume.version, lines.nextSeq, resume.lastId);
    lines.add(text, parsed);
    if (parsed.kind === "entry" && typeof parsed.entry.id === "string") resume.lastId = parsed.entry.id;
    return;
  }
  if (line.tooLong || !isBlank(line.bytes)) {
    if (line.terminated) resume.unreadable += 1;
    else resume.torn = true;
  }
}

function problemsOf(resume: Resume): string[] {
  return [
    ...(resume.unreadable > 0
      ? [`${resume.unreadable} lines are not transcript entries; they stay in the file as it is now, kept as .bak when the session is used`]
      : []),
    ...(resume.torn ? ["the last line is incomplete and was left out"] : []),
    ...(resume.headerMade ? ["the file has no header; one was added"] : []),
    ...(resume.version < 3 ? [`format ${resume.version} was brought to format 3`] : []),
  ];
}

/** Imports the next chunk of a file, in one transaction. */
export function importChunk(db: DatabaseSync, source: TranscriptSource): TranscriptChunk {
  if (!existsSync(source.path) && hasCompressed(source.path)) restoreFile(source.path, 0);
  const fd = openSync(source.path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new AppError("INVALID_INPUT", "expected a file");
    return transaction(db, () => {
      const progress = progressOf<Resume>(db, source.source);
      const resume = progress?.state === "partial" ? progress.detail : begin(db, source, fd, stat);
      const row = transcriptRow(db, resume.tid);
      const lines = appendLines(db, row);
      const end = resume.offset + source.chunkBytes;
      let done = true;
      for (const line of readLines(fd, resume.offset)) {
        takeLine(lines, line, resume);
        resume.offset = line.end;
        if (line.end >= end && line.terminated) {
          done = line.end >= stat.size;
          break;
        }
      }
      lines.finish(true);
      recordProgress(db, source.source, stat, { state: done ? "done" : "partial", detail: { ...resume } }, source.now());
      return { rows: lines.added, done, problems: done ? problemsOf(resume) : [] };
    });
  } finally {
    closeSync(fd);
  }
}
