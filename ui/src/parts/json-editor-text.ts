/** Where a piece of text stands. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const MOST_FOUND = 2000;

/** Every place where the words stand, whatever their case. */
export function findAll(text: string, words: string): Span[] {
  if (words === "") return [];
  const found: Span[] = [];
  const [whole, wanted] = [text.toLowerCase(), words.toLowerCase()];
  for (let at = whole.indexOf(wanted); at >= 0 && found.length < MOST_FOUND; at = whole.indexOf(wanted, at + wanted.length)) {
    found.push({ start: at, end: at + words.length });
  }
  return found;
}

/** The number of the line that an offset is on; the first is 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** The offset of a line and column, both from 1; what is beyond the text is its end. */
export function offsetAt(text: string, line: number, column = 1): number {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const next = text.indexOf("\n", start);
    if (next < 0) return text.length;
    start = next + 1;
  }
  const end = text.indexOf("\n", start);
  return Math.min(start + column - 1, end < 0 ? text.length : end);
}

/** What a line end at the offset puts in: the depth of the line it ends, one more behind an opening bracket. */
export function lineEnd(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const before = text.slice(start, offset);
  const indent = /^[ \t]*/.exec(before)![0];
  return `\n${indent}${/[{[(]\s*$/.test(before) ? "  " : ""}`;
}
