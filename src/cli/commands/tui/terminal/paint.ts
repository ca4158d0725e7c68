import { printable } from "../text/clean.ts";
import { clipLine, type Colour, type Line, type Style } from "../text/line.ts";

/** What the terminal is to show. */
export interface Frame {
  /** As many as the terminal has rows. */
  readonly lines: readonly Line[];
  /** Where typing happens, from 0; undefined hides it. */
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const COLOURS: Readonly<Record<Colour, number>> = { red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36, grey: 90 };

function codesOf(style: Style, colour: boolean): number[] {
  return [
    ...(style.bold ? [1] : []),
    ...(style.dim ? [2] : []),
    ...(style.italic ? [3] : []),
    ...(style.underline ? [4] : []),
    ...(style.inverse ? [7] : []),
    ...(style.strike ? [9] : []),
    ...(style.colour && colour ? [COLOURS[style.colour]] : []),
  ];
}

/** A line as a terminal takes it. The only control sequences in it are those of styles, whatever the text contains. */
export function paint(line: Line, colour: boolean): string {
  return line
    .map(({ text, style }) => {
      const codes = style ? codesOf(style, colour) : [];
      return codes.length === 0 ? printable(text) : `\x1b[${codes.join(";")}m${printable(text)}\x1b[0m`;
    })
    .join("");
}

export interface Painter {
  /** The text that turns what the terminal shows into this frame: changed lines only, in one step for terminals that can. Empty when nothing changed. */
  draw(frame: Frame, size: Size): string;
  /** Nothing is known about what the terminal shows. */
  forget(): void;
}

export function createPainter(colour: boolean): Painter {
  let shown: readonly string[] | undefined;
  let shownSize: Size | undefined;
  let cursor = "";
  return {
    draw(frame, size) {
      const same = shown && shownSize?.columns === size.columns && shownSize.rows === size.rows ? shown : undefined;
      const painted = frame.lines.slice(0, size.rows).map((line) => paint(clipLine(line, size.columns), colour));
      const changes = painted.flatMap((text, row) => (same?.[row] === text ? [] : [`\x1b[${row + 1};1H\x1b[2K${text}`]));
      const at = frame.cursor ? `\x1b[${frame.cursor.row + 1};${frame.cursor.column + 1}H\x1b[?25h` : "\x1b[?25l";
      if (same && changes.length === 0 && at === cursor) return "";
      shown = painted;
      shownSize = size;
      cursor = at;
      return `\x1b[?2026h\x1b[?25l${same ? "" : "\x1b[2J"}${changes.join("")}${at}\x1b[?2026l`;
    },
    forget() {
      shown = undefined;
    },
  };
}
