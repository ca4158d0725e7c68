import { lineWidth, span, wrap, type Line, type Span, type Style } from "../text/line.ts";

type Side = "left" | "right" | "centre";

/** A table of an answer, its cells as they are written. */
export interface Table {
  readonly head: readonly string[];
  readonly sides: readonly Side[];
  readonly rows: readonly (readonly string[])[];
}

const FRAME: Style = { dim: true };
const GAP = " │ ";
/** A column that is narrower cannot be read. */
const LEAST = 5;

/** Cells of a row; `\|` is a sign of the text. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function sidesOf(line: string): Side[] | undefined {
  if (!line.includes("|") && !line.includes(":")) return undefined;
  const cells = cellsOf(line);
  if (!cells.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  return cells.map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "centre" : "right") : "left"));
}

/** The table that begins at a line, and the line after it. */
function tableAt(lines: readonly string[], at: number): { readonly table: Table; readonly next: number } | undefined {
  const first = lines[at] ?? "";
  if (!first.includes("|") || /^(?: {4}|\t| {0,3}>)/.test(first)) return undefined;
  const sides = sidesOf(lines[at + 1] ?? "");
  const head = cellsOf(first);
  if (sides?.length !== head.length) return undefined;
  let next = at + 2;
  for (let line = lines[next]; line !== undefined && line.trim() !== "" && line.includes("|"); line = lines[next]) next += 1;
  const rows = lines.slice(at + 2, next).map((line) => {
    const cells = cellsOf(line);
    return head.map((_, column) => cells[column] ?? "");
  });
  return { table: { head, sides, rows }, next };
}

/** A text cut into tables and what stands between them. What is in code is no table. */
export function withTables(text: string): readonly (string | Table)[] {
  if (!text.includes("|")) return [text];
  const lines = text.split("\n");
  const parts: (string | Table)[] = [];
  let between: string[] = [];
  let fence: string | undefined;
  const close = (): void => {
    if (between.some((line) => line.trim() !== "")) parts.push(between.join("\n"));
    between = [];
  };
  let next = 0;
  for (const [at, line] of lines.entries()) {
    if (at < next) continue;
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && fence === undefined) fence = mark;
    else if (fence !== undefined && mark?.startsWith(fence)) fence = undefined;
    const found = fence === undefined && mark === undefined ? tableAt(lines, at) : undefined;
    if (found) {
      close();
      parts.push(found.table);
      next = found.next;
    } else between.push(line);
  }
  if (parts.length === 0) return [text];
  close();
  return parts;
}

/** How wide each column may be: the widest give way first. Undefined when a table does not fit. */
export function columnWidths(wanted: readonly number[], available: number): readonly number[] | undefined {
  const widths = [...wanted];
  let over = widths.reduce((sum, width) => sum + width, 0) - available;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= LEAST) return undefined;
    const next = Math.max(LEAST, ...widths.filter((width) => width < widest));
    const wide = widths.flatMap((width, column) => (width === widest ? [column] : []));
    const step = Math.min(widest - next || 1, Math.ceil(over / wide.length));
    for (const column of wide) {
      const less = Math.min(step, Math.max(0, over));
      widths[column] = widest - less;
      over -= less;
    }
  }
  return widths;
}

function padded(line: Line, width: number, side: Side): readonly Span[] {
  const free = Math.max(0, width - lineWidth(line));
  const before = side === "right" ? free : side === "centre" ? Math.floor(free / 2) : 0;
  const spaces = (count: number): readonly Span[] => (count === 0 ? [] : [span(" ".repeat(count))]);
  return [...spaces(before), ...line, ...spaces(free - before)];
}

/** A row, as many lines high as its highest cell. */
function rowLines(cells: readonly Line[], widths: readonly number[], sides: readonly Side[]): Line[] {
  const wrapped = cells.map((cell, column) => wrap(cell, widths[column] ?? LEAST));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) =>
    wrapped.flatMap((lines, column) => [
      ...(column === 0 ? [] : [span(GAP, FRAME)]),
      ...padded(lines[at] ?? [], widths[column] ?? LEAST, sides[column] ?? "left"),
    ]),
  );
}

/** Where columns do not fit, each row becomes a list of its cells. */
function asList(head: readonly Line[], rows: readonly (readonly Line[])[], columns: number): Line[] {
  return rows.flatMap((row, at) => [
    ...(at === 0 ? [] : [[span("─".repeat(Math.min(columns, 20)), FRAME)]]),
    ...row.flatMap((cell, column) => wrap([...(head[column] ?? []), span(": "), ...cell], columns, { indent: 2 })),
  ]);
}

/** A table as columns that stand under each other. `cell` reads the Markdown of one. */
export function tableLines({ head, sides, rows }: Table, columns: number, cell: (text: string) => Line): Line[] {
  const bold = (line: Line): Line => line.map(({ text, style }) => span(text, { ...style, bold: true }));
  const heads = head.map((text) => bold(cell(text)));
  const body = rows.map((row) => row.map(cell));
  const wanted = heads.map((line, column) => Math.max(1, lineWidth(line), ...body.map((row) => lineWidth(row[column] ?? []))));
  const widths = columnWidths(wanted, columns - GAP.length * (head.length - 1));
  if (!widths) return body.length === 0 ? heads : asList(heads, body, columns);
  const rule: Line = [span(widths.map((width) => "─".repeat(width)).join("─┼─"), FRAME)];
  const high = body.map((row) => rowLines(row, widths, sides));
  // Rows that take several lines are separated by a rule.
  const apart = high.some((lines) => lines.length > 1);
  return [...rowLines(heads, widths, sides), rule, ...high.flatMap((lines, at) => (apart && at > 0 ? [rule, ...lines] : lines))];
}
