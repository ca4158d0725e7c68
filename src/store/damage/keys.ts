import type { SQLOutputValue } from "node:sqlite";

/** A primary key: one value per column. Only numbers and texts occur in keys of this store. */
export type Key = readonly (number | string)[];

/** Undefined when a damaged row does not contain a valid key. */
export function keyOf(row: Readonly<Record<string, SQLOutputValue>>, columns: readonly string[]): Key | undefined {
  const values = columns.map((column) => row[column]);
  return values.every((value) => typeof value === "number" || typeof value === "string") ? values : undefined;
}

/** SQLite's order: numbers before texts, texts by their bytes. */
export function compareKeys(a: Key, b: Key): number {
  for (const [at, x] of a.entries()) {
    const y = b[at];
    if (y === undefined) break;
    if (x === y) continue;
    if (typeof x === "number" && typeof y === "number") return x - y;
    if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
    return Buffer.compare(Buffer.from(String(x)), Buffer.from(String(y)));
  }
  return a.length - b.length;
}

/** A text between two others, found by their first ASCII characters; undefined when there is none worth trying. */
function middleText(low: string, high: string): string | undefined {
  const digits = 6;
  const value = (text: string, fill: number): number => {
    let total = 0;
    for (let at = 0; at < digits; at += 1) total = total * 128 + Math.min(at < text.length ? text.charCodeAt(at) : fill, 127);
    return total;
  };
  let shared = 0;
  while (shared < low.length && low[shared] === high[shared]) shared += 1;
  const [from, to] = [value(low.slice(shared), 0), value(high.slice(shared), 0)];
  if (to - from < 2) return undefined;
  let middle = Math.floor((from + to) / 2);
  let text = "";
  for (let at = 0; at < digits; at += 1) {
    // Zero bytes and control characters end or confuse a text; the next printable character is just as good a position to probe.
    text = String.fromCharCode(Math.max(32, middle % 128)) + text;
    middle = Math.floor(middle / 128);
  }
  const found = low.slice(0, shared) + text;
  return found > low && found < high ? found : undefined;
}

/** Halves a narrow range; of a wide one takes the part near its start, where the numbers of a table are. */
function middleNumber(low: number, high: number): number {
  const width = high - low;
  return low + Math.floor(width > 2 ** 20 ? Math.sqrt(width) : width / 2);
}

/** A key between two others, to probe for readable rows in a gap. Undefined when nothing can be in between. */
export function middleKey(low: Key, high: Key): Key | undefined {
  for (const [at, a] of low.entries()) {
    const b = high[at];
    if (a === b) continue;
    const rest = low.slice(at + 1).map(() => Number.MIN_SAFE_INTEGER);
    if (typeof a === "number" && typeof b === "number") {
      if (b - a >= 2) return [...low.slice(0, at), middleNumber(a, b), ...rest];
      // Neighbours: keys in between have the same first part and a larger second one.
      return rest.length > 0 && b - a === 1 ? [...low.slice(0, at), b, ...rest] : undefined;
    }
    if (typeof a === "string" && typeof b === "string") {
      const text = middleText(a, b);
      return text === undefined ? undefined : [...low.slice(0, at), text, ...rest];
    }
    return undefined;
  }
  return undefined;
}
