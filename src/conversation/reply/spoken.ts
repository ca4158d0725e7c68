/** Finds out how much of an answer a process before this one has said already. */

const FENCE_LINE = /^ {0,3}(?:`{3,}|~{3,})/;

/** The characters that count when two texts are compared: no white space, and no lines that open or close code. Calls `each` until it says no. */
function walk(text: string, from: number, each: (sign: string, index: number) => boolean): void {
  let at = from;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const whole = at === 0 || text[at - 1] === "\n";
    if (!(whole && FENCE_LINE.test(text.slice(at, Math.min(end, at + 10))))) {
      for (let index = at; index < end; index += 1) {
        if (!/\s/.test(text[index]!) && !each(text[index]!, index)) return;
      }
    }
    at = end + 1;
  }
}

/** Where `text` goes on behind `part`, which was cut from it at `from`. Undefined: it was not. */
export function behind(text: string, from: number, part: string): number | undefined {
  const signs: string[] = [];
  walk(part, 0, (sign) => signs.push(sign) > 0);
  if (signs.length === 0) return from;
  let matched = 0;
  let end = from;
  walk(text, from, (sign, index) => {
    if (sign !== signs[matched]) return false;
    matched += 1;
    end = index + 1;
    return matched < signs.length;
  });
  return matched === signs.length ? end : undefined;
}

/** Goes through the texts of a turn in order and says of each how much of it was spoken. */
export function createSpokenCursor(spoken: readonly string[], prefix: string | undefined): (text: string) => number {
  const parts = spoken.map((part) => (prefix && part.startsWith(`${prefix} `) ? part.slice(prefix.length + 1) : part));
  let next = 0;
  return (text) => {
    // Answers that were complete before the restart need not be among the texts.
    const first = parts.findIndex((part, index) => index >= next && (behind(text, 0, part) ?? 0) > 0);
    if (first < 0) return 0;
    next = first;
    let at = 0;
    for (let end = behind(text, at, parts[next]!); end !== undefined; end = next < parts.length ? behind(text, at, parts[next]!) : undefined) {
      at = end;
      next += 1;
    }
    return at;
  };
}
