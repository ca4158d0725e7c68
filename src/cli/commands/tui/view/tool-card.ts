import { isRecord } from "../../../../base/records.ts";
import { formatDuration } from "../../../../base/text.ts";
import { clean, cleanLine } from "../text/clean.ts";
import { clipLine, DIM, span, wrap, wrapText, type Line, type Style } from "../text/line.ts";
import { fit } from "../text/width.ts";

/** A call of a tool, from the history or as it happens. */
export interface ToolCard {
  readonly name: string;
  readonly args: unknown;
  readonly output: string;
  readonly status: "running" | "done" | "failed";
  readonly tookMs?: number | undefined;
}

const FOLDED_LINES = 3;
const MOST_LINES = 2000;
/** The arguments that describe a call best, in this order. */
const TELLING = ["command", "path", "file_path", "url", "query", "pattern", "action", "message", "text", "name"];

const SIGNS: Readonly<Record<ToolCard["status"], { readonly sign: string; readonly style: Style }>> = {
  running: { sign: "◌", style: { colour: "yellow" } },
  done: { sign: "✓", style: { colour: "green" } },
  failed: { sign: "✗", style: { colour: "red" } },
};

const shown = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** One line about the arguments of a call. */
export function argsSummary(args: unknown): string {
  if (typeof args !== "object" || args === null) return args === undefined ? "" : cleanLine(shown(args));
  const fields = isRecord(args) ? args : {};
  const telling = TELLING.find((name) => typeof fields[name] === "string" && fields[name] !== "");
  if (telling !== undefined) return cleanLine(String(fields[telling]).slice(0, 2000));
  return Object.keys(args).length === 0 ? "" : cleanLine(shown(args).slice(0, 2000));
}

function argsLines(args: unknown, columns: number): Line[] {
  if (typeof args !== "object" || args === null) return [];
  return Object.entries(args).flatMap(([name, value]) => wrapText(`${cleanLine(name)}: ${clean(shown(value))}`, columns, DIM, { exact: true }));
}

/** A call: its name, its arguments, its outcome; folded, or with its whole output. */
export function toolLines(card: ToolCard, columns: number, whole: boolean): Line[] {
  const { sign, style } = SIGNS[card.status];
  const took = card.tookMs === undefined || card.tookMs < 1000 ? "" : `  ${formatDuration(card.tookMs)}`;
  const head: Line = [
    span(`${sign} `, style),
    span(cleanLine(card.name), { bold: true }),
    span(` ${fit(argsSummary(card.args), Math.max(10, columns - card.name.length - 12))}`),
    span(took, DIM),
  ];
  const available = Math.max(8, columns - 4);
  const output = clean(card.output).replace(/\n+$/, "");
  const rows = output === "" ? [] : output.split("\n");
  const some = whole ? rows.slice(0, MOST_LINES) : rows.slice(0, FOLDED_LINES);
  const body = some.flatMap((row) => (whole ? wrap([span(row)], available, { exact: true }) : [clipLine([span(row, DIM)], available)]));
  const left = rows.length - some.length;
  const more: Line[] = left > 0 ? [[span(`… ${left} more ${left === 1 ? "line" : "lines"}${whole ? "" : " (Ctrl+O)"}`, DIM)]] : [];
  const args = whole ? argsLines(card.args, available) : [];
  return [clipLine(head, columns), ...[...args, ...body, ...more].map((line) => [span("  │ ", DIM), ...line])];
}
