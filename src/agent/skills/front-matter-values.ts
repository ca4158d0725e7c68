import { parseFlow, unescapeDouble } from "./flow-value.ts";

export interface Line {
  /** In the file, from 1. */
  readonly number: number;
  readonly indent: number;
  /** Without its indent and trailing blanks. */
  readonly text: string;
}

/** Lines that are being read, and how far. */
export interface Reader {
  readonly lines: Line[];
  at: number;
  readonly problems: string[];
}

/** Nothing, or a comment. */
export const BLANK = /^(?:#.*)?$/;
/** A value in brackets has at most this many lines that end with one. */
const MAX_TRIES = 200;

/** Plain text goes on in the lines that stand deeper. */
export function continuedText(reader: Reader, text: string, indent: number): string {
  const rest = takeWhile(reader, (line) => line.indent > indent && !BLANK.test(line.text));
  return [...(text === "" ? [] : [text]), ...rest.map((line) => line.text)].join(" ");
}

/** A text in quotation marks, over several lines if need be; as written when they are not closed. */
export function quotedText(reader: Reader, text: string, indent: number): string {
  const double = text.startsWith('"');
  const pattern = double ? /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/ : /^'((?:[^']|'')*)'\s*(?:#.*)?$/;
  const start = reader.at;
  let whole = text;
  takeWhile(reader, (line) => {
    if (pattern.test(whole) || (line.indent <= indent && line.text !== "")) return false;
    whole += ` ${line.text}`;
    return true;
  });
  const inner = pattern.exec(whole)?.[1];
  if (inner !== undefined) return double ? unescapeDouble(inner) : inner.replaceAll("''", "'");
  reader.at = start;
  return text;
}

/** Braces and brackets run over as many lines as it takes to close them. */
export function flowValue(reader: Reader, line: Line, text: string): unknown {
  const start = reader.at;
  let whole = text;
  let parsed = mayEnd(text) ? parseFlow(whole) : undefined;
  let tries = 0;
  takeWhile(reader, (next) => {
    if (parsed !== undefined || tries >= MAX_TRIES) return false;
    whole += `\n${next.text}`;
    if (mayEnd(next.text)) {
      tries += 1;
      parsed = parseFlow(whole);
    }
    return true;
  });
  if (parsed !== undefined) return parsed;
  reader.at = start;
  reader.problems.push(`line ${line.number}: the value that begins with ${text.slice(0, 1)} is not JSON5 and not YAML`);
  return text;
}

/** A text in the deeper lines: `|` keeps its lines, `>` folds them; `-` drops the last line break. */
export function blockText(reader: Reader, mark: string, indent: number): string {
  const taken = takeWhile(reader, (line) => line.indent > indent || line.text === "");
  const least = Math.min(...taken.filter((line) => line.text !== "").map((line) => line.indent));
  const rows = taken.map((line) => (line.text === "" ? "" : " ".repeat(line.indent - least) + line.text));
  while (rows.at(-1) === "") rows.pop();
  const kept = rows.join("\n");
  const folded = (): string => kept.replace(/(?<!\n)\n(?![\n ])/g, " ").replace(/\n\n/g, "\n");
  const text = mark.startsWith("|") ? kept : folded();
  return mark.includes("-") || text === "" ? text : `${text}\n`;
}

function takeWhile(reader: Reader, fits: (line: Line) => boolean): readonly Line[] {
  const start = reader.at;
  for (let line = reader.lines[reader.at]; line && fits(line); line = reader.lines[reader.at]) reader.at += 1;
  return reader.lines.slice(start, reader.at);
}

/** A line that could be the last of a value in brackets. */
function mayEnd(line: string): boolean {
  return /[\]}]\s*(?:#.*|\/\/.*)?$/.test(line);
}
