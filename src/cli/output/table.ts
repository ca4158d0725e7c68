import { escapeLine } from "../../base/printable.ts";
import { clip } from "../../base/text.ts";
import type { Style } from "./style.ts";

// eslint-disable-next-line no-control-regex -- styles are control sequences and take no room on the screen
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

/** Rows under a header, columns aligned; the last column is cut to fit `columns`, unless it is wanted whole: what matters stands before it, or is not cut. */
export function formatTable(
  header: readonly string[],
  given: readonly (readonly string[])[],
  options: { readonly style: Style; readonly columns: number; readonly whole?: boolean },
): string {
  const rows = given.map((row) => row.map(oneLine));
  const widths = header.map((title, index) => Math.max(width(title), ...rows.map((row) => width(row[index] ?? ""))));
  const last = header.length - 1;
  const before = widths.slice(0, last).reduce((sum, value) => sum + value + 2, 0);
  const room = options.whole ? Number.POSITIVE_INFINITY : Math.max(12, options.columns - before);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) =>
        index === last ? (width(cell) > room ? clip(cell.replace(STYLES, ""), room - 1) : cell) : cell + " ".repeat(widths[index]! - width(cell)),
      )
      .join("  ");
  return [options.style.dim(line(header)), ...rows.map(line)].map((text) => `${text.trimEnd()}\n`).join("");
}

/** `name: value` lines with the values aligned. */
export function formatFacts(facts: readonly (readonly [string, string])[], style: Style): string {
  const widest = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${style.dim(name.padEnd(widest))}  ${oneLine(value)}\n`).join("");
}
