import type { RichText } from "../../../../protocol/index.ts";
import { clean } from "../text/clean.ts";
import { span, wrap, type Line, type Span, type Style } from "../text/line.ts";
import { fit, textWidth } from "../text/width.ts";
import { tableLines, withTables } from "./table.ts";

/** Reads Markdown; until it is loaded text is shown as it is written. */
export type ReadMarkdown = (text: string) => RichText;

export const asWritten: ReadMarkdown = (text) => ({ text, styles: [], links: [] });

interface Mark {
  readonly start: number;
  readonly end: number;
  readonly style: Style;
}

const STYLES: Readonly<Record<string, Style>> = {
  bold: { bold: true },
  italic: { italic: true },
  strikethrough: { strike: true },
  spoiler: { dim: true },
  code: { colour: "yellow" },
  heading: { bold: true, colour: "cyan" },
};

const CODE: Style = { colour: "yellow" };
const FRAME: Style = { dim: true };
const LINK: Style = { underline: true };

function marksOf({ styles, links }: RichText): Mark[] {
  return [
    ...styles.flatMap(({ start, end, style }) => (STYLES[style] ? [{ start, end, style: STYLES[style] }] : [])),
    ...links.map(({ start, end }) => ({ start, end, style: LINK })),
  ];
}

/** A stretch of the text in its styles. */
function spansOf(text: string, from: number, to: number, marks: readonly Mark[]): Span[] {
  const touching = marks.filter(({ start, end }) => start < to && end > from);
  const cuts = new Set([from, to, ...touching.flatMap(({ start, end }) => [Math.max(from, start), Math.min(to, end)])]);
  const positions = [...cuts].sort((a, b) => a - b);
  return positions.slice(0, -1).map((start, index) => {
    const end = positions[index + 1] ?? to;
    const styles = touching.filter((mark) => mark.start <= start && mark.end >= end).map(({ style }) => style);
    return span(text.slice(start, end), styles.length === 0 ? undefined : styles.reduce((all, style) => ({ ...all, ...style })));
  });
}

/** Code in a frame that is open to the right, so that it can be copied. Nothing of it is left out. */
function codeLines(code: string, language: string | undefined, columns: number): Line[] {
  const title = language === undefined ? "" : ` ${fit(language, 20)} `;
  const rule = "─".repeat(Math.max(0, Math.min(columns, 40) - 2 - textWidth(title)));
  const body = code.split("\n").flatMap((row) => wrap([span(row, CODE)], columns - 2, { exact: true }));
  return [
    [span(`┌─${title}${rule}`, FRAME)],
    ...body.map((line) => [span("│ ", FRAME), ...line]),
    [span(`└${"─".repeat(Math.max(0, Math.min(columns, 40) - 1))}`, FRAME)],
  ];
}

/** Where a wrapped line goes on: under the text of its item. */
const hangOf = (row: string): number => textWidth(/^\s*(?:(?:•|\d+\.) )?/.exec(row)?.[0] ?? "");

/** Shows where links lead, when their text does not say it. */
function withAddresses(rich: RichText, marked: Span[], from: number, to: number): Span[] {
  const hidden = rich.links.filter(({ start, end, href }) => end > from && end <= to && !rich.text.slice(start, end).includes(href.replace(/^mailto:/, "")));
  return hidden.length === 0 ? marked : [...marked, ...hidden.map(({ href }) => span(` <${clean(href)}>`, FRAME))];
}

function richLines(rich: RichText, columns: number): Line[] {
  const marks = marksOf(rich);
  const blocks = new Map(rich.styles.filter(({ style }) => style === "code_block").map((block) => [block.start, block]));
  const quotes = rich.styles.filter(({ style }) => style === "blockquote");
  const lines: Line[] = [];
  const rowLines = (from: number, to: number): Line[] => {
    const row = rich.text.slice(from, to);
    const quoted = quotes.some(({ start, end }) => start <= from && end >= to && from < to);
    const available = quoted ? columns - 2 : columns;
    const wrapped = wrap(withAddresses(rich, spansOf(rich.text, from, to, marks), from, to), available, { indent: hangOf(row) });
    return quoted ? wrapped.map((line) => [span("▏ ", FRAME), ...line]) : wrapped;
  };
  for (let at = 0; at <= rich.text.length;) {
    const block = blocks.get(at);
    if (block) {
      lines.push(...codeLines(rich.text.slice(block.start, block.end), block.language, columns));
      at = block.end + 1;
      continue;
    }
    const next = rich.text.indexOf("\n", at);
    const end = next < 0 ? rich.text.length : next;
    lines.push(...rowLines(at, end));
    at = end + 1;
  }
  return lines;
}

/** A cell is a line of its own: what begins it is no list and no heading, so it does not stand at a beginning. */
const BEFORE_CELL = "x ";

function cellLine(text: string, read: ReadMarkdown): Line {
  // A table is redrawn with every streamed word, and most cells are plain words.
  if (!/[*_`~[<&\\:@/]/.test(text)) return text === "" ? [] : [span(text)];
  const rich = read(`${BEFORE_CELL}${text}`);
  const from = Math.min(BEFORE_CELL.length, rich.text.length);
  return withAddresses(rich, spansOf(rich.text, from, rich.text.length, marksOf(rich)), from, rich.text.length).filter((part) => part.text !== "");
}

/** Markdown as lines, its tables as columns. */
function blockLines(text: string, columns: number, read: ReadMarkdown): Line[] {
  if (read === asWritten) return richLines(read(text), columns);
  return withTables(text).flatMap((part, at) => [
    ...(at === 0 ? [] : [[]]),
    ...(typeof part === "string" ? richLines(read(part), columns) : tableLines(part, columns, (cell) => cellLine(cell, read))),
  ]);
}

/** Characters after which a text may be cut. */
const PIECE_LENGTH = 2000;

/** Parts that can be read by themselves: cut at empty lines outside of code. While an answer grows, only its last part is another. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  let fence: string | undefined;
  for (let at = 0; at < text.length;) {
    const next = text.indexOf("\n", at);
    const end = next < 0 ? text.length : next;
    const line = text.slice(at, end);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && fence === undefined) fence = mark;
    else if (fence !== undefined && mark?.startsWith(fence)) fence = undefined;
    if (fence === undefined && line.trim() === "" && at - from >= PIECE_LENGTH && /^\S/.test(text.slice(end + 1, end + 2))) {
      pieces.push(text.slice(from, at));
      from = end + 1;
    }
    at = end + 1;
  }
  return [...pieces, text.slice(from)];
}

/** Draws Markdown as lines: headings, lists, quotations, code in frames, tables. What others wrote is cleaned here. */
export type DrawMarkdown = (text: string, columns: number, read: ReadMarkdown) => Line[];

/** Parts that are cached. */
const MOST_PIECES = 100;

/** Makes the function that draws Markdown. It caches the parts that it drew last. */
export function createMarkdown(): DrawMarkdown {
  const drawn = new Map<string, { readonly columns: number; readonly read: ReadMarkdown; readonly lines: Line[] }>();

  function pieceLines(piece: string, columns: number, read: ReadMarkdown): Line[] {
    const known = drawn.get(piece);
    if (known && known.columns === columns && known.read === read) return known.lines;
    const lines = blockLines(piece, columns, read);
    drawn.delete(piece);
    drawn.set(piece, { columns, read, lines });
    const [oldest] = drawn.keys();
    if (oldest !== undefined && drawn.size > MOST_PIECES) drawn.delete(oldest);
    return lines;
  }

  return (text, columns, read) => {
    const pieces = piecesOf(clean(text));
    const last = pieces.length - 1;
    // The last one changes with every word: remembering it would push the others out.
    return pieces.flatMap((piece, at) => (at === last ? blockLines(piece, columns, read) : [...pieceLines(piece, columns, read), []]));
  };
}
