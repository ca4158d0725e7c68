/** Splits text into chunks that fit into a message: plain text, Markdown, and by the mode that a channel is configured for. */
import type { ChunkMode } from "../../protocol/index.ts";

/** A fenced code block in Markdown. Offsets are of the whole text. */
export interface Fence {
  /** Start of its opening line. */
  readonly start: number;
  /** End of its closing line, before that line's break; the end of the text where it is unclosed. */
  readonly end: number;
  /** Start of its content. */
  readonly body: number;
  /** Start of its closing line; `end` where it is unclosed. */
  readonly closing: number;
  /** The opening line as written. */
  readonly line: string;
  /** The closing marker. */
  readonly marker: string;
}

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;

/** All code blocks, in order. */
export function findFences(text: string): Fence[] {
  const fences: Fence[] = [];
  let open: { start: number; body: number; line: string; indent: string; marker: string } | undefined;
  for (let at = 0; at <= text.length;) {
    const end = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at);
    const line = text.slice(at, end).replace(/\r$/, "");
    const [, indent = "", marker = "", info = ""] = FENCE.exec(line) ?? [];
    if (open) {
      const closes = marker.startsWith(open.marker) && info.trim() === "";
      if (closes) fences.push({ ...open, end, closing: at, marker: open.indent + open.marker });
      if (closes) open = undefined;
    } else if (marker && !(marker.startsWith("`") && info.includes("`"))) {
      open = { start: at, body: Math.min(end + 1, text.length), line, indent, marker };
    }
    at = end + 1;
  }
  if (open) fences.push({ ...open, end: text.length, closing: text.length, marker: open.indent + open.marker });
  return fences;
}

/** The block around `index`: after its first character and before its end. */
export function fenceAt(fences: readonly Fence[], index: number): Fence | undefined {
  return fences.find((fence) => fence.start < index && index < fence.end);
}

/** The largest index at or before `index` that does not split a surrogate pair. */
export function wholeCharacter(text: string, index: number): number {
  return /[\uD800-\uDBFF]/.test(text[index - 1] ?? "") && /[\uDC00-\uDFFF]/.test(text[index] ?? "") ? index - 1 : index;
}

/** The last blank before `end` outside of parentheses, so that a link keeps its URL; -1 where there is none. */
function lastBlank(text: string, start: number, end: number): number {
  let depth = 0;
  let found = -1;
  for (let index = start; index < end; index += 1) {
    const sign = text.charAt(index);
    if (sign === "(") depth += 1;
    else if (sign === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0 && index > start && /\s/.test(sign)) found = index;
  }
  return found;
}

interface Cut {
  /** Where the chunk ends. */
  readonly end: number;
  /** Where the next one starts: line breaks or blanks at the cut belong to neither. */
  readonly next: number;
}

const skip = (text: string, from: number, sign: RegExp): number => {
  let index = from;
  while (index < text.length && sign.test(text.charAt(index))) index += 1;
  return index;
};

/** Cuts `text` from `start` with at most `size` characters: at the last line break, else the last blank, else hard. */
function cutPlain(text: string, start: number, size: number): Cut {
  const limit = start + size;
  // A break right after the window costs nothing: it is dropped anyway.
  const line = text.lastIndexOf("\n", limit);
  if (line > start) return { end: line, next: skip(text, line, /[\r\n]/) };
  const blank = lastBlank(text, start, limit + 1);
  if (blank > start) return { end: blank, next: skip(text, blank, /\s/) };
  const hard = Math.max(wholeCharacter(text, limit), start + 1);
  return { end: hard, next: hard };
}

/** Chunks of at most `limit` characters: cut at the last line break, else the last blank outside of parentheses, else hard. No limit: one chunk. */
export function chunkText(text: string, limit: number): string[] {
  if (!text) return [];
  if (limit <= 0 || text.length <= limit) return [text];
  const chunks: string[] = [];
  let at = 0;
  while (text.length - at > limit) {
    const { end, next } = cutPlain(text, at, limit);
    const chunk = text.slice(at, end).trimEnd();
    if (chunk) chunks.push(chunk);
    at = next;
  }
  const rest = text.slice(at);
  return rest.trim() ? [...chunks, rest] : chunks;
}

export interface LineOptions {
  /** Lines over the limit are cut. Default true. */
  readonly splitLongLines?: boolean | undefined;
  /** Default true. */
  readonly trimLines?: boolean | undefined;
  /** Whether a line break may end a chunk. */
  readonly isSafeBreak?: ((index: number) => boolean) | undefined;
}

/** One chunk per line; empty lines go before the next chunk, trimmed away with `trimLines`. */
export function chunkByNewline(text: string, maxLineLength: number, options: LineOptions = {}): string[] {
  const { splitLongLines = true, trimLines = true, isSafeBreak = () => true } = options;
  if (!text) return [];
  const chunks: string[] = [];
  let from = 0;
  for (let at = text.indexOf("\n"); from <= text.length; at = text.indexOf("\n", at + 1)) {
    if (at >= 0 && !isSafeBreak(at)) continue;
    const end = at < 0 ? text.length : at;
    const line = trimLines ? text.slice(from, end).trim() : text.slice(from, end);
    if (line.trim()) chunks.push(...(splitLongLines && maxLineLength > 0 ? chunkText(line, maxLineLength) : [line]));
    if (at < 0) break;
    from = at + 1;
  }
  return chunks;
}

/** The line that reopens a cut block: its own, its bare marker where that is too long, nothing where even that leaves no space for code. */
function opener(fence: Fence, limit: number): string | undefined {
  const fits = (line: string): boolean => (line.length + fence.marker.length + 2) * 2 <= limit;
  return [fence.line, fence.marker].find(fits);
}

interface Piece extends Cut {
  /** The block that continues in the next chunk. */
  readonly within?: Fence | undefined;
}

/** Cuts inside of `fence` with space left for its closing marker. Undefined: nothing of its content fits. */
function cutCode(text: string, start: number, space: number, fence: Fence): Piece | undefined {
  const from = Math.max(start, fence.body);
  const limit = start + space - fence.marker.length - 1;
  if (limit <= from) return undefined;
  const line = text.lastIndexOf("\n", limit);
  const end = line > from ? line : wholeCharacter(text, limit);
  if (end <= from) return undefined;
  const next = line > from ? line + 1 : end;
  // Only its closing line is left: the chunk has that already.
  return next >= fence.closing ? { end, next: fence.end, within: undefined } : { end, next, within: fence };
}

const BREAKS = /[\r\n]*/y;

function skipBreaks(text: string, from: number): number {
  BREAKS.lastIndex = from;
  return from + (BREAKS.exec(text)?.[0].length ?? 0);
}

/**
 * Chunks of at most `limit` characters that are valid Markdown: a code block that has to be cut is closed before the cut and reopened after it. Together they are the text, except for white space at the cuts and the lines that open and close code.
 */
export function chunkMarkdownText(text: string, limit: number): string[] {
  if (!text) return [];
  if (limit <= 0 || text.length <= limit) return [text];
  const fences = findFences(text).filter((fence) => opener(fence, limit) !== undefined);
  const chunks: string[] = [];
  let at = 0;
  let within: Fence | undefined;
  while (at < text.length) {
    const head = within ? `${opener(within, limit) ?? ""}\n` : "";
    const space = limit - head.length;
    const rest = text.slice(at);
    if (rest.length <= space) {
      if (rest.trim()) chunks.push(head + rest);
      break;
    }
    const fence = fenceAt(fences, at + space) ?? (within && within.end >= at + space ? within : undefined);
    const whole = fence && fence !== within && fence.start > at && text.slice(at, fence.start).trim() !== "" && fence.end - fence.start <= limit;
    const code = fence && !whole ? cutCode(text, at, space, fence) : undefined;
    if (fence && code) {
      chunks.push(`${head}${text.slice(at, code.end)}\n${fence.marker}`);
      at = code.within ? code.next : skipBreaks(text, code.next);
      within = code.within;
      continue;
    }
    if (fence && fence !== within && fence.start === at) {
      // Its opening line leaves no space for code: the info string is dropped.
      at = fence.body;
      within = fence;
      continue;
    }
    const before = fence && fence !== within && fence.start > at ? { end: fence.start, next: fence.start } : cutPlain(text, at, space);
    const chunk = text.slice(at, before.end).trimEnd();
    if (chunk) chunks.push(head + chunk);
    at = before.next;
    within = undefined;
  }
  return chunks;
}

/** Paragraphs, never cut inside of code. */
function paragraphs(text: string): string[] {
  const fences = findFences(text);
  const found: string[] = [];
  let from = 0;
  for (const match of text.matchAll(/\n[^\S\n]*(?:\n[^\S\n]*)+/g)) {
    if (fenceAt(fences, match.index)) continue;
    found.push(text.slice(from, match.index));
    // The indentation of the next paragraph's first line belongs to it.
    from = match.index + match[0].lastIndexOf("\n") + 1;
  }
  return [...found, text.slice(from)].map((paragraph) => paragraph.trimEnd()).filter((paragraph) => paragraph.trim() !== "");
}

/** Joins paragraphs up to `limit`, one blank line between them; a longer one is cut, or kept whole where `splitLong` is false. */
export function chunkByParagraph(text: string, limit: number, options: { readonly splitLongParagraphs?: boolean | undefined } = {}): string[] {
  const chunks: string[] = [];
  for (const paragraph of paragraphs(text.replaceAll(/\r\n?/g, "\n"))) {
    const last = chunks.at(-1);
    if (last !== undefined && (limit <= 0 || last.length + 2 + paragraph.length <= limit)) chunks[chunks.length - 1] = `${last}\n\n${paragraph}`;
    else if (limit > 0 && paragraph.length > limit && options.splitLongParagraphs !== false) chunks.push(...chunkText(paragraph, limit));
    else chunks.push(paragraph);
  }
  return chunks;
}

export function chunkTextWithMode(text: string, limit: number, mode: ChunkMode): string[] {
  return mode === "newline" ? chunkByParagraph(text, limit) : chunkText(text, limit);
}

export function chunkMarkdownTextWithMode(text: string, limit: number, mode: ChunkMode): string[] {
  if (mode !== "newline") return chunkMarkdownText(text, limit);
  return chunkByParagraph(text, limit, { splitLongParagraphs: false }).flatMap((chunk) => chunkMarkdownText(chunk, limit));
}
