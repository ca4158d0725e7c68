import { AppError } from "../../base/errors.ts";

const ESC = "\x1b";

/** Keys whose bytes no modifier changes in form. */
const PLAIN: Readonly<Record<string, string>> = {
  enter: "\r",
  return: "\r",
  cr: "\r",
  tab: "\t",
  escape: ESC,
  esc: ESC,
  space: " ",
  bspace: "\x7f",
  backspace: "\x7f",
};

/** Last character of `ESC [ x`; with modifiers `ESC [ 1 ; m x`. */
const LETTERS: Readonly<Record<string, string>> = { up: "A", down: "B", right: "C", left: "D", home: "H", end: "F" };

/** Number of `ESC [ n ~`; with modifiers `ESC [ n ; m ~`. */
const NUMBERS: Readonly<Record<string, number>> = {
  insert: 2,
  ic: 2,
  delete: 3,
  dc: 3,
  pageup: 5,
  pgup: 5,
  ppage: 5,
  pagedown: 6,
  pgdn: 6,
  npage: 6,
  f5: 15,
  f6: 17,
  f7: 18,
  f8: 19,
  f9: 20,
  f10: 21,
  f11: 23,
  f12: 24,
};

/** Last character of `ESC O x`; with modifiers as for letters. */
const FUNCTIONS: Readonly<Record<string, string>> = { f1: "P", f2: "Q", f3: "R", f4: "S" };

/** Of the number pad, in application mode: `ESC O x`. */
const PAD: Readonly<Record<string, string>> = {
  kp0: "p",
  kp1: "q",
  kp2: "r",
  kp3: "s",
  kp4: "t",
  kp5: "u",
  kp6: "v",
  kp7: "w",
  kp8: "x",
  kp9: "y",
  "kp*": "j",
  "kp+": "k",
  "kp,": "l",
  "kp-": "m",
  "kp.": "n",
  "kp/": "o",
  kpenter: "M",
};

interface Modifiers {
  readonly control: boolean;
  readonly meta: boolean;
  readonly shift: boolean;
}

export interface KeyInput {
  readonly literal?: string | undefined;
  /** Bytes, each as two digits; several may stand in one text. */
  readonly hex?: readonly string[] | undefined;
  readonly keys?: readonly string[] | undefined;
}

/** What a terminal sends for them: first the text, then the bytes, then the keys. Throws for what is no byte and no key. */
export function keyBytes({ literal = "", hex = [], keys = [] }: KeyInput): Buffer {
  return Buffer.concat([Buffer.from(literal), ...hex.map(bytesOf), ...keys.map((token) => Buffer.from(keySequence(token)))]);
}

function bytesOf(written: string): Buffer {
  const digits = written.replace(/0x|[\s,]/gi, "");
  if (digits === "" || !/^(?:[0-9a-f]{2})+$/i.test(digits)) {
    throw new AppError("INVALID_INPUT", `hex has ${JSON.stringify(written)}; expected bytes of two digits, such as "1b" or "0d 0a"`);
  }
  return Buffer.from(digits, "hex");
}

/** `Enter`, `C-c`, `M-x`, `S-Tab`, `^C`, `C-Left`, or one character. */
export function keySequence(token: string): string {
  const [, prefixes = "", named = ""] = /^((?:[CMS]-)*)([^]*)$/i.exec(token) ?? [];
  const caret = /^\^[^]$/u.test(named);
  const key = caret ? named.slice(1) : named;
  const has = (letter: string): boolean => prefixes.toUpperCase().includes(`${letter}-`);
  const found = sequence(key, { control: caret || has("C"), meta: has("M"), shift: has("S") });
  if (found !== undefined) return found;
  throw new AppError(
    "INVALID_INPUT",
    `${JSON.stringify(token)} is not a key; keys are names such as Enter, Tab, Escape, Up, PageDown, F5, with C-, M- or S-, and ^C; put text into literal`,
  );
}

function sequence(key: string, modifiers: Modifiers): string | undefined {
  const name = key.toLowerCase();
  const held = 1 + (modifiers.shift ? 1 : 0) + (modifiers.meta ? 2 : 0) + (modifiers.control ? 4 : 0);
  if (name === "btab" || (name === "tab" && modifiers.shift)) return `${modifiers.meta ? ESC : ""}${ESC}[Z`;
  if (Object.hasOwn(LETTERS, name)) return `${ESC}[${held > 1 ? `1;${held}` : ""}${LETTERS[name]}`;
  if (Object.hasOwn(NUMBERS, name)) return `${ESC}[${NUMBERS[name]}${held > 1 ? `;${held}` : ""}~`;
  if (Object.hasOwn(FUNCTIONS, name)) return held > 1 ? `${ESC}[1;${held}${FUNCTIONS[name]}` : `${ESC}O${FUNCTIONS[name]}`;
  if (Object.hasOwn(PAD, name)) return `${ESC}O${PAD[name]}`;
  const char = Object.hasOwn(PLAIN, name) ? PLAIN[name] : Array.from(key).length === 1 ? key : undefined;
  if (char === undefined) return undefined;
  const shifted = modifiers.shift ? char.toUpperCase() : char;
  const sent = modifiers.control ? controlOf(shifted) : shifted;
  return sent === undefined ? undefined : `${modifiers.meta ? ESC : ""}${sent}`;
}

/** The character that Control makes of another; keys that send one already stay as they are. */
function controlOf(char: string): string | undefined {
  if (char === " " || char === "@") return "\0";
  if (char === "?") return "\x7f";
  const code = char.toUpperCase().codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return char;
  return code >= 0x40 && code < 0x60 ? String.fromCharCode(code & 0x1f) : undefined;
}

/** Text as if pasted: the program sees where it begins and ends, and nothing in the text can say so too early. */
export function pasted(text: string, bracketed: boolean): string {
  return bracketed ? `${ESC}[200~${text.replaceAll(ESC, "")}${ESC}[201~` : text;
}
