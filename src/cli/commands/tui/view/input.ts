import { span, wrap, type Line, type Style } from "../text/line.ts";
import { graphemes, graphemeWidth, textWidth } from "../text/width.ts";
import type { Editor } from "../state/editor.ts";

export interface InputView {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number };
}

const PROMPT: Style = { colour: "cyan", bold: true };
const MARGIN = 2;

/** Rows of a text that wraps anywhere, and where the cursor is in them. */
function rowsOf({ text, cursor }: Editor, available: number): { readonly rows: readonly string[]; readonly row: number; readonly column: number } {
  const rows: string[] = [];
  let position = { row: 0, column: 0 };
  let at = 0;
  for (const line of text.split("\n")) {
    let row = "";
    let width = 0;
    for (const grapheme of graphemes(line)) {
      const next = grapheme === "\t" ? 4 : graphemeWidth(grapheme);
      if (width + next > available) {
        rows.push(row);
        row = "";
        width = 0;
      }
      if (at === cursor) position = { row: rows.length, column: width };
      row += grapheme === "\t" ? "    " : grapheme;
      width += next;
      at += grapheme.length;
    }
    if (at === cursor) {
      if (width >= available) {
        rows.push(row);
        row = "";
        width = 0;
      }
      position = { row: rows.length, column: width };
    }
    rows.push(row);
    at += 1;
  }
  return { rows, ...position };
}

/** The input with its cursor: as many rows as fit, those around the cursor. */
export function inputView(editor: Editor, columns: number, mostRows: number): InputView {
  const available = Math.max(1, columns - MARGIN);
  const { rows, row, column } = rowsOf(editor, available);
  const height = Math.max(1, Math.min(rows.length, mostRows));
  const from = Math.max(0, Math.min(row - height + 1, rows.length - height));
  const first = row < from ? row : from;
  const lines = rows.slice(first, first + height).map((text, index): Line => [span(first + index === 0 ? "› " : "  ", PROMPT), span(text)]);
  return { lines, cursor: { row: row - first, column: Math.min(columns - 1, MARGIN + column) } };
}

/** Two columns of text, the second dim. */
export function pairLine(label: string, detail: string, columns: number, selected: boolean): Line {
  const [line = []] = wrap([span(selected ? "› " : "  ", PROMPT), span(label, selected ? { bold: true } : undefined)], columns, { exact: true });
  const used = textWidth(label) + 2;
  return detail === "" || used + 4 > columns ? line : [...line, span(`${" ".repeat(Math.max(2, 26 - used))}${detail}`, { dim: true })];
}
