import { readSync } from "node:fs";
import { parseTranscriptLine, type TranscriptLine } from "../../protocol/index.ts";

/** A line of a file, without its end. */
export interface FileLine {
  /** Position of its first byte. */
  readonly offset: number;
  /** Position after it and its `\n`. */
  readonly end: number;
  /** Empty when the line is longer than the limit: it is skipped, never loaded. */
  readonly bytes: Buffer;
  /** False for a last line without `\n`. */
  readonly terminated: boolean;
  readonly tooLong: boolean;
}

const CHUNK = 256 * 1024;
/** A longer line is not a transcript entry: the longest documented one holds a few images. */
const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** Reads lines from an open file, a chunk at a time. At most one line is in memory. */
export function* readLines(fd: number, from = 0, maxLine = MAX_LINE_BYTES): Generator<FileLine> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let offset = from;
  let position = from;
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK);
    const size = readSync(fd, chunk, 0, CHUNK, position);
    if (size === 0) break;
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1 && end < size; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end);
      const length = heldBytes + piece.length;
      const tooLong = length > maxLine;
      const bytes = tooLong ? Buffer.alloc(0) : held.length === 0 ? piece : Buffer.concat([...held, piece]);
      start = end + 1;
      yield { offset, end: position + start, bytes, terminated: true, tooLong };
      offset = position + start;
      held = [];
      heldBytes = 0;
    }
    const rest = chunk.subarray(start, size);
    heldBytes += rest.length;
    if (heldBytes > maxLine) held = [];
    else if (rest.length > 0) held.push(rest);
    position += size;
  }
  if (heldBytes > 0) yield { offset, end: position, bytes: Buffer.concat(held), terminated: false, tooLong: heldBytes > maxLine };
}

/** A parsed line: its text, its value, and whether writing the text gives the same bytes again. */
export interface ReadLine {
  readonly text: string;
  readonly parsed: TranscriptLine;
  readonly exact: boolean;
}

/** Undefined when the bytes are not a line of a transcript. A byte order mark and blanks around the JSON are ignored. */
export function readTranscriptLine(bytes: Buffer): ReadLine | undefined {
  const raw = bytes.toString("utf8");
  const text = raw.replace(/^\uFEFF/, "").trim();
  const parsed = parseTranscriptLine(text);
  if (!parsed) return undefined;
  return { text, parsed, exact: text.length === raw.length && Buffer.byteLength(text) === bytes.length };
}

/** True for bytes that are only blanks and a byte order mark: losing them loses nothing. */
export function isBlank(bytes: Buffer): boolean {
  return (
    bytes.length < 64 &&
    bytes
      .toString("utf8")
      .replace(/^\uFEFF/, "")
      .trim() === ""
  );
}
