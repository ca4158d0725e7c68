/** Deeper than any documented parameter, shallow enough for every recursive walk. */
const MAX_DEPTH = 128;
/** Values in one frame. More take hundreds of megabytes once they are parsed. */
const MAX_VALUES = 2_000_000;
/** Texts shorter than this cannot be nested too deeply. */
const SHALLOW = MAX_DEPTH * 2;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export type Message = { readonly kind: "json"; readonly value: unknown } | { readonly kind: "not-json" } | { readonly kind: "hostile"; readonly issue: string };

/** Position after the string that opens at `start`. */
function afterString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
}

/** What is wrong with the shape of a text, looked at before it is parsed. */
function hostileShape(text: string): string | undefined {
  if (text.length < SHALLOW) return undefined;
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = afterString(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
    else if (code === 0x2c) values += 1;
    if (values > MAX_VALUES) return `more than ${MAX_VALUES} values`;
  }
  return undefined;
}

/** A key that would reach a prototype when an object is copied carelessly, however it is spelled. A search: a reviver takes seconds for a large text. */
const PROTOTYPE_KEY = /"(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[fF])(?:t|\\u0074)(?:o|\\u006[fF])(?:_|\\u005[fF]){2}"\s*:/;

/** Reads one text frame. What would exhaust the stack or poison a prototype is named instead of parsed into a value that travels on. */
export function parseMessage(text: string): Message {
  const shape = hostileShape(text);
  if (shape !== undefined) return { kind: "hostile", issue: shape };
  try {
    const value: unknown = JSON.parse(text);
    return PROTOTYPE_KEY.test(text) ? { kind: "hostile", issue: "unexpected property '__proto__'" } : { kind: "json", value };
  } catch {
    return { kind: "not-json" };
  }
}
