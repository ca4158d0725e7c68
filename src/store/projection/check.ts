import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, readdirSync, renameSync, rmSync, writeSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { fileError, messageOf, systemCode } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { compressedName, hasCompressed, restoreFile } from "./compressed-file.ts";
import { readLines, readTranscriptLine } from "./lines.ts";
import { mergeEntries, type Divergence } from "./merge.ts";
import { resolveFile } from "./transcript-path.ts";
import { appendLines, expectedLine, expectedLines, transaction, transcriptRow, type TranscriptRow } from "./rows.ts";
import type { ProjectionDeps, RepairReport } from "./types.ts";

/** Where a file stops matching the database. */
type Comparison =
  | { readonly kind: "same" }
  /** The file is a prefix of what it should be; `size` bytes are right. */
  | { readonly kind: "short"; readonly size: number }
  /** The file is complete, with extra data after it. */
  | { readonly kind: "longer" }
  | ({ readonly kind: "differs" } & Divergence);

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

/** Checks the first and last line. The rest is not read: a file is checked every time its session is used, and may be large. */
function endsMatch(db: DatabaseSync, transcript: TranscriptRow, fd: number): boolean {
  const first = expectedLine(db, transcript.tid, 0);
  const last = expectedLine(db, transcript.tid, transcript.nextSeq - 1);
  if (!first || !last) return transcript.nextSeq === 0;
  return readAt(fd, 0, first.length).equals(first) && readAt(fd, transcript.bytes - last.length, last.length).equals(last);
}

/** Reads both to the first difference. */
function walk(db: DatabaseSync, transcript: TranscriptRow, fd: number, size: number): Comparison {
  let offset = 0;
  for (const { seq, bytes } of expectedLines(db, transcript.tid)) {
    const found = readAt(fd, offset, bytes.length);
    if (found.length < bytes.length && found.equals(bytes.subarray(0, found.length))) return { kind: "short", size: offset + found.length };
    if (!found.equals(bytes)) return { kind: "differs", offset, seq };
    offset += bytes.length;
  }
  return size > offset ? { kind: "longer" } : { kind: "same" };
}

/** `thorough` compares every byte; otherwise a file whose size, first and last line match is considered right. */
function compare(db: DatabaseSync, transcript: TranscriptRow, fd: number, size: number, thorough: boolean): Comparison {
  if (!thorough && size >= transcript.bytes && endsMatch(db, transcript, fd)) return { kind: size === transcript.bytes ? "same" : "longer" };
  return walk(db, transcript, fd, size);
}

const NOFOLLOW = constants.O_NOFOLLOW ?? 0;

interface Target extends ProjectionDeps {
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
function writeLines(target: Target, fd: number, skip: number): void {
  let offset = 0;
  for (const { bytes } of expectedLines(target.db, target.transcript.tid)) {
    const end = offset + bytes.length;
    if (end > skip) writeAll(fd, bytes.subarray(Math.max(0, skip - offset)));
    offset = end;
  }
}

/** An unused name beside `path`. */
function freeName(path: string, label: string, deps: ProjectionDeps): string {
  for (let ms = deps.now(); ; ms += 1) {
    const name = `${path}.${label}-${deps.pid}-${ms}`;
    if (!look(name)) return name;
  }
}

/** Removes the temporary file of a process that died while rewriting a file. */
function removeTemporary(path: string): void {
  const begin = `${basename(path)}.tmp-`;
  for (const name of readdirSync(dirname(path))) if (name.startsWith(begin)) rmSync(join(dirname(path), name), { force: true });
}

/** Rewrites the file, through a temporary name. The old content is preserved as `.bak-<pid>-<ms>`. */
function rewrite(target: Target): string | undefined {
  removeTemporary(target.path);
  const fresh = freeName(target.path, "tmp", target);
  const fd = openSync(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NOFOLLOW, 0o600);
  try {
    writeLines(target, fd, 0);
  } finally {
    closeSync(fd);
  }
  failpoint("projection.repair.written");
  let kept: string | undefined;
  if (look(target.path)) renameSync(target.path, (kept = freeName(target.path, "bak", target)));
  renameSync(fresh, target.path);
  return kept && `${dirname(target.transcript.file)}/${basename(kept)}`;
}

function report(target: Target, over: Omit<RepairReport, "file" | "adopted"> & { readonly adopted?: number }): RepairReport {
  return { file: target.transcript.file, adopted: 0, ...over };
}

function rewritten(target: Target, adopted = 0): RepairReport {
  const kept = rewrite(target);
  return report(target, { action: "rewritten", adopted, ...(kept === undefined ? {} : { kept }) });
}

/** Imports the lines after the known ones. The file stays as it is when every byte of it was imported. */
function adoptTail(target: Target, fd: number): RepairReport {
  let exact = true;
  let openEnd = false;
  const added = transaction(target.db, () => {
    const lines = appendLines(target.db, target.transcript);
    for (const line of readLines(fd, target.transcript.bytes)) {
      const read = line.tooLong ? undefined : readTranscriptLine(line.bytes);
      if (read) lines.add(read.text, read.parsed);
      exact &&= read?.exact === true;
      openEnd = !line.terminated;
    }
    lines.finish(true);
    return lines.added;
  });
  if (!exact) return rewritten(target, added);
  if (openEnd) {
    const end = openSync(target.path, constants.O_WRONLY | constants.O_APPEND | NOFOLLOW);
    try {
      writeAll(end, Buffer.from("\n"));
    } finally {
      closeSync(end);
    }
  }
  return report(target, { action: "adopted", adopted: added });
}

/**
 * The file diverged from the database. Entries that only the file has are imported; the old file is preserved in case something could not be.
 */
function merge(target: Target, fd: number, divergence: Divergence): RepairReport {
  const { added, apart } = mergeEntries({ db: target.db, transcript: target.transcript, fd, ...divergence });
  return { ...rewritten(target, added), ...(apart === 0 ? {} : { apart }) };
}

function complete(target: Target, size: number): RepairReport {
  const fd = openSync(target.path, constants.O_WRONLY | constants.O_APPEND | NOFOLLOW);
  try {
    writeLines(target, fd, size);
  } finally {
    closeSync(fd);
  }
  return report(target, { action: "completed" });
}

/**
 * Restores the file of a transcript that is used again. It is made from the compressed one, not from the database: the comparison that follows then
 * imports anything that only the file has. A damaged one is set aside; the database has everything needed.
 */
function restore(target: Target): void {
  try {
    restoreFile(target.path, target.transcript.bytes);
  } catch (error) {
    const kept = freeName(compressedName(target.path), "bak", target);
    renameSync(compressedName(target.path), kept);
    target.log("a compressed transcript file could not be read and was moved aside", {
      file: target.transcript.file,
      kept: basename(kept),
      problem: messageOf(error),
    });
  }
}

/** Removes the compressed file: from here on the plain file changes and it would not. */
function dropCompressed(target: Target): void {
  target.db.prepare("UPDATE transcripts SET packed_at = NULL WHERE tid = ?").run(target.transcript.tid);
  rmSync(compressedName(target.path), { force: true });
}

function checkFile(target: Target, { thorough, writing }: CheckOptions): RepairReport {
  const isCompressed = hasCompressed(target.path);
  if (isCompressed && !look(target.path)) {
    if (!writing) return report(target, { action: "compressed" });
    restore(target);
  }
  const checked = checkPlain(target, thorough);
  if (isCompressed && writing) dropCompressed(target);
  return checked;
}

function checkPlain(target: Target, thorough: boolean): RepairReport {
  const found = look(target.path);
  if (!found) {
    rewrite(target);
    return report(target, { action: "created" });
  }
  // A link may point anywhere, and a folder or a socket is not a transcript: they are moved out of the way and never opened.
  if (!found.isFile()) return rewritten(target);
  const fd = openSync(target.path, constants.O_RDONLY | NOFOLLOW);
  try {
    const { size } = fstatSync(fd);
    const comparison = compare(target.db, target.transcript, fd, size, thorough);
    if (comparison.kind === "same") return report(target, { action: "ok" });
    if (comparison.kind === "short") return complete(target, comparison.size);
    if (comparison.kind === "longer") return adoptTail(target, fd);
    return merge(target, fd, comparison);
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

/** Compares one transcript with its file and reconciles them. A disk error gives a report, a database error throws. */
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
