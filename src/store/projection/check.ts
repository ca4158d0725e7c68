import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, readdirSync, renameSync, rmSync, writeSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { fileError, messageOf, systemCode } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { compressedName, hasCompressed, restoreFile } from "./compressed-file.ts";
import { isBlank, readLines, readTranscriptLine } from "./lines.ts";
import { resolveFile } from "./place.ts";
import { appendLines, expectedLine, expectedLines, transaction, transcriptRow, type TranscriptRow } from "./rows.ts";
import type { ProjectionDeps, RepairReport } from "./types.ts";

/** Where a file stops being what the database says. */
type Comparison =
  | { readonly kind: "same" }
  /** The file is a beginning of what it has to be; `size` bytes are right. */
  | { readonly kind: "short"; readonly size: number }
  /** The file has all it has to have, and more behind. */
  | { readonly kind: "longer" }
  /** The line at `offset` is another one than `seq`. */
  | { readonly kind: "differs"; readonly offset: number };

/** Reads up to `size` bytes; fewer only at the end of the file. */
function readAt(fd: number, position: number, size: number): Buffer {
  const buffer = Buffer.allocUnsafe(size);
  let done = 0;
  while (done < size) {
    const read = readSync(fd, buffer, done, size - done, position + done);
    if (read === 0) break;
    done += read;
  }
  return buffer.subarray(0, done);
}

/** First and last line are in their places. What lies between is not read: a file is used every time its session is, and may be large. */
function endsMatch(db: DatabaseSync, transcript: TranscriptRow, fd: number): boolean {
  const first = expectedLine(db, transcript.tid, 0);
  const last = expectedLine(db, transcript.tid, transcript.nextSeq - 1);
  if (!first || !last) return transcript.nextSeq === 0;
  return readAt(fd, 0, first.length).equals(first) && readAt(fd, transcript.bytes - last.length, last.length).equals(last);
}

/** Reads both to the first difference. */
function walk(db: DatabaseSync, transcript: TranscriptRow, fd: number, size: number): Comparison {
  let offset = 0;
  for (const { bytes } of expectedLines(db, transcript.tid)) {
    const found = readAt(fd, offset, bytes.length);
    if (found.length < bytes.length && found.equals(bytes.subarray(0, found.length))) return { kind: "short", size: offset + found.length };
    if (!found.equals(bytes)) return { kind: "differs", offset };
    offset += bytes.length;
  }
  return size > offset ? { kind: "longer" } : { kind: "same" };
}

/** `thorough` reads every byte; otherwise a file whose size, first and last line are right is taken as right. */
function compare(db: DatabaseSync, transcript: TranscriptRow, fd: number, size: number, thorough: boolean): Comparison {
  if (!thorough && size >= transcript.bytes && endsMatch(db, transcript, fd)) return { kind: size === transcript.bytes ? "same" : "longer" };
  return walk(db, transcript, fd, size);
}

const NOFOLLOW = constants.O_NOFOLLOW ?? 0;

interface Place extends ProjectionDeps {
  readonly db: DatabaseSync;
  readonly transcript: TranscriptRow;
  readonly path: string;
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}

/** Writes the lines of the database to `fd`, without the first `skip` bytes. */
function writeLines(place: Place, fd: number, skip: number): void {
  let offset = 0;
  for (const { bytes } of expectedLines(place.db, place.transcript.tid)) {
    const end = offset + bytes.length;
    if (end > skip) writeAll(fd, bytes.subarray(Math.max(0, skip - offset)));
    offset = end;
  }
}

/** A name beside `path` that nothing has. */
function freeName(path: string, label: string, deps: ProjectionDeps): string {
  for (let ms = deps.now(); ; ms += 1) {
    const name = `${path}.${label}-${deps.pid}-${ms}`;
    if (!look(name)) return name;
  }
}

/** What a process left that died while it wrote a file anew. */
function removeRemains(path: string): void {
  const begin = `${basename(path)}.tmp-`;
  for (const name of readdirSync(dirname(path))) if (name.startsWith(begin)) rmSync(join(dirname(path), name), { force: true });
}

/** Writes the file anew, under another name first. What stood in its place is kept as `.bak-<pid>-<ms>`. */
function rewrite(place: Place): string | undefined {
  removeRemains(place.path);
  const fresh = freeName(place.path, "tmp", place);
  const fd = openSync(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NOFOLLOW, 0o600);
  try {
    writeLines(place, fd, 0);
  } finally {
    closeSync(fd);
  }
  failpoint("projection.repair.written");
  let kept: string | undefined;
  if (look(place.path)) renameSync(place.path, (kept = freeName(place.path, "bak", place)));
  renameSync(fresh, place.path);
  return kept && `${dirname(place.transcript.file)}/${basename(kept)}`;
}

function report(place: Place, over: Omit<RepairReport, "file" | "adopted"> & { readonly adopted?: number }): RepairReport {
  return { file: place.transcript.file, adopted: 0, ...over };
}

function rewritten(place: Place, adopted = 0): RepairReport {
  const kept = rewrite(place);
  return report(place, { action: "rewritten", adopted, ...(kept === undefined ? {} : { kept }) });
}

/** Takes what stands behind the known lines into the database. The file is kept as it is when every byte of it was taken. */
function adoptTail(place: Place, fd: number): RepairReport {
  let exact = true;
  let openEnd = false;
  const added = transaction(place.db, () => {
    const lines = appendLines(place.db, place.transcript);
    for (const line of readLines(fd, place.transcript.bytes)) {
      const read = line.tooLong ? undefined : readTranscriptLine(line.bytes);
      if (read) lines.add(read.text, read.parsed);
      exact &&= read?.exact === true;
      openEnd = !line.terminated;
    }
    lines.finish(true);
    return lines.added;
  });
  if (!exact) return rewritten(place, added);
  if (openEnd) {
    const end = openSync(place.path, constants.O_WRONLY | constants.O_APPEND | NOFOLLOW);
    try {
      writeAll(end, Buffer.from("\n"));
    } finally {
      closeSync(end);
    }
  }
  return report(place, { action: "adopted", adopted: added });
}

/** True when the file's first line is a header of the same session: only then its other lines belong here. */
function sameSession(place: Place, fd: number): boolean {
  for (const line of readLines(fd)) {
    if (isBlank(line.bytes) && !line.tooLong) continue;
    const read = readTranscriptLine(line.bytes);
    return read?.parsed.kind === "header" && read.parsed.header.id === place.transcript.sessionId;
  }
  return false;
}

/**
 * The file went another way than the database. Entries that the database does not have are taken as a branch; the conversation goes on
 * where the database says, and the old file is kept for whatever could not be taken.
 */
function mergeBranch(place: Place, fd: number, offset: number): RepairReport {
  if (!sameSession(place, fd)) return rewritten(place);
  const added = transaction(place.db, () => {
    const lines = appendLines(place.db, place.transcript);
    for (const line of readLines(fd, offset)) {
      const read = line.tooLong ? undefined : readTranscriptLine(line.bytes);
      if (read?.parsed.kind !== "entry") continue;
      const { id } = read.parsed.entry;
      if (typeof id === "string" && !lines.knows(id)) lines.add(read.text, read.parsed);
    }
    lines.finish(false);
    return lines.added;
  });
  return rewritten(place, added);
}

function complete(place: Place, size: number): RepairReport {
  const fd = openSync(place.path, constants.O_WRONLY | constants.O_APPEND | NOFOLLOW);
  try {
    writeLines(place, fd, size);
  } finally {
    closeSync(fd);
  }
  return report(place, { action: "completed" });
}

/**
 * A transcript that is used again gets its file back. It is made from the compressed one, not from the database: the comparison that follows then takes
 * in whatever only the file holds. A damaged one is set aside, and the database has all that is needed.
 */
function restore(place: Place): void {
  try {
    restoreFile(place.path, place.transcript.bytes);
  } catch (error) {
    const kept = freeName(compressedName(place.path), "bak", place);
    renameSync(compressedName(place.path), kept);
    place.log("a compressed transcript file could not be read and was set aside", {
      file: place.transcript.file,
      kept: basename(kept),
      problem: messageOf(error),
    });
  }
}

/** Ends the compressed form: from here on the file changes and it would not. */
function dropCompressed(place: Place): void {
  place.db.prepare("UPDATE transcripts SET packed_at = NULL WHERE tid = ?").run(place.transcript.tid);
  rmSync(compressedName(place.path), { force: true });
}

function checkFile(place: Place, { thorough, writing }: CheckOptions): RepairReport {
  const isCompressed = hasCompressed(place.path);
  if (isCompressed && !look(place.path)) {
    if (!writing) return report(place, { action: "compressed" });
    restore(place);
  }
  const checked = checkPlain(place, thorough);
  if (isCompressed && writing) dropCompressed(place);
  return checked;
}

function checkPlain(place: Place, thorough: boolean): RepairReport {
  const found = look(place.path);
  if (!found) {
    rewrite(place);
    return report(place, { action: "created" });
  }
  // A link may lead anywhere, a folder or a socket is no transcript: they are moved out of the way and never opened.
  if (!found.isFile()) return rewritten(place);
  const fd = openSync(place.path, constants.O_RDONLY | NOFOLLOW);
  try {
    const { size } = fstatSync(fd);
    const comparison = compare(place.db, place.transcript, fd, size, thorough);
    if (comparison.kind === "same") return report(place, { action: "ok" });
    if (comparison.kind === "short") return complete(place, comparison.size);
    if (comparison.kind === "longer") return adoptTail(place, fd);
    return mergeBranch(place, fd, comparison.offset);
  } finally {
    closeSync(fd);
  }
}

export interface CheckOptions {
  /** Every byte is compared. */
  readonly thorough: boolean;
  /** The transcript is about to change: a compressed file is made readable first. Otherwise it is left as it is. */
  readonly writing: boolean;
}

/** Compares one transcript with its file and makes them agree. A failing disk gives a report, a failing database throws. */
export function checkTranscript(db: DatabaseSync, tid: number, deps: ProjectionDeps, options: CheckOptions): RepairReport {
  const transcript = transcriptRow(db, tid);
  try {
    const path = resolveFile(deps.stateDir, transcript.file);
    return checkFile({ ...deps, db, transcript, path }, options);
  } catch (error) {
    if (systemCode(error) === "ERR_SQLITE_ERROR") throw error;
    const problem = messageOf(fileError(join(deps.stateDir, transcript.file), "could not bring the transcript file up to date", error));
    return { file: transcript.file, action: "failed", adopted: 0, problem };
  }
}
