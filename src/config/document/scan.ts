import { SyntaxProblem } from "./syntax.ts";

const ID_START = /[\p{L}\p{Nl}$_]/u;
const ID_PART = /[\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$_\u200C\u200D]/u;
const NUMBER = /[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN|(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)/y;
const SPACE = /\p{Zs}/u;
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "0": "\0" };

/** Offset of the first character at or after `from` that is neither blank nor comment. */
export function skipBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) at += 1;
    else if (code === 0x2f) {
      const end = commentEnd(text, at);
      if (end === undefined) return at;
      at = end;
    } else if (code >= 0x80 && isWideBlank(text.charAt(at))) at += 1;
    else return at;
  }
}

function isWideBlank(char: string): boolean {
  return char === "\u2028" || char === "\u2029" || char === "\uFEFF" || SPACE.test(char);
}

/** End of the comment that starts at `at`; undefined when none does. A line comment ends before its line break. */
export function commentEnd(text: string, at: number): number | undefined {
  if (text[at + 1] === "/") {
    const newline = text.indexOf("\n", at);
    const line = text.slice(at, newline < 0 ? text.length : newline);
    const other = line.search(/[\r\u2028\u2029]/);
    return at + (other < 0 ? line.length : other);
  }
  if (text[at + 1] !== "*") return undefined;
  const close = text.indexOf("*/", at + 2);
  if (close < 0) throw new SyntaxProblem(at, "a comment that is never closed", "*/");
  return close + 2;
}

export function isLineBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x2028 || code === 0x2029;
}

/** How a character is named in a message. */
export function nameOf(text: string, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) return "end of input";
  const char = String.fromCodePoint(code);
  return /[\p{C}\p{Z}]/u.test(char) ? `character U+${code.toString(16).toUpperCase().padStart(4, "0")}` : `character '${char}'`;
}

export function unexpected(text: string, at: number, expected: string): SyntaxProblem {
  return new SyntaxProblem(at, `invalid ${nameOf(text, at)}`, expected);
}

interface Scanned<T> {
  readonly value: T;
  readonly end: number;
}

/** Reads the quoted string that starts at `start`. */
export function scanString(text: string, start: number): Scanned<string> {
  const quote = text.charAt(start);
  const close = text.indexOf(quote, start + 1);
  const plain = text.slice(start + 1, Math.max(close, 0));
  if (close > 0 && !plain.includes("\\") && !plain.includes("\n") && !plain.includes("\r")) return { value: plain, end: close + 1 };
  return scanEscapedString(text, start, quote);
}

function scanEscapedString(text: string, start: number, quote: string): Scanned<string> {
  let value = "";
  for (let at = start + 1; ;) {
    const char = text[at];
    if (char === undefined) throw new SyntaxProblem(start, "a string that is never closed", `a closing ${quote}`);
    if (char === quote) return { value, end: at + 1 };
    if (char === "\n" || char === "\r") throw new SyntaxProblem(start, "a string that is not closed on its line", `a closing ${quote}`);
    if (char === "\\") {
      const escape = scanEscape(text, at);
      value += escape.value;
      at = escape.end;
    } else {
      value += char;
      at += 1;
    }
  }
}

function scanEscape(text: string, at: number): Scanned<string> {
  const char = text[at + 1];
  if (char === undefined) throw unexpected(text, at + 1, "the rest of an escape");
  if (char === "u") return { value: hexAt(text, at + 2, 4), end: at + 6 };
  if (char === "x") return { value: hexAt(text, at + 2, 2), end: at + 4 };
  if (char === "\r" && text[at + 2] === "\n") return { value: "", end: at + 3 };
  if (isLineBreak(char.charCodeAt(0))) return { value: "", end: at + 2 };
  if (/[1-9]/.test(char) || (char === "0" && /[0-9]/.test(text[at + 2] ?? ""))) throw unexpected(text, at + 1, "an escape that JSON5 knows");
  return { value: SIMPLE_ESCAPES[char] ?? char, end: at + 2 };
}

function hexAt(text: string, at: number, digits: number): string {
  const hex = text.slice(at, at + digits);
  if (!/^[0-9a-fA-F]+$/.test(hex) || hex.length !== digits) throw unexpected(text, at, `${digits} hexadecimal digits`);
  return String.fromCharCode(Number.parseInt(hex, 16));
}

/** Letters, `$` and `_`; with `digits`, those too. */
function isAsciiWord(code: number, digits: boolean): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code === 0x24 || (digits && code >= 0x30 && code <= 0x39);
}

/** Reads an unquoted key; undefined when none starts there. */
export function scanIdentifier(text: string, start: number): Scanned<string> | undefined {
  let at = start;
  while (isAsciiWord(text.charCodeAt(at), at > start)) at += 1;
  const code = text.charCodeAt(at);
  // Beyond ASCII, and for escapes, the Unicode tables are needed; they are slow to load and most files never ask for them.
  if (code >= 0x80 || code === 0x5c) return scanWideIdentifier(text, start);
  return at === start ? undefined : { value: text.slice(start, at), end: at };
}

function scanWideIdentifier(text: string, start: number): Scanned<string> | undefined {
  let value = "";
  for (let at = start; ;) {
    const code = text.codePointAt(at);
    if (code === undefined) return value === "" ? undefined : { value, end: at };
    let char = String.fromCodePoint(code);
    let end = at + char.length;
    if (char === "\\" && text[at + 1] === "u") {
      char = hexAt(text, at + 2, 4);
      end = at + 6;
    }
    if (!(value === "" ? ID_START : ID_PART).test(char)) return value === "" ? undefined : { value, end: at };
    value += char;
    at = end;
  }
}

/** Reads a number; undefined when none starts there. */
export function scanNumber(text: string, start: number): Scanned<number> | undefined {
  const code = text.charCodeAt(start);
  // Digits, signs, a dot, or the words Infinity and NaN.
  if (!(code >= 0x30 && code <= 0x39) && code !== 0x2d && code !== 0x2b && code !== 0x2e && code !== 0x49 && code !== 0x4e) return undefined;
  NUMBER.lastIndex = start;
  const found = NUMBER.exec(text)?.[0];
  if (!found) return undefined;
  const end = start + found.length;
  const next = text.charCodeAt(end);
  if (isAsciiWord(next, true) || next === 0x2e || (next >= 0x80 && ID_START.test(text.charAt(end)))) throw unexpected(text, end, "the end of the number");
  const digits = found.replace(/^[+-]/, "");
  const value = Number(digits);
  return { value: found.startsWith("-") ? -value : value, end };
}
