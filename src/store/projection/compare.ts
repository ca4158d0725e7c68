import { readSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { expectedLine, expectedLines, type TranscriptRow } from "./rows.ts";

/** Where a file stops being what the database says. */
export type Comparison =
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
export function compare(db: DatabaseSync, transcript: TranscriptRow, fd: number, size: number, thorough: boolean): Comparison {
  if (!thorough && size >= transcript.bytes && endsMatch(db, transcript, fd)) return { kind: size === transcript.bytes ? "same" : "longer" };
  return walk(db, transcript, fd, size);
}
