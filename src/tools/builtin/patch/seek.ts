import { AppError } from "../../../base/errors.ts";

/** Finds lines that follow each other in a file. */
export interface Seeker {
  /** The first place from `from` on, or only the last of the file. Exact first, then with blanks and signs that look alike taken as the same. */
  find(wanted: readonly string[], from: number, atEnd: boolean): number | undefined;
}

/** From strict to loose. */
const READINGS: readonly ((line: string) => string)[] = [(line) => line, (line) => line.trimEnd(), (line) => line.trim(), fold];

/** Lines looked at in all. A search takes time in proportion to the file, and a patch may have many. */
const MAX_EFFORT = 20_000_000;

export function createSeeker(lines: readonly string[]): Seeker {
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
    while (length > 0 && wanted[at] !== wanted[length]) length = back[length - 1]!;
    if (wanted[at] === wanted[length]) length += 1;
    back.push(length);
  }
  for (let at = from, length = 0; at < lines.length; at += 1) {
    while (length > 0 && lines[at] !== wanted[length]) length = back[length - 1]!;
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
