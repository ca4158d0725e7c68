import { scanIdentifier, scanNumber, scanString, skipBlank, unexpected } from "./scan.ts";
import { FORBIDDEN_KEY, SyntaxProblem, type ContainerNode, type Element, type Scalar, type SyntaxNode, type SyntaxRemark } from "./syntax.ts";

/** Deeper nesting is refused before it can exhaust the stack of anyone who walks the value. */
export const MAX_NESTING = 200;

const WORDS: readonly (readonly [string, Scalar])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

/** Parses JSON5. Throws `SyntaxProblem` for a text that is not. */
export function parseTree(text: string): SyntaxNode {
  const start = skipBlank(text, 0);
  if (start >= text.length) throw new SyntaxProblem(start, "invalid end of input", "a value; the text is empty");
  const root = parseNode(text, start, 1);
  const rest = skipBlank(text, root.end);
  if (rest < text.length) throw unexpected(text, rest, "the end of the text");
  return root;
}

function parseNode(text: string, start: number, depth: number): SyntaxNode {
  const char = text[start];
  if (char === "{" || char === "[") return parseContainer(text, start, depth);
  if (char === '"' || char === "'") {
    const found = scanString(text, start);
    return { kind: "scalar", start, end: found.end, value: found.value };
  }
  const number = scanNumber(text, start);
  if (number) return { kind: "scalar", start, end: number.end, value: number.value };
  const word = scanIdentifier(text, start);
  const known = word && WORDS.find(([name]) => name === word.value);
  if (word && known) return { kind: "scalar", start, end: word.end, value: known[1] };
  throw unexpected(text, start, "a value (text needs quotes)");
}

function parseContainer(text: string, start: number, depth: number): ContainerNode {
  if (depth > MAX_NESTING) throw new SyntaxProblem(start, `nested deeper than ${MAX_NESTING} levels`, "a flatter structure");
  const isObject = text[start] === "{";
  const close = isObject ? "}" : "]";
  const container: ContainerNode = { kind: isObject ? "object" : "array", start, end: start, elements: [] };
  for (let at = skipBlank(text, start + 1); ; at = skipBlank(text, at)) {
    if (text[at] === close) {
      container.end = at + 1;
      return container;
    }
    const last = container.elements.at(-1);
    if (last && last.comma === undefined) throw unexpected(text, at, `a comma or '${close}'`);
    const element = isObject ? parseMember(text, at, depth) : parseItem(text, at, depth);
    container.elements.push(element);
    at = skipBlank(text, element.node.end);
    if (text[at] === ",") {
      element.comma = at;
      at += 1;
    }
  }
}

function parseItem(text: string, start: number, depth: number): Element {
  if (start >= text.length) throw unexpected(text, start, "an item or ']'");
  return { key: undefined, start, node: parseNode(text, start, depth + 1), comma: undefined };
}

function parseMember(text: string, start: number, depth: number): Element {
  const quoted = text[start] === '"' || text[start] === "'";
  const key = quoted ? scanString(text, start) : scanIdentifier(text, start);
  if (!key) throw unexpected(text, start, "a key or '}'");
  const colon = skipBlank(text, key.end);
  if (text[colon] !== ":") throw unexpected(text, colon, `':' after the key "${key.value}"`);
  const at = skipBlank(text, colon + 1);
  if (at >= text.length) throw unexpected(text, at, `a value for "${key.value}"`);
  return { key: key.value, start, node: parseNode(text, at, depth + 1), comma: undefined };
}

/** More remarks than a reader takes in are not made. */
const MAX_REMARKS = 100;

/** The value a tree stands for, with remarks on keys that were left out or overwritten. */
export function evaluate(node: SyntaxNode, remarks: SyntaxRemark[], path: (string | number)[] = []): unknown {
  if (node.kind === "scalar") return node.value;
  // One path for the whole walk: it grows on the way down and shrinks on the way up.
  const depth = path.length;
  if (node.kind === "array") {
    const items = node.elements.map((item, index) => {
      path[depth] = index;
      return evaluate(item.node, remarks, path);
    });
    path.length = depth;
    return items;
  }
  const value: Record<string, unknown> = {};
  for (const { key = "", start, node: child } of node.elements) {
    path.length = depth;
    if (key === FORBIDDEN_KEY) {
      remark(remarks, { code: "forbidden_key", offset: start, path: [...path], message: `key "${key}" is ignored: it can never be a setting` });
      continue;
    }
    path.push(key);
    if (Object.hasOwn(value, key)) {
      remark(remarks, { code: "duplicate_key", offset: start, path: [...path], message: `key "${key}" is defined twice; the last one is used` });
    }
    value[key] = evaluate(child, remarks, path);
  }
  path.length = depth;
  return value;
}

function remark(remarks: SyntaxRemark[], made: SyntaxRemark): void {
  if (remarks.length < MAX_REMARKS) remarks.push(made);
}
