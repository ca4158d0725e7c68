import { isObject, sameValue } from "../value.ts";
import { parseDocument, type ConfigDocument } from "./document.ts";
import { linesOf, type Lines } from "./lines.ts";
import { evaluate } from "./parse.ts";
import { commentEnd } from "./scan.ts";
import { isMultiline, styleOf, type Style } from "./style.ts";
import { FORBIDDEN_KEY, type ContainerNode, type Element, type SyntaxNode } from "./syntax.ts";

const BARE_KEY = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** A key as the text around it writes keys. */
function printKey(key: string, style: Style): string {
  return style.bareKeys && BARE_KEY.test(key) ? key : printString(key, style.keyQuote);
}

function printString(value: string, quote: '"' | "'"): string {
  // JSON leaves U+2028 and U+2029 as they are; escaped, no editor mistakes them for line breaks.
  const json = JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  if (quote === '"') return json;
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A value over several lines, its first line without indentation. `indent` is that of the line it starts on. */
function printBlock(value: unknown, style: Style, indent: string): string {
  const entries = entriesOf(value);
  if (!entries || entries.length === 0) return printInline(value, style);
  const inner = indent + style.indent;
  const lines = entries.map(([key, child]) => `${inner}${key === undefined ? "" : `${printKey(key, style)}: `}${printBlock(child, style, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return [open, `${lines.join(`,${style.newline}`)}${style.trailingComma ? "," : ""}`, `${indent}${close}`].join(style.newline);
}

/** A value on one line. */
function printInline(value: unknown, style: Style): string {
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

interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The text of `document` changed so that it parses to `value`. Only what must change does: comments outside replaced or removed values,
 * order, quoting, indentation and trailing commas stay. New keys come last in their object.
 */
export function rewriteDocument(document: ConfigDocument, value: unknown): string {
  const { text, root } = document;
  const lines = linesOf(text);
  const style = styleOf(text, lines, root);
  if (!root) return `${printBlock(value, style, "")}${style.newline}`;
  const changes: Change[] = [];
  // A file on one line stays on one line; `{}` alone is no evidence of that.
  const trimmed = text.trim();
  const onOneLine = trimmed.length > 2 && !/[\r\n]/.test(trimmed);
  reconcile({ text, lines, style, onOneLine, changes }, root, value);
  return applied(text, changes);
}

/** The same for a bare text. */
export function rewriteText(text: string, value: unknown): string {
  return rewriteDocument(parseDocument(text), value);
}

interface Edit {
  readonly text: string;
  readonly lines: Lines;
  readonly style: Style;
  readonly onOneLine: boolean;
  readonly changes: Change[];
}

function applied(text: string, changes: readonly Change[]): string {
  const sorted = changes.map((change, order) => ({ ...change, order })).sort((a, b) => a.start - b.start || a.end - b.end || a.order - b.order);
  let result = "";
  let at = 0;
  for (const change of sorted) {
    result += text.slice(at, Math.max(at, change.start)) + change.text;
    at = Math.max(at, change.end);
  }
  return result + text.slice(at);
}

function reconcile(edit: Edit, node: SyntaxNode, value: unknown): void {
  if (sameValue(evaluate(node, []), value)) return;
  if (node.kind === "scalar" || isBare(edit.text, node)) replace(edit, node, value);
  else if (node.kind === "array" && Array.isArray(value)) reconcileItems(edit, node, value);
  else if (node.kind === "object" && isObject(value)) reconcileMembers(edit, node, value);
  else replace(edit, node, value);
}

/** True for `{}` and `[]` with nothing but blanks inside. */
function isBare(text: string, node: ContainerNode): boolean {
  return node.elements.length === 0 && text.slice(node.start + 1, node.end - 1).trim() === "";
}

function replace(edit: Edit, node: SyntaxNode, value: unknown): void {
  const { text, lines, style, onOneLine } = edit;
  const quote = text[node.start];
  const own: Style = typeof value === "string" && (quote === '"' || quote === "'") ? { ...style, quote } : style;
  edit.changes.push({ start: node.start, end: node.end, text: onOneLine ? printInline(value, own) : printBlock(value, own, lines.indent(node.start)) });
}

function reconcileMembers(edit: Edit, node: ContainerNode, value: Record<string, unknown>): void {
  const holding = new Map(node.elements.map((element) => [element.key ?? "", element]));
  holding.delete(FORBIDDEN_KEY);
  const isGone = (key: string): boolean => !Object.hasOwn(value, key) || value[key] === undefined;
  const removed = new Set(node.elements.filter((element) => element.key !== FORBIDDEN_KEY && isGone(element.key ?? "")));
  for (const [key, element] of holding) if (!isGone(key)) reconcile(edit, element.node, value[key]);
  const added = Object.entries(value).filter(([key, child]) => child !== undefined && key !== FORBIDDEN_KEY && !holding.has(key));
  reshape(
    edit,
    node,
    removed,
    node.elements.findLast((element) => !removed.has(element)),
    added,
  );
}

/** Keeps equal items at both ends, edits those in between pairwise, and adds or removes the difference in length behind them. */
function reconcileItems(edit: Edit, node: ContainerNode, value: readonly unknown[]): void {
  const old = node.elements.map((element) => evaluate(element.node, []));
  const shorter = Math.min(old.length, value.length);
  let head = 0;
  while (head < shorter && sameValue(old[head], value[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && sameValue(old[old.length - 1 - tail], value[value.length - 1 - tail])) tail += 1;
  const paired = shorter - head - tail;
  for (const [index, element] of node.elements.slice(head, head + paired).entries()) reconcile(edit, element.node, value[head + index]);
  const removed = new Set(node.elements.slice(head + paired, old.length - tail));
  const added = value.slice(head + paired, value.length - tail).map((item) => [undefined, item] as const);
  reshape(edit, node, removed, node.elements[head + paired - 1], added);
}

type Added = readonly (readonly [string | undefined, unknown])[];

/** Takes elements out of a container and puts new ones behind `anchor` (undefined: at its start). */
function reshape(edit: Edit, node: ContainerNode, removed: ReadonlySet<Element>, anchor: Element | undefined, added: Added): void {
  for (const element of removed) remove(edit, element);
  const survivors = node.elements.filter((element) => !removed.has(element));
  const trailed = node.elements.at(-1)?.comma !== undefined;
  if (added.length > 0) insert(edit, node, { anchor, added, commaAtEnd: survivors.at(-1) !== anchor || (node.elements.length > 0 && trailed) });
  const last = survivors.at(-1);
  // A text without trailing commas gets none because its last element went.
  if (added.length === 0 && last?.comma !== undefined && !trailed) edit.changes.push({ start: last.comma, end: last.comma + 1, text: "" });
}

function insert(edit: Edit, node: ContainerNode, what: { anchor: Element | undefined; added: Added; commaAtEnd: boolean }): void {
  const { text, lines, style, changes } = edit;
  const { anchor, added } = what;
  const multiline = isMultiline(text, node);
  const sibling = node.elements.find((element) => lines.isFirst(element.start));
  const indent = sibling ? lines.indent(sibling.start) : lines.indent(node.start) + style.indent;
  const local = siblingStyle(text, node, style);
  const texts = added.map(([key, value]) => {
    const prefix = key === undefined ? "" : `${printKey(key, local)}: `;
    return prefix + (multiline ? printBlock(value, style, indent) : printInline(value, style));
  });
  const glue = multiline ? style.newline + indent : " ";
  const body = glue + texts.join(`,${glue}`) + (what.commaAtEnd ? "," : "");
  if (anchor && anchor.comma === undefined) changes.push({ start: anchor.node.end, end: anchor.node.end, text: "," });
  const behind = anchor ? (anchor.comma ?? anchor.node.end - 1) + 1 : node.start + 1;
  const at = multiline && anchor ? behindRemarks(text, behind) : behind;
  const pad = !multiline && node.kind === "object" && !anchor && !/\s/.test(text[behind] ?? "") ? " " : "";
  changes.push({ start: at, end: at, text: !multiline && node.kind === "array" && !anchor ? body.trimStart() : body + pad });
}

/** Keys follow their siblings where those agree on quoting, the whole text otherwise. */
function siblingStyle(text: string, node: ContainerNode, style: Style): Style {
  const marks = new Set(node.elements.map((element) => (text[element.start] === '"' || text[element.start] === "'" ? text[element.start] : "bare")));
  if (marks.size !== 1) return style;
  const [mark] = marks;
  return mark === "bare" ? { ...style, bareKeys: true } : { ...style, bareKeys: false, keyQuote: mark === "'" ? "'" : '"' };
}

/** Behind the blanks and comments that end on the same line. */
function behindRemarks(text: string, from: number): number {
  let end = from;
  for (let at = from; ;) {
    while (text[at] === " " || text[at] === "\t") at += 1;
    const close = text[at] === "/" ? commentEnd(text, at) : undefined;
    if (close === undefined || /[\r\n]/.test(text.slice(at, close))) return end;
    at = end = close;
  }
}

/** Takes out an element and its comma, and its line where nothing else is left on it. */
function remove(edit: Edit, element: Element): void {
  const { text, lines, changes } = edit;
  let end = element.node.end;
  if (element.comma !== undefined) {
    if (text.slice(end, element.comma).trim() === "") end = element.comma + 1;
    else changes.push({ start: element.comma, end: element.comma + 1, text: "" });
  }
  const [rest = "", lineBreak] = /^[ \t]*(\r\n|\n|\r)?/.exec(text.slice(end)) ?? [];
  if (lines.isFirst(element.start) && lineBreak !== undefined) changes.push({ start: lines.start(element.start), end: end + rest.length, text: "" });
  else changes.push({ start: element.start, end: end + (lineBreak === undefined ? rest.length : 0), text: "" });
}
