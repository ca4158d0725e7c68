import { SyntaxProblem } from "./syntax.ts";

const ID_START = /[\p{L}\p{Nl}$_]/u;
const ID_PART = /[\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$_\u200C\u200D]/u;
const NUMBER = /[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN|(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)/y;
const WORD_AFTER_NUMBER = /[\p{L}\p{Nl}$_0-9.]/u;
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
    } else if (code >= 0x80 && isWideBlank(text[at]!)) at += 1;
    else return at;
  }
}

function isWideBlank(char: string): boolean {
  return char === "\u2028" || char === "\u2029" || char === "\uFEFF" || SPACE.test(char);
}

/** End of the comment that starts at `at`; undefined when none does. A line comment ends before its line break. */
export function commentEnd(text: string, at: number): number | undefined {
  if (text[at + 1] === "/") {
    let end = at + 2;
    while (end < text.length && !isLineBreak(text.charCodeAt(end))) end += 1;
    return end;
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
  if (at >= text.length) return "end of input";
  const char = String.fromCodePoint(text.codePointAt(at)!);
  return /[\p{C}\p{Z}]/u.test(char) ? `character U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}` : `character '${char}'`;
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
  const quote = text.charCodeAt(start);
  let value = "";
  let from = start + 1;
  for (let at = from; ; ) {
    const code = text.charCodeAt(at);
    if (Number.isNaN(code)) throw new SyntaxProblem(start, "a string that is never closed", `a closing ${text[start]}`);
    if (code === quote) return { value: value + text.slice(from, at), end: at + 1 };
    if (code === 0x0a || code === 0x0d) throw new SyntaxProblem(start, "a string that is not closed on its line", `a closing ${text[start]}`);
    if (code === 0x5c) {
      const escape = scanEscape(text, at);
      value += text.slice(from, at) + escape.value;
      at = from = escape.end;
    } else at += 1;
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

/** Reads an unquoted key; undefined when none starts there. */
export function scanIdentifier(text: string, start: number): Scanned<string> | undefined {
  let value = "";
  for (let at = start; ; ) {
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
  NUMBER.lastIndex = start;
  const found = NUMBER.exec(text)?.[0];
  if (!found) return undefined;
  const end = start + found.length;
  if (WORD_AFTER_NUMBER.test(text[end] ?? " ")) throw unexpected(text, end, "the end of the number");
  const digits = found.replace(/^[+-]/, "");
  const value = Number(digits);
  return { value: found.startsWith("-") ? -value : value, end };
}
