import { escapeLine } from "../../base/printable.ts";
import { clip } from "../../base/text.ts";
import type { Style } from "./style.ts";

// eslint-disable-next-line no-control-regex -- styles are control sequences and take no columns
const STYLES = /\x1b\[\d+m/g;
// eslint-disable-next-line no-control-regex -- the same, kept apart from the text between them
const STYLED = /(\x1b\[\d+m)/;
const width = (text: string): number => text.replace(STYLES, "").length;

/** A cell is one line, whatever is in it. Styles stay. */
const oneLine = (cell: string): string =>
  cell.includes("\x1b")
    ? cell
        .split(STYLED)
        .map((part, index) => (index % 2 === 1 ? part : escapeLine(part)))
        .join("")
    : escapeLine(cell);

interface TableOptions {
  readonly style: Style;
  readonly columns: number;
  /** The last column is not cut. */
  readonly whole?: boolean;
}

/** A table whose rows need not be held: they are measured first, and made into lines then. */
export interface Table {
  measure(row: readonly string[]): void;
  header(): string;
  line(row: readonly string[]): string;
}

/** Rows under a header, columns aligned; the last column is cut to fit `columns`, unless it is wanted whole: what matters stands before it, or is not cut. */
export function createTable(header: readonly string[], options: TableOptions): Table {
  const widths = header.map(width);
  const last = header.length - 1;
  function text(cells: readonly string[]): string {
    const before = widths.slice(0, last).reduce((sum, value) => sum + value + 2, 0);
    const available = options.whole ? Number.POSITIVE_INFINITY : Math.max(12, options.columns - before);
    return cells
      .map((cell, index) =>
        index === last
          ? width(cell) > available
            ? clip(cell.replace(STYLES, ""), available - 1)
            : cell
          : cell + " ".repeat((widths[index] ?? 0) - width(cell)),
      )
      .join("  ");
  }
  return {
    measure(row) {
      for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, width(oneLine(cell)));
    },
    header: () => `${options.style.dim(text(header)).trimEnd()}\n`,
    line: (row) => `${text(row.map(oneLine)).trimEnd()}\n`,
  };
}

/** A whole table at once. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[], options: TableOptions): string {
  const table = createTable(header, options);
  for (const row of rows) table.measure(row);
  return [table.header(), ...rows.map(table.line)].join("");
}

/** `name: value` lines with the values aligned. */
export function formatFacts(facts: readonly (readonly [string, string])[], style: Style): string {
  const widest = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${style.dim(name.padEnd(widest))}  ${oneLine(value)}\n`).join("");
}
