import type { SchemaNode } from "../model/shape.ts";
import type { CursorPlace } from "./position.ts";
import { listedValues, nodesAt } from "./schema-path.ts";
import type { Suggestion } from "./suggest.ts";
import type { Quote, TextTree, TreeNode } from "./tree.ts";

/** How a file is written. */
export interface TextStyle {
  readonly keyQuote: Quote;
  readonly textQuote: '"' | "'";
  readonly afterColon: string;
  /** The last member of an object has a comma as well. */
  readonly trailing: boolean;
  /** One step deeper. */
  readonly indent: string;
}

/** A replacement of one stretch of the text. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** Where the cursor stands afterwards. */
  readonly cursor: number;
  /** There is something to choose at the cursor now. */
  readonly again: boolean;
}

/** What is looked at to learn a style. */
const MOST_LOOKED_AT = 500;

interface Counts {
  left: number;
  readonly keys: Record<Quote, number>;
  readonly texts: Record<Quote, number>;
  tight: number;
  spaced: number;
  trailing: number;
  bare: number;
}

function count(text: string, node: TreeNode, counts: Counts): void {
  if (node.kind === "scalar") {
    if (node.quote !== "") counts.texts[node.quote] += 1;
    return;
  }
  const isLong = text.slice(node.start, Math.min(node.end, node.start + 2000)).includes("\n");
  const last = node.members.at(-1);
  // One that is being written says nothing about the others.
  if (last?.value && isLong && node.closed) counts[last.comma === undefined ? "bare" : "trailing"] += 1;
  for (const { key, colon, value } of node.members) {
    if ((counts.left -= 1) < 0) return;
    if (key && colon !== undefined) {
      counts.keys[key.quote] += 1;
      counts[text[colon + 1] === " " ? "spaced" : "tight"] += 1;
    }
    if (value) count(text, value, counts);
  }
}

/** The columns that one level has: those of the first line that is deeper than the one before it. */
function indentOf(text: string): string {
  const found = /^([ \t]*)(?:\S.*)?[{[][ \t]*\n([ \t]+)\S/m.exec(text.slice(0, 20_000));
  const [, above = "", below = "  "] = found ?? [];
  return below.startsWith(above) && below.length > above.length ? below.slice(above.length) : "  ";
}

/** The style of a text; that of JSON5 as it is documented where it has none. */
export function styleOf(text: string, { root }: TextTree): TextStyle {
  const counts: Counts = { left: MOST_LOOKED_AT, keys: { '"': 0, "'": 0, "": 0 }, texts: { '"': 0, "'": 0, "": 0 }, tight: 0, spaced: 0, trailing: 0, bare: 0 };
  if (root) count(text, root, counts);
  const { keys, texts, tight, spaced, trailing, bare } = counts;
  const keyQuote = keys['"'] > keys[""] && keys['"'] >= keys["'"] ? '"' : keys["'"] > keys[""] ? "'" : "";
  return {
    keyQuote,
    textQuote: texts["'"] > texts['"'] || (texts['"'] === 0 && keyQuote === "'") ? "'" : '"',
    afterColon: tight > spaced ? "" : " ",
    trailing: trailing > bare,
    indent: indentOf(text),
  };
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

function quoted(text: string, quote: '"' | "'"): string {
  const written = JSON.stringify(text);
  return quote === '"' ? written : `'${written.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function writtenKey(key: string, { keyQuote, textQuote }: TextStyle, own: Quote): string {
  if (own !== "") return quoted(key, own);
  if (keyQuote !== "") return quoted(key, keyQuote);
  return IDENTIFIER.test(key) ? key : quoted(key, textQuote);
}

/** A value's beginning, with `at` as the cursor in it. */
interface Beginning {
  readonly text: string;
  readonly at: number;
  readonly again: boolean;
}

/** The blanks that a line begins with. */
function lineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, start + 200))![0];
}

function opened(place: CursorPlace, text: string, style: TextStyle): Beginning {
  const { container } = place;
  const isOneLine = container && !text.slice(container.start, place.from).includes("\n") && container.start > 0;
  if (isOneLine) return { text: "{}", at: 1, again: true };
  const outer = lineIndent(text, place.from);
  const inner = `${outer}${style.indent}`;
  return { text: `{\n${inner}\n${outer}}`, at: 2 + inner.length, again: true };
}

const typesOf = (node: SchemaNode): readonly unknown[] => [node["type"] ?? (node["properties"] === undefined ? undefined : "object")].flat();

/** How the value of a new key begins: what its first type needs; nothing where it is to be chosen. */
function beginning(nodes: readonly SchemaNode[], place: CursorPlace, text: string, style: TextStyle): Beginning {
  const choice: Beginning = { text: "", at: 0, again: true };
  const node = nodes.find((one) => typesOf(one)[0] !== undefined || listedValues(one).length > 0);
  if (!node || nodes.some((one) => listedValues(one).length > 0 && one === node)) return choice;
  const [type] = typesOf(node);
  if (type === "string") return { text: style.textQuote.repeat(2), at: 1, again: true };
  if (type === "object") return opened(place, text, style);
  if (type === "array") return { text: "[]", at: 1, again: true };
  return choice;
}

function writtenValue(value: unknown, place: CursorPlace, text: string, style: TextStyle): Beginning {
  if (typeof value === "string") {
    const own = quoted(value, place.quote === "" ? style.textQuote : place.quote);
    return { text: own, at: own.length, again: false };
  }
  if (Array.isArray(value)) return { text: "[]", at: 1, again: true };
  if (typeof value === "object" && value !== null) return opened(place, text, style);
  const own = JSON.stringify(value);
  return { text: own, at: own.length, again: false };
}

/** What taking a suggestion does to the text: in the style of the file, with the commas and quotes that it needs. */
export function editFor(
  suggestion: Suggestion,
  place: CursorPlace,
  text: string,
  { tree, schema }: { readonly tree: TextTree; readonly schema: SchemaNode },
): TextEdit {
  const style = styleOf(text, tree);
  const { member, container, commaAt } = place;
  const isLong = container !== undefined && text.slice(container.start, place.from).includes("\n");
  const isNew = member?.value === undefined;
  const comma = member?.comma === undefined && (place.isFollowed || (isNew && style.trailing && isLong)) ? "," : "";
  const before = commaAt === undefined ? "" : `,${text.slice(commaAt, place.from) || " "}`;
  const from = commaAt ?? place.from;
  let head = "";
  let value: Beginning = { text: "", at: 0, again: false };
  if (suggestion.kind === "key") {
    head = writtenKey(suggestion.label, style, place.quote);
    if (member?.colon === undefined) {
      head += `:${style.afterColon}`;
      value = beginning(nodesAt(schema, suggestion.path), place, text, style);
    }
  } else value = writtenValue(suggestion.value, place, text, style);
  // A key that has its value already gets no comma: whatever follows has one, or has to be looked at.
  const after = member?.colon !== undefined && suggestion.kind === "key" ? "" : comma;
  return { from, to: place.to, text: `${before}${head}${value.text}${after}`, cursor: from + before.length + head.length + value.at, again: value.again };
}
