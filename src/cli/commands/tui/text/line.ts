import { graphemes, graphemeWidth, textWidth } from "./width.ts";

/** The sixteen colours that every terminal chooses for itself: they fit light and dark ones. */
export type Colour = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "grey";

export interface Style {
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly inverse?: boolean;
  readonly colour?: Colour;
}

/** Text in one style. */
export interface Span {
  readonly text: string;
  readonly style?: Style;
}

/** One line of the screen. */
export type Line = readonly Span[];

export const DIM: Style = { dim: true };

export const span = (text: string, style?: Style): Span => (style === undefined ? { text } : { text, style });

export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + textWidth(text), 0);

export const plainText = (line: Line): string => line.map(({ text }) => text).join("");

const expandTabs = (text: string): string => (text.includes("\t") ? text.replaceAll("\t", "    ") : text);

interface Cell {
  readonly text: string;
  readonly width: number;
  readonly style: Style | undefined;
}

function cellsOf(line: Line): Cell[] {
  return line.flatMap(({ text, style }) => graphemes(expandTabs(text)).map((grapheme) => ({ text: grapheme, width: graphemeWidth(grapheme), style })));
}

/** Neighbours of one style become one span. */
function joined(cells: readonly Cell[]): Line {
  const spans: { text: string; style: Style | undefined }[] = [];
  for (const { text, style } of cells) {
    const last = spans.at(-1);
    if (last && last.style === style) last.text += text;
    else spans.push({ text, style });
  }
  return spans.map(({ text, style }) => span(text, style));
}

export interface WrapOptions {
  /** Columns that lines after the first begin with. */
  readonly indent?: number;
  /** Breaks anywhere: nothing of the text is left out or moved. For code and commands. */
  readonly exact?: boolean;
}

/** Where the cells from `from` on that fit into `columns` end. */
function endOfFit(cells: readonly Cell[], from: number, columns: number): number {
  let width = 0;
  let end = from;
  for (let cell = cells[end]; cell && width + cell.width <= columns; cell = cells[end]) {
    width += cell.width;
    end += 1;
  }
  return end;
}

/** Where a line that begins at `from` ends, and where the next begins. */
function breakAt(cells: readonly Cell[], from: number, columns: number, exact: boolean): { readonly end: number; readonly next: number } {
  // A character that is wider than the line has it for itself.
  const end = Math.min(cells.length, Math.max(from + 1, endOfFit(cells, from, columns)));
  if (end === cells.length || exact) return { end, next: end };
  for (let at = end; at > from; at -= 1) if (cells[at]?.text === " ") return { end: at, next: at + 1 };
  return { end, next: end };
}

/** A line in as many as it takes; at least one. */
export function wrap(line: Line, columns: number, { indent = 0, exact = false }: WrapOptions = {}): Line[] {
  const available = Math.max(1, columns);
  const hang = Math.min(indent, Math.max(0, available - 10));
  if (lineWidth(line) <= available && !line.some(({ text }) => text.includes("\t"))) return [line];
  const cells = cellsOf(line);
  const lines: Line[] = [];
  for (let from = 0; from < cells.length || lines.length === 0;) {
    const first = lines.length === 0;
    const { end, next } = breakAt(cells, from, first ? available : available - hang, exact);
    const spans = joined(cells.slice(from, end));
    lines.push(first || hang === 0 ? spans : [span(" ".repeat(hang)), ...spans]);
    from = Math.max(next, from + 1);
  }
  return lines;
}

/** Text with line breaks, wrapped, in one style. */
export function wrapText(text: string, columns: number, style?: Style, options?: WrapOptions): Line[] {
  return text.split("\n").flatMap((row) => wrap([span(row, style)], columns, options));
}

/** As much of a line as fits. */
export function clipLine(line: Line, columns: number): Line {
  if (lineWidth(line) <= columns) return line;
  const cells = cellsOf(line);
  return [...joined(cells.slice(0, endOfFit(cells, 0, columns - 1))), span("…")];
}
