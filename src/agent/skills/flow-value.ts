import { parseDocument } from "../../config/index.ts";

/** A value in braces or brackets: JSON5, or the flow style of YAML, in which texts need no quotation marks. Undefined when it is neither. */
export function parseFlow(text: string): unknown {
  const document = parseDocument(text);
  return document.root === undefined ? parseLoose(text) : document.value;
}

const MAX_DEPTH = 32;
const TOKEN = /\s*(?:([[\]{},:])|"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s[\]{},:"'](?:[^[\]{},:\n]|:(?!\s))*))/y;

type Token = { readonly mark: string } | { readonly value: unknown };

function parseLoose(text: string): unknown {
  const tokens = tokensOf(text);
  return tokens && readTokens(tokens);
}

function readTokens(tokens: readonly Token[]): unknown {
  let at = 0;
  const isMark = (mark: string): boolean => {
    const token = tokens[at];
    return token !== undefined && "mark" in token && token.mark === mark;
  };
  const take = (mark: string): boolean => isMark(mark) && (at += 1) > 0;

  /** Undefined says that the text is malformed; a missing value in a map is null. */
  function value(depth: number): unknown {
    if (depth > MAX_DEPTH) return undefined;
    if (take("[")) return items(depth);
    if (take("{")) return members(depth);
    const token = tokens[at];
    if (token === undefined || "mark" in token) return undefined;
    at += 1;
    return token.value;
  }

  function items(depth: number): unknown[] | undefined {
    const all: unknown[] = [];
    while (!take("]")) {
      const item = value(depth + 1);
      if (item === undefined || !(take(",") || isMark("]"))) return undefined;
      all.push(item);
    }
    return all;
  }

  function members(depth: number): Record<string, unknown> | undefined {
    const all: [string, unknown][] = [];
    while (!take("}")) {
      const key = value(depth + 1);
      if ((typeof key !== "string" && typeof key !== "number") || !take(":")) return undefined;
      const member = isMark(",") || isMark("}") ? null : value(depth + 1);
      if (member === undefined || !(take(",") || isMark("}"))) return undefined;
      all.push([String(key), member]);
    }
    return Object.fromEntries(all);
  }

  const result = value(0);
  return at === tokens.length ? result : undefined;
}

function tokensOf(text: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  const pattern = new RegExp(TOKEN);
  while (pattern.lastIndex < end) {
    const found = pattern.exec(text);
    if (!found) return undefined;
    const [, mark, double, single, plain = ""] = found;
    if (mark !== undefined) tokens.push({ mark });
    else if (double !== undefined) tokens.push({ value: unescapeDouble(double) });
    else if (single !== undefined) tokens.push({ value: single.replaceAll("''", "'") });
    else tokens.push({ value: parsePlain(plain.trim()) });
  }
  return tokens;
}

/** The text between double quotation marks, with its escapes resolved where they are JSON's. */
export function unescapeDouble(inner: string): string {
  try {
    return String(JSON.parse(`"${inner.replaceAll("\n", "\\n")}"`));
  } catch {
    return inner;
  }
}

/** A text without quotation marks: what looks like a number, a truth value or nothing is one. */
export function parsePlain(text: string): string | number | boolean | null {
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^(?:null|Null|NULL|~|)$/.test(text)) return null;
  return /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : text;
}
