import { plainText, type Node } from "./parse.ts";

export type Cell = Extract<Node, { readonly kind: "cell" }>;

/** A table's cells: those of its head, and those of its rows. */
export interface TableCells {
  readonly head: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
}

const isCell = (node: Node): node is Cell => node.kind === "cell";
const rowsIn = (node: Node | undefined): readonly (readonly Cell[])[] =>
  node && "children" in node ? node.children.map((row) => ("children" in row ? row.children.filter(isCell) : [])) : [];

export function cellsOf(table: readonly Node[]): TableCells {
  const [head = []] = rowsIn(table.find(({ kind }) => kind === "thead"));
  return { head, rows: rowsIn(table.find(({ kind }) => kind === "tbody")) };
}

const textOf = (cell: Cell | undefined): string => (cell ? plainText(cell.children).trim() : "");

const byText = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
/** A number with what may stand around it: a sign, a currency, separators, a unit. Dates and times are none: as texts they are in order. */
const NUMBER = /^[^\d+\-−.]{0,3}([+\-−]?)\s*([\d.,\s']*\d)(?!\d|\s*[-−–/:.]\s*\d)/;

function numberOf(text: string): number | undefined {
  const [, sign, digits] = NUMBER.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const value = Number(digits.replaceAll(/[,\s']/g, ""));
  return Number.isNaN(value) ? undefined : sign === "-" || sign === "−" ? -value : value;
}

/** The rows in the order of a column: by numbers where all of them begin with one, otherwise by text. What is empty comes last. */
export function sortedRows(rows: TableCells["rows"], column: number, down: boolean): TableCells["rows"] {
  const texts = new Map(rows.map((row) => [row, textOf(row[column])]));
  const filled = [...texts.values()].filter((text) => text !== "");
  const numeric = filled.length > 0 && filled.every((text) => numberOf(text) !== undefined);
  return rows.toSorted((a, b) => {
    const [one, other] = [texts.get(a)!, texts.get(b)!];
    if (one === "" || other === "") return Number(one === "") - Number(other === "");
    const order = numeric ? numberOf(one)! - numberOf(other)! : byText.compare(one, other);
    return down ? -order : order;
  });
}

/** For spreadsheets: cells apart by tabs, rows by lines. */
export const tableText = ({ head, rows }: TableCells): string =>
  [head, ...rows].map((row) => row.map((cell) => textOf(cell).replaceAll(/[\t\n]+/g, " ")).join("\t")).join("\n");
