/** Names of keys as bindings write them: `ctrl+c`, `alt+enter`, `shift+tab`, `up`. */

const LETTERS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "begin",
  F: "end",
  H: "home",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};

const NUMBERS: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

const CODES: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
  57414: "enter",
  57417: "left",
  57418: "right",
  57419: "up",
  57420: "down",
  57421: "pageup",
  57422: "pagedown",
  57423: "home",
  57424: "end",
  57426: "delete",
};

const SHIFT = 1;
const ALT = 2;
const CTRL = 4;
/** Keypad digits of terminals that distinguish them. */
const KEYPAD_ZERO = 57_399;

/** A name with its modifiers, in the one order. `modifiers` as terminals send them: 1 and a bit for each. */
export function withModifiers(name: string, modifiers: number): string {
  const bits = modifiers - 1;
  return `${bits & CTRL ? "ctrl+" : ""}${bits & ALT ? "alt+" : ""}${bits & SHIFT ? "shift+" : ""}${name}`;
}

export const nameOfLetter = (letter: string): string | undefined => LETTERS[letter];
export const nameOfNumber = (number: number): string | undefined => NUMBERS[number];

/** The key of a code point, or text when it only types a character. */
export function keyOfCode(code: number, modifiers: number): { readonly key: string } | { readonly text: string } | undefined {
  const name = CODES[code];
  if (name !== undefined) return name === "space" && modifiers <= 1 + SHIFT ? { text: " " } : { key: withModifiers(name, modifiers) };
  if (code >= KEYPAD_ZERO && code <= KEYPAD_ZERO + 9) return { text: String(code - KEYPAD_ZERO) };
  // Other keys have codes in the private use area: locks, media, modifiers by themselves.
  if (code < 0x20 || (code >= 0xe000 && code <= 0xf8ff) || code > 0x10_ffff) return undefined;
  const character = String.fromCodePoint(code);
  const bits = modifiers - 1;
  if ((bits & (ALT | CTRL)) === 0) return { text: bits & SHIFT ? character.toUpperCase() : character };
  return { key: withModifiers(character.toLowerCase(), modifiers) };
}

/** A control character: what the keys did on the first terminals. */
export function keyOfControl(code: number): string {
  if (code === 0x7f || code === 0x08) return "backspace";
  if (code === 0x09) return "tab";
  if (code === 0x0d) return "enter";
  if (code === 0x00) return "ctrl+space";
  return `ctrl+${String.fromCharCode(code + 0x60)}`;
}
