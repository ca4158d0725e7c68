/** Characters of a label that mean something to the renderer stand in the private use area while it works. */
const BASE = 0xe000;
const SPECIAL = /[[\](){}|"<>&\\/]/g;
const HIDDEN = /[\ue000-\ue07f]/g;

const NAMED: Readonly<Record<string, string>> = { quot: '"', amp: "&", lt: "<", gt: ">", apos: "'", nbsp: " " };

function decoded(whole: string, name: string): string {
  const named = NAMED[name.toLowerCase()];
  if (named !== undefined) return named;
  const digits = /^#?(\d{1,7})$/.exec(name)?.[1] ?? /^#x([\da-f]{1,6})$/i.exec(name)?.[1];
  if (digits === undefined) return whole;
  const code = Number.parseInt(digits, /^#x/i.test(name) ? 16 : 10);
  return code >= 32 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
}

/** Characters written as `&lt;`, `&#35;` or, as Mermaid has it, `#lt;` and `#35;`. */
const unescaped = (text: string): string =>
  text.replaceAll(/&(#?\w{1,8});|#(\w{1,8});/g, (whole, html?: string, own?: string) => decoded(whole, html ?? own ?? ""));

/** What the renderer draws as a new line or another font. */
const FORMAT = /(<br\s*\/?>|<\/?(?:b|strong|i|em|u|s|del)>|\n)/i;
/** HTML that Mermaid would lay out. What else stands between `<` and `>` is text. */
const OTHER_TAG =
  /<\/?(?:span|div|p|font|a|img|code|pre|sub|sup|small|big|mark|center|h[1-6]|[uo]l|li|table|t[rdh]|script|style|svg|iframe|input|button)\b[^<>]{0,200}>/gi;

/** Removes what only this module may write. */
export const withoutHidden = (text: string): string => text.replaceAll(HIDDEN, "");

/** A label as the renderer is given it: nothing in it can be taken for syntax. */
export function hidden(label: string): string {
  const plain = label.trim().replace(/^`([\s\S]*)`$/, "$1");
  return plain
    .replaceAll(/\\n/g, "\n")
    .split(FORMAT)
    .map((part, at) => {
      if (at % 2 === 1) return part.startsWith("\n") || /^<br/i.test(part) ? "<br>" : part.toLowerCase();
      return unescaped(part.replaceAll(OTHER_TAG, "")).replaceAll(SPECIAL, (letter) => String.fromCharCode(BASE + letter.charCodeAt(0)));
    })
    .join("")
    .replaceAll(/\s+/g, " ")
    .trim();
}

const XML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** What was hidden, as XML text. */
export const shownAgain = (text: string): string =>
  text.replaceAll(HIDDEN, (letter) => {
    const plain = String.fromCharCode(letter.charCodeAt(0) - BASE);
    return XML[plain] ?? plain;
  });
