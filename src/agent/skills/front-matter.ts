import { parsePlain, unescapeDouble } from "./flow-value.ts";
import { BLANK, blockText, continuedText, flowValue, quotedText, type Line, type Reader } from "./front-matter-values.ts";

export interface FrontMatter {
  readonly fields: Readonly<Record<string, unknown>>;
  /** What could not be understood, with its line in the file. The rest stands. */
  readonly problems: readonly string[];
}

const ENTRY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#[\]{},&*!|>%@`-][^#]*?|-[^\s:#][^:#]*?)\s*:$/;
const ITEM = /^-(?:\s|$)/;

/**
 * The fields between the `---` lines at the beginning of a text: the part of YAML that people use there (maps, lists, quoted and block
 * texts), with JSON5 for what stands in braces. Undefined when there is no such block. Not a YAML library: skills in use have `: ` in plain texts and comments
 * in JSON, which YAML forbids, and one broken line must not cost the other fields.
 */
export function parseFrontMatter(text: string): FrontMatter | undefined {
  const all = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (all[0]?.trimEnd() !== "---") return undefined;
  const end = all.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (end < 0) return undefined;
  const lines = all.slice(1, end).map((line, index): Line => {
    const spaced = line.replaceAll("\t", "  ").trimEnd();
    return { number: index + 2, indent: spaced.length - spaced.trimStart().length, text: spaced.trimStart() };
  });
  const reader: Reader = { lines, at: 0, problems: [] };
  return { fields: readMap(reader, nextLine(reader)?.indent ?? 0), problems: reader.problems };
}

/** The next line with content. */
function nextLine(reader: Reader): Line | undefined {
  for (let line = reader.lines[reader.at]; line && BLANK.test(line.text); line = reader.lines[reader.at]) reader.at += 1;
  return reader.lines[reader.at];
}

/** The entries that stand at `indent`. */
function readMap(reader: Reader, indent: number): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (let line = nextLine(reader); line && line.indent >= indent; line = nextLine(reader)) {
    const key = line.indent === indent ? keyOf(line.text) : undefined;
    reader.at += 1;
    if (key) entries.push([key.name, readValue(reader, line, line.text.slice(key.length), indent, true)]);
    else reader.problems.push(`line ${line.number}: expected "key: value"`);
  }
  return Object.fromEntries(entries);
}

function readList(reader: Reader, indent: number): unknown[] {
  const items: unknown[] = [];
  for (let line = nextLine(reader); line && line.indent === indent && ITEM.test(line.text); line = nextLine(reader)) {
    const text = line.text.slice(1).trimStart();
    if (keyOf(text) && !/^["'[{]/.test(text)) {
      // The item is a map whose first entry stands behind the dash.
      const inner = indent + line.text.length - text.length;
      reader.lines[reader.at] = { ...line, indent: inner, text };
      items.push(readMap(reader, inner));
    } else {
      reader.at += 1;
      items.push(readValue(reader, line, text, indent, false));
    }
  }
  return items;
}

/** What stands behind a key or a dash on `line`, and below it. */
function readValue(reader: Reader, line: Line, rest: string, indent: number, inMap: boolean): unknown {
  const text = rest.trim();
  if (BLANK.test(text)) return readBelow(reader, indent, inMap);
  if (/^[|>][-+0-9]*(?:\s+#.*)?$/.test(text)) return blockText(reader, text, indent);
  if (/^[[{]/.test(text)) return flowValue(reader, line, text);
  if (/^["']/.test(text)) return quotedText(reader, text, indent);
  return parsePlain(continuedText(reader, text.replace(/\s+#.*$/, ""), indent));
}

function readBelow(reader: Reader, indent: number, inMap: boolean): unknown {
  const next = nextLine(reader);
  if (!next) return null;
  if (ITEM.test(next.text) && (next.indent > indent || (inMap && next.indent === indent))) return readList(reader, next.indent);
  if (next.indent <= indent) return null;
  if (/^[[{]/.test(next.text)) {
    reader.at += 1;
    return flowValue(reader, next, next.text);
  }
  return keyOf(next.text) ? readMap(reader, next.indent) : parsePlain(continuedText(reader, "", indent));
}

/** The key that a line begins with, and its length with the colon. It ends at the first colon: `a: b: c` is the entry `a`. */
function keyOf(text: string): { readonly name: string; readonly length: number } | undefined {
  const quoted = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*:(?=\s|$)/.exec(text);
  const colon = quoted ? quoted[0].length - 1 : text.search(/:(?:\s|$)/);
  const written = colon < 0 ? undefined : ENTRY.exec(text.slice(0, colon + 1))?.[1];
  return written === undefined ? undefined : { name: nameOf(written), length: colon + 1 };
}

function nameOf(written: string): string {
  if (written.startsWith('"')) return unescapeDouble(written.slice(1, -1));
  return written.startsWith("'") ? written.slice(1, -1).replaceAll("''", "'") : written.trim();
}
