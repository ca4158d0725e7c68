/** Splits rich text into chunks that fit into a message each. */
import type { ChunkMode, RichText } from "../../protocol/index.ts";
import { wholeCharacter } from "../text/chunks.ts";

interface Range {
  readonly start: number;
  readonly end: number;
}

interface Break {
  /** Where the chunk ends. */
  readonly end: number;
  /** Where the next one starts: blanks in between belong to neither. */
  readonly next: number;
}

/** The size limit. */
interface SizeLimit {
  /** The largest offset up to which the text from `start` fits; at least one character. */
  until(start: number, end: number): number;
  fits(start: number, end: number): boolean;
}

const isBlank = (text: string): boolean => text.trim() === "";

function skipBlank(text: string, from: number, end: number, blank = /\s/): number {
  let index = from;
  while (index < end && blank.test(text.charAt(index))) index += 1;
  return index;
}

/** Only the marker of an item or a quotation: a cut after it would leave it alone. */
const MARKER = /(?:^|\n)[\s>]*(?:•|\d{1,9}\.)?$/;

/** The last blank of `window` after which to cut, outside of parentheses if possible. -1 where there is none. */
function lastBlank(window: string): number {
  let depth = 0;
  let outside = -1;
  let anywhere = -1;
  let word = false;
  for (let index = 0; index < window.length; index += 1) {
    const sign = window.charAt(index);
    if (sign === "(") depth += 1;
    else if (sign === ")") depth = Math.max(0, depth - 1);
    if (!/\s/.test(sign)) word = true;
    else if (word) {
      word = false;
      if (MARKER.test(window.slice(Math.max(0, index - 24), index))) continue;
      anywhere = index;
      if (depth === 0) outside = index;
    }
  }
  return outside > 0 ? outside : anywhere;
}

/** A cut inside of a word, between graphemes if possible. */
function insideWord(text: string, start: number, hard: number): Break {
  // Flags are pairs that can only be distinguished by counting from the start.
  const from = hard - start <= 8192 ? start : wholeCharacter(text, hard - 256);
  const seen = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.slice(from, hard + 64)).containing(hard - from);
  const whole = from + (seen?.index ?? hard - from);
  const least = start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
  const end = whole > Math.max(from, start) ? whole : Math.max(wholeCharacter(text, hard), least);
  return { end, next: end };
}

function inCode(text: string, start: number, hard: number, block: Range, sizeLimit: SizeLimit): Break {
  const before = block.start > start && !isBlank(text.slice(start, block.start));
  if (before && sizeLimit.fits(block.start, block.end)) return { end: block.start, next: block.start };
  const line = start + text.slice(start, hard + 1).lastIndexOf("\n");
  // Only the line break is dropped: leading blanks are part of the code.
  if (line > Math.max(start, block.start)) {
    return { end: line, next: isBlank(text.slice(line, block.end)) ? skipBlank(text, block.end, text.length) : line + 1 };
  }
  return before ? { end: block.start, next: block.start } : insideWord(text, start, hard);
}

/** The first cut of `text` between `start` and `end`: at a paragraph's end in the second half of the limit, else at a line's, else at a word's. */
function breakOf(text: string, start: number, end: number, blocks: readonly Range[], sizeLimit: SizeLimit): Break {
  const hard = sizeLimit.until(start, end);
  if (hard >= end) return { end, next: end };
  const block = blocks.find((range) => range.start < hard && hard < range.end);
  if (block) return inCode(text, start, hard, block, sizeLimit);
  // A break right after the limit costs nothing: it is dropped anyway.
  const window = text.slice(start, hard + 1);
  const paragraph = window.lastIndexOf("\n\n");
  const isCode = (offset: number): boolean => blocks.some((range) => range.start <= offset && offset < range.end);
  const line = window.lastIndexOf("\n");
  const at = paragraph > window.length / 2 && !isCode(start + paragraph) ? paragraph : line;
  if (at > 0 && !isBlank(window.slice(0, at))) return { end: start + at, next: skipBlank(text, start + at, end, /[\r\n]/) };
  const blank = lastBlank(window);
  if (blank > 0) return { end: start + blank, next: skipBlank(text, start + blank, end) };
  return insideWord(text, start, hard);
}

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
    while ((blocks[next]?.end ?? Infinity) <= match.index) next += 1;
    if ((blocks[next]?.start ?? Infinity) <= match.index) continue;
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
  const { mode, maxLines, measure } = options;
  // The usual answer is one chunk.
  if (text.length <= limit && mode !== "newline" && maxLines === undefined && !measure && text !== "" && text === text.trimEnd()) return [rich];
  const limits = sizeLimit(text, limit > 0 ? limit : Infinity, options);
  const blocks = rich.styles.filter(({ style }) => style === "code_block").sort((a, b) => a.start - b.start);
  const pieces: RichText[] = [];
  for (const { start, end } of mode === "newline" ? paragraphsOf(text, blocks) : [{ start: 0, end: text.length }]) {
    for (let at = start; at < end;) {
      const cut = breakOf(text, at, end, blocks, limits);
      const length = text.slice(at, cut.end).trimEnd().length;
      if (length > 0) pieces.push(length === text.length ? rich : sliceRich(rich, at, at + length));
      at = cut.next;
    }
  }
  return pieces;
}
