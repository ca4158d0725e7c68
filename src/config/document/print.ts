import type { Style } from "./style.ts";

const BARE_KEY = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** A key as the text around it writes keys. */
export function printKey(key: string, style: Style): string {
  return style.bareKeys && BARE_KEY.test(key) ? key : printString(key, style.keyQuote);
}

export function printString(value: string, quote: '"' | "'"): string {
  // JSON leaves U+2028 and U+2029 as they are; escaped, no editor mistakes them for line breaks.
  const json = JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  if (quote === '"') return json;
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A value over several lines, its first line without indentation. `indent` is that of the line it starts on. */
export function printBlock(value: unknown, style: Style, indent: string): string {
  const entries = entriesOf(value);
  if (!entries || entries.length === 0) return printInline(value, style);
  const inner = indent + style.indent;
  const lines = entries.map(([key, child]) => `${inner}${key === undefined ? "" : `${printKey(key, style)}: `}${printBlock(child, style, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return [open, `${lines.join(`,${style.newline}`)}${style.trailingComma ? "," : ""}`, `${indent}${close}`].join(style.newline);
}

/** A value on one line. */
export function printInline(value: unknown, style: Style): string {
  const entries = entriesOf(value);
  if (!entries) return printScalar(value, style);
  const parts = entries.map(([key, child]) => `${key === undefined ? "" : `${printKey(key, style)}: `}${printInline(child, style)}`);
  if (Array.isArray(value)) return `[${parts.join(", ")}]`;
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}

function printScalar(value: unknown, style: Style): string {
  if (typeof value === "string") return printString(value, style.quote);
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return "null";
}

function entriesOf(value: unknown): (readonly [string | undefined, unknown])[] | undefined {
  if (Array.isArray(value)) return value.map((item) => [undefined, item] as const);
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).filter(([, child]) => child !== undefined);
}
