/** Where rich text may be cut. */
import { wholeCharacter } from "../../text/cut.ts";

export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface Break {
  /** Where the chunk ends. */
  readonly end: number;
  /** Where the next one starts: blanks in between belong to neither. */
  readonly next: number;
}

/** The size limit. */
export interface SizeLimit {
  /** The largest offset up to which the text from `start` fits; at least one character. */
  until(start: number, end: number): number;
  fits(start: number, end: number): boolean;
}

const isBlank = (text: string): boolean => text.trim() === "";

export function skipBlank(text: string, from: number, end: number, blank = /\s/): number {
  let index = from;
  while (index < end && blank.test(text[index]!)) index += 1;
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
    const sign = window[index]!;
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
  const least = start + (text.codePointAt(start)! > 0xffff ? 2 : 1);
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
export function breakOf(text: string, start: number, end: number, blocks: readonly Range[], sizeLimit: SizeLimit): Break {
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
