/** Where the lines of a text start, found once however often it is asked for. */
export interface Lines {
  /** Where the line of `offset` starts. A byte order mark is before the first line. */
  start(offset: number): number;
  /** Line and column of an offset, both from 1. */
  position(offset: number): { readonly line: number; readonly column: number };
  /** True when nothing but blanks stands before `offset` on its line. */
  isFirst(offset: number): boolean;
  /** The spaces and tabs at the start of the line of `offset`, as far as they stand before it. */
  indent(offset: number): string;
}

/** Looks nothing up before it is asked. CR LF, CR and LF each end a line. */
export function linesOf(text: string): Lines {
  let known: readonly number[] | undefined;
  /** By line: where its first character stands that is not blank, and its first that is neither space nor tab. */
  const inked = new Map<number, number>();
  const indented = new Map<number, number>();

  /** Index of the line of `offset`: the last that starts at or before it. */
  function lineAt(offset: number): number {
    known ??= startsOf(text);
    let low = 0;
    let high = known.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((known[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function startOf(line: number, offset: number): number {
    return line === 0 ? (text.charCodeAt(0) === 0xfeff && offset > 0 ? 1 : 0) : (known?.[line] ?? 0);
  }

  /** Each line is read once: one line may hold everything, behind as many blanks as its writer likes. */
  function firstOther(cache: Map<number, number>, blank: RegExp, offset: number): number {
    const line = lineAt(offset);
    const found = cache.get(line);
    if (found !== undefined) return found;
    let at = startOf(line, offset);
    while (at < text.length && blank.test(text.charAt(at))) at += 1;
    cache.set(line, at);
    return at;
  }

  return {
    start: (offset) => startOf(lineAt(offset), offset),
    position(offset) {
      const line = lineAt(offset);
      return { line: line + 1, column: offset - startOf(line, offset) + 1 };
    },
    isFirst: (offset) => firstOther(inked, /\s/, offset) >= offset,
    indent(offset) {
      const end = Math.min(offset, firstOther(indented, /[ \t]/, offset));
      return text.slice(startOf(lineAt(offset), offset), end);
    },
  };
}

function startsOf(text: string): number[] {
  const starts = [0];
  if (!text.includes("\r")) {
    // What nearly every file is, at the speed of a search.
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    return starts;
  }
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) starts.push(at + 1);
  }
  return starts;
}
