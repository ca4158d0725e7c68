/** Splits rich text into chunks that fit into a message each. */
import type { ChunkMode, RichText } from "../../../protocol/index.ts";
import { breakOf, skipBlank, type Range, type SizeLimit } from "./breaks.ts";

/** A part of rich text. */

/** The part between two offsets. Styles and links that continue are cut; ones with only blanks are dropped. */
function sliceRich(rich: RichText, start: number, end: number): RichText {
  const text = rich.text.slice(start, end);
  const cut = <R extends { start: number; end: number }>(ranges: readonly R[]): R[] =>
    ranges
      .filter((range) => range.start < end && range.end > start)
      .map((range) => ({ ...range, start: Math.max(range.start - start, 0), end: Math.min(range.end, end) - start }))
      .filter((range) => text.slice(range.start, range.end).trim() !== "");
  return { text, styles: cut(rich.styles), links: cut(rich.links) };
}

export interface SplitOptions {
  /** `newline`: each paragraph is a chunk of its own, code stays together. Default `length`. */
  readonly mode?: ChunkMode | undefined;
  /** Most lines per chunk. */
  readonly maxLines?: number | undefined;
  /** Size of a text, for the limit. Must be monotonic. Default: UTF-16 units. */
  readonly measure?: ((text: string) => number) | undefined;
}

/** The offset of the line break after `lines` lines, or `end`. */
function lineEnd(text: string, start: number, end: number, lines: number): number {
  let at = start - 1;
  for (let count = 0; count < lines; count += 1) {
    at = text.indexOf("\n", at + 1);
    if (at < 0 || at >= end) return end;
  }
  return at;
}

function sizeLimit(text: string, limit: number, { maxLines = Infinity, measure }: SplitOptions): SizeLimit {
  const size = (start: number, end: number): number => (measure ? measure(text.slice(start, end)) : end - start);
  /** Doubles the measured length until it is too much, so that the cost depends on the chunk and not on the text. */
  const measured = (start: number, end: number): number => {
    let good = start;
    let bad = Math.min(end, start + Math.max(1, limit));
    while (size(start, bad) <= limit) {
      if (bad >= end) return end;
      good = bad;
      bad = Math.min(end, start + (bad - start) * 2);
    }
    while (bad - good > 1) {
      const middle = (good + bad) >> 1;
      if (size(start, middle) <= limit) good = middle;
      else bad = middle;
    }
    return good;
  };
  const until = (start: number, end: number): number => {
    const lines = maxLines >= 1 && maxLines < Infinity ? lineEnd(text, start, end, maxLines) : end;
    const most = limit === Infinity ? lines : measure ? measured(start, lines) : Math.min(lines, start + limit);
    return Math.max(most, start + 1);
  };
  return { until, fits: (start, end) => until(start, end) >= end };
}

/** Parts between blank lines outside of code. */
function paragraphsOf(text: string, blocks: readonly Range[]): Range[] {
  const found: Range[] = [];
  let start = 0;
  let next = 0;
  for (const match of text.matchAll(/\n[^\S\n]*\n/g)) {
    if (match.index < start) continue;
    while (blocks[next] && blocks[next]!.end <= match.index) next += 1;
    if (blocks[next] && blocks[next]!.start <= match.index) continue;
    found.push({ start, end: match.index });
    start = skipBlank(text, match.index, text.length, /[\r\n]/);
  }
  return [...found, { start, end: text.length }];
}

/**
 * Chunks of at most `limit`; none is empty, and together they are the text except for blanks at the cuts. Styles and links continue in the next
 * chunk. A cut is at the
 * end of a paragraph, else of a line, else of a word outside of parentheses; a grapheme is cut only where it alone is longer than a chunk.
 * A limit of 0 or less means no limit.
 */
export function splitRich(rich: RichText, limit: number, options: SplitOptions = {}): RichText[] {
  const { text } = rich;
  const limits = sizeLimit(text, limit > 0 ? limit : Infinity, options);
  const blocks = rich.styles.filter(({ style }) => style === "code_block").sort((a, b) => a.start - b.start);
  const pieces: RichText[] = [];
  for (const { start, end } of options.mode === "newline" ? paragraphsOf(text, blocks) : [{ start: 0, end: text.length }]) {
    for (let at = start; at < end;) {
      const cut = breakOf(text, at, end, blocks, limits);
      const length = text.slice(at, cut.end).trimEnd().length;
      if (length > 0) pieces.push(length === text.length ? rich : sliceRich(rich, at, at + length));
      at = cut.next;
    }
  }
  return pieces;
}
