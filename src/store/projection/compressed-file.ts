import { closeSync, constants, fsync, lstatSync, openSync, readFileSync, renameSync, rmSync, unlinkSync, writeSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { failpoint } from "../../base/failpoints.ts";
import { compress, uncompress } from "./packs.ts";
import type { TranscriptRow } from "./rows.ts";
import { firstRow } from "../rows.ts";
import { type Pack } from "./packs.ts";

const NOFOLLOW = constants.O_NOFOLLOW ?? 0;
/** Bytes compressed at a time: some milliseconds. */
const SLICE_BYTES = 128 * 1024;
/** A compressed file is restored only when its content is at most this, or twice the expected size. */
const LEAST_LIMIT = 1024 * 1024 * 1024;

/** The name of a transcript's compressed file: `gunzip` restores the transcript's own. */
export const compressedName = (file: string): string => `${file}.gz`;

/** True when a compressed file exists. Links are not followed. */
export function hasCompressed(path: string): boolean {
  return lstatSync(compressedName(path), { throwIfNoEntry: false })?.isFile() === true;
}

/** Renames a transcript's file and its compressed one, if they exist. Throws `ENOENT` when the plain file is missing. */
export function renameFiles(from: string, to: string): void {
  if (hasCompressed(from)) renameSync(compressedName(from), compressedName(to));
  renameSync(from, to);
}

/** Removes both; throws as `renameFiles` does. */
export function removeFiles(path: string): void {
  if (hasCompressed(path)) unlinkSync(compressedName(path));
  unlinkSync(path);
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}

/** Opens a temporary file beside `path`. One left by a process that died is overwritten. */
function openTemporary(path: string): { readonly path: string; readonly fd: number } {
  const temporary = `${path}.tmp`;
  return { path: temporary, fd: openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | NOFOLLOW, 0o600) };
}

/** The gzip members of a transcript in order. Lines that are not in a pack are compressed here, a slice at a time. */
function* members(db: DatabaseSync, { tid, nextSeq }: TranscriptRow): Generator<Uint8Array> {
  const pack = db.prepare("SELECT first, last, data FROM transcript_packs WHERE tid = ? AND first >= ? ORDER BY first LIMIT 1");
  const line = db.prepare("SELECT line FROM transcript_entries WHERE tid = ? AND seq = ?");
  for (let seq = 0; seq < nextSeq;) {
    const next = firstRow<Pack>(pack, tid, seq);
    if (next?.first === seq) {
      yield next.data;
      seq = next.last + 1;
      continue;
    }
    const bytes = Buffer.from(`${String(line.get(tid, seq)?.["line"] ?? "")}\n`);
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield compress(bytes.subarray(at, at + SLICE_BYTES));
    seq += 1;
  }
}

/** A compressed file that is written but not yet renamed. */
export interface WrittenFile {
  /** Syncs it in the thread pool, then calls back in this thread. */
  sync(done: (error: Error | null) => void): void;
  /** Renames it to its final name. */
  publish(): void;
  discard(): void;
}

/** Writes the compressed file of a transcript under a temporary name, a few milliseconds at a time. */
export function* writeCompressed(db: DatabaseSync, transcript: TranscriptRow, path: string): Generator<void, WrittenFile> {
  const target = compressedName(path);
  const temporary = openTemporary(target);
  let isWritten = false;
  try {
    for (const member of members(db, transcript)) {
      writeAll(temporary.fd, member);
      yield;
    }
    isWritten = true;
  } finally {
    if (!isWritten) {
      closeSync(temporary.fd);
      rmSync(temporary.path, { force: true });
    }
  }
  failpoint("transcript.compressed");
  return {
    sync: (done) =>
      fsync(temporary.fd, (error) => {
        closeSync(temporary.fd);
        done(error);
      }),
    publish: () => renameSync(temporary.path, target),
    discard: () => rmSync(temporary.path, { force: true }),
  };
}

/**
 * Restores a transcript file from its compressed one, which stays. `expected` is its size. Throws when the compressed file is damaged or far
 * too large.
 */
export function restoreFile(path: string, expected: number): void {
  const content = uncompress(readFileSync(compressedName(path)), Math.max(2 * expected, LEAST_LIMIT));
  const temporary = openTemporary(path);
  try {
    writeAll(temporary.fd, content);
  } finally {
    closeSync(temporary.fd);
  }
  renameSync(temporary.path, path);
}
