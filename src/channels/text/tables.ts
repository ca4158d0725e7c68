/** Markdown tables for platforms that have none. */
import type { MarkdownTableMode } from "../../protocol/index.ts";
import { fenceAt, findFences } from "./chunks.ts";

interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The cells of a line; `\|` and code keep their bars. */
function cells(line: string): string[] {
  const found: string[] = [];
  let cell = "";
  let code = false;
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  for (let index = 0; index < inner.length; index += 1) {
    const sign = inner.charAt(index);
    if (sign === "\\" && inner[index + 1] === "|") {
      cell += "|";
      index += 1;
    } else if (sign === "|" && !code) {
      found.push(cell.trim());
      cell = "";
    } else {
      if (sign === "`") code = !code && inner.indexOf("`", index + 1) >= 0;
      cell += sign;
    }
  }
  return [...found, cell.trim()];
}

const isRule = (line: string): boolean => line.includes("-") && cells(line).every((cell) => /^:?-+:?$/.test(cell));
const isRow = (line: string | undefined): line is string => line !== undefined && line.includes("|") && line.trim() !== "";

/** Characters that take two columns in a monospaced font: East Asian scripts, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;
/** Zero-width characters, such as combining marks and joiners. */
const BARE = /^[\p{M}\p{Cf}\p{Cc}]+$/u;
/** Measures the columns of a text in a monospaced font. */
function createWidth(): (text: string) => number {
  let graphemes: Intl.Segmenter | undefined;
  return (text) => {
    // Characters that every font shows in one column.
    if (/^[\x20-\x7e\u00a0-\u02ff]*$/.test(text)) return text.length;
    graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
    let columns = 0;
    for (const { segment } of graphemes.segment(text)) columns += BARE.test(segment) ? 0 : WIDE.test(segment) ? 2 : 1;
    return columns;
  };
}

/** Longer cells stay as written. */
const MAX_MARKED = 2000;

/** A cell without markers: code would show them literally. */
function unmarked(cell: string): string {
  if (cell.length > MAX_MARKED) return cell;
  // Text inside code is literal.
  return cell
    .split(/(`+[^`]+`+)/)
    .map((part, index) => (index % 2 === 1 ? part.replaceAll(/^`+ ?| ?`+$/g, "") : unmarkedText(part)))
    .join("");
}

function unmarkedText(text: string): string {
  return text
    .replaceAll(/!\[([^\]]*)\]\([^()\s]*\)/g, "$1")
    .replaceAll(/\[([^\]]+)\]\(([^()\s]+)\)/g, (_, label: string, address: string) => (label === address ? label : `${label} (${address})`))
    .replaceAll(/(?<!\\)(\*\*|__|~~|\|\|)(?=\S)(.+?)(?<=[^\s\\])\1/g, "$2")
    .replaceAll(/(?<![\w*\\])\*(?=[^\s*])([^*]+?)(?<=[^\s*\\])\*(?![\w*])/g, "$1")
    .replaceAll(/(?<![\w\\])_(?=[^\s_])([^_]+?)(?<=[^\s_\\])_(?!\w)/g, "$1")
    .replaceAll(/<br\s*\/?>/gi, " ")
    .replaceAll(/\\([\\`*_{}[\]()#+.!~|<>-])/g, "$1");
}

/** A table that alignment would make larger than this, in characters, is not aligned: one long cell would fill every row with blanks. */
const MAX_ALIGNED = 200_000;

const largest = (numbers: Iterable<number>, least: number): number => {
  let most = least;
  for (const number of numbers) if (number > most) most = number;
  return most;
};

function asCode(table: Table): string[] {
  const header = table.header.map(unmarked);
  const rows = table.rows.map((row) => row.map(unmarked));
  const all = [header, ...rows];
  const width = createWidth();
  const longest = header.map(() => 3);
  for (const row of all) for (const [column, cell] of row.entries()) longest[column] = Math.max(longest[column] ?? 3, width(cell));
  const isAligned = all.length * longest.reduce((sum, size) => sum + size + 3, 0) <= MAX_ALIGNED;
  const padded = (cell: string, size: number): string => cell + " ".repeat(size - width(cell));
  const line = (row: readonly string[]): string => `| ${(isAligned ? longest.map((size, i) => padded(row[i] ?? "", size)) : row).join(" | ")} |`;
  const rule = `| ${longest.map((size) => "-".repeat(isAligned ? size : 3)).join(" | ")} |`;
  const runs = all.flat().flatMap((cell) => [...cell.matchAll(/`+/g)].map((run) => run[0].length + 1));
  const fence = "`".repeat(largest(runs, 3));
  return [fence, line(header), rule, ...rows.map(line), fence];
}

/** A row with several cells becomes a title with its other cells; a row with one, just that. */
function asBullets({ header, rows }: Table): string[] {
  const labelled = (row: readonly string[], from: number): string[] =>
    header.flatMap((name, column) => (column >= from && row[column] ? [`• ${name ? `${name}: ` : ""}${row[column]}`] : []));
  const titled = header.length > 1;
  return rows.flatMap((row, index) => {
    const title = titled && row[0] ? [`**${row[0].replaceAll(/\*\*|__/g, "")}**`] : [];
    const gap = index > 0 && titled ? [""] : [];
    return [...gap, ...title, ...labelled(row, title.length > 0 ? 1 : 0)];
  });
}

/** Tables as aligned text in a code block, or as lists; everything else stays as it is. */
export function convertMarkdownTables(markdown: string, mode: MarkdownTableMode): string {
  if (mode === "off" || !markdown.includes("|")) return markdown;
  const fences = findFences(markdown);
  const lines = markdown.split("\n");
  const out: string[] = [];
  let offset = 0;
  /** Takes the line at `index`, which is inside of the text. */
  let index = 0;
  const take = (): string => {
    const line = lines[index] ?? "";
    index += 1;
    offset += line.length + 1;
    return line;
  };
  while (index < lines.length) {
    const isOutside = !fenceAt(fences, offset);
    const line = take();
    const rule = lines[index];
    const starts = isOutside && isRow(line) && rule !== undefined && isRule(rule) && !/^ {4}|^\t/.test(line) && cells(line).length === cells(rule).length;
    if (!starts) {
      out.push(line);
      continue;
    }
    take();
    const header = cells(line);
    const rows: string[][] = [];
    while (isRow(lines[index]) && !/^ {0,3}(?:`{3,}|~{3,})/.test(lines[index] ?? "")) rows.push(cells(take()).slice(0, header.length));
    out.push(...(mode === "code" ? asCode({ header, rows }) : asBullets({ header, rows })));
  }
  return out.join("\n");
}
