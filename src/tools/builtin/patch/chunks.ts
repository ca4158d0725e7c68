import { AppError } from "../../../base/errors.ts";
import type { Chunk, ChunkLine } from "./parse.ts";

/** Finds lines that follow each other in a file. */
interface Seeker {
  /** The first place from `from` on, or only the last of the file. Exact first, then with blanks and signs that look alike taken as the same. */
  find(wanted: readonly string[], from: number, atEnd: boolean): number | undefined;
}

/** From strict to loose. */
const READINGS: readonly ((line: string) => string)[] = [(line) => line, (line) => line.trimEnd(), (line) => line.trim(), fold];

/** Lines looked at in all. A search takes time in proportion to the file, and a patch may have many. */
const MAX_EFFORT = 20_000_000;

function createSeeker(lines: readonly string[]): Seeker {
  const readings: (readonly string[])[] = [lines];
  let effort = 0;
  return {
    find(wanted, from, atEnd) {
      const start = atEnd ? Math.max(from, lines.length - wanted.length) : from;
      for (const [at, read] of READINGS.entries()) {
        effort += lines.length - start + wanted.length;
        if (effort > MAX_EFFORT) throw new AppError("INVALID_INPUT", "The patch has too many chunks for a file of this size: send it in parts");
        const found = indexOfLines((readings[at] ??= lines.map(read)), wanted.map(read), start);
        if (found !== -1) return found;
      }
      return undefined;
    },
  };
}

/** Knuth, Morris and Pratt's way: never looks at a line of the file twice, however much it repeats itself. */
function indexOfLines(lines: readonly string[], wanted: readonly string[], from: number): number {
  const back = [0];
  for (let at = 1, length = 0; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = back[length - 1] ?? 0;
    if (wanted[at] === wanted[length]) length += 1;
    back.push(length);
  }
  for (let at = from, length = 0; at < lines.length; at += 1) {
    while (length > 0 && lines[at] !== wanted[length]) length = back[length - 1] ?? 0;
    if (lines[at] === wanted[length]) length += 1;
    if (length === wanted.length) return at - length + 1;
  }
  return -1;
}

function fold(line: string): string {
  return line
    .trim()
    .replaceAll(/[\u2018\u2019\u201A\u201B]/g, "'")
    .replaceAll(/[\u201C\u201D\u201E\u201F]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll(/[\u00A0\u2002-\u200A\u202F\u205F\u3000]/g, " ");
}

const BOM = "\uFEFF";

/** Part of a file that is replaced. */
interface Replacement {
  readonly start: number;
  readonly count: number;
  readonly lines: readonly string[];
}

export interface ApplyOptions {
  /** As the patch names it. */
  readonly path: string;
  /** Lets others run; throws when the call was stopped. */
  readonly pause: () => Promise<unknown>;
}

/**
 * The text after all chunks. Lines that stay are left as they are in the file, whatever the patch makes of their blanks; line ends and a mark at the
 * beginning stay too. Every line of the result is ended. `INVALID_INPUT` when a place is not found.
 */
export async function applyChunks(text: string, chunks: readonly Chunk[], { path, pause }: ApplyOptions): Promise<string> {
  const mark = text.startsWith(BOM) ? BOM : "";
  const crlf = /\r?\n/.exec(text)?.[0] === "\r\n";
  const raw = rawLines(text.slice(mark.length), crlf);
  const seeker = createSeeker(raw.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line)));
  const replacements: Replacement[] = [];
  let cursor = 0;
  for (const chunk of chunks) {
    await pause();
    cursor = place(chunk, raw.length, { seeker, cursor, path }, (start, lines) => {
      replacements.push(replacement(raw, start, lines, crlf ? "\r" : ""));
    });
  }
  const result: string[] = [];
  let at = 0;
  // Those that append come last, in their order.
  for (const { start, count, lines } of replacements.sort((a, b) => a.start - b.start)) {
    for (const line of raw.slice(at, start)) result.push(line);
    for (const line of lines) result.push(line);
    at = Math.max(at, start) + count;
  }
  for (const line of raw.slice(at)) result.push(line);
  return mark + result.map((line) => `${line}\n`).join("");
}

/** Lines without the last character of their ends. The last one may have had no end; it gets one. */
function rawLines(body: string, crlf: boolean): readonly string[] {
  if (body === "") return [];
  const raw = body.split("\n");
  const last = raw.pop() ?? "";
  return last === "" ? raw : [...raw, crlf ? `${last}\r` : last];
}

interface Search {
  readonly seeker: Seeker;
  readonly cursor: number;
  readonly path: string;
}

/** Finds where a chunk belongs and gives the line after it. */
function place(chunk: Chunk, length: number, { seeker, cursor, path }: Search, put: (start: number, lines: readonly ChunkLine[]) => void): number {
  let from = cursor;
  if (chunk.context !== undefined) {
    const found = seeker.find([chunk.context], from, false);
    if (found === undefined) throw new AppError("INVALID_INPUT", `Failed to find context '${chunk.context}' in ${path}`);
    from = found + 1;
  }
  for (let { lines } = chunk; ; lines = lines.slice(0, -1)) {
    const old = lines.flatMap(({ kind, text }) => (kind === "add" ? [] : [text]));
    if (old.length === 0) {
      if (lines.length < chunk.lines.length) break;
      put(length, lines);
      return from;
    }
    const start = seeker.find(old, from, chunk.atEnd);
    if (start !== undefined) {
      put(start, lines);
      return start + old.length;
    }
    // An empty line at the end of a chunk may be one of the patch's own.
    const last = lines.at(-1);
    if (last?.kind !== "keep" || last.text !== "") break;
  }
  const old = chunk.lines.flatMap(({ kind, text }) => (kind === "add" ? [] : [text]));
  throw new AppError("INVALID_INPUT", `Failed to find expected lines in ${path}:\n${old.join("\n")}`);
}

function replacement(raw: readonly string[], start: number, lines: readonly ChunkLine[], end: string): Replacement {
  let at = start;
  const result: string[] = [];
  for (const { kind, text } of lines) {
    if (kind === "add") result.push(text + end);
    else {
      if (kind === "keep") result.push(raw[at] ?? text);
      at += 1;
    }
  }
  return { start, count: at - start, lines: result };
}
