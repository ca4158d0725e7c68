/** Where long text may be cut. */

/** The largest index at or before `index` that does not split a surrogate pair. */
export function wholeCharacter(text: string, index: number): number {
  return /[\uD800-\uDBFF]/.test(text[index - 1] ?? "") && /[\uDC00-\uDFFF]/.test(text[index] ?? "") ? index - 1 : index;
}

/** The last blank before `end` outside of parentheses, so that a link keeps its URL; -1 where there is none. */
function lastBlank(text: string, start: number, end: number): number {
  let depth = 0;
  let found = -1;
  for (let index = start; index < end; index += 1) {
    const sign = text[index]!;
    if (sign === "(") depth += 1;
    else if (sign === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0 && index > start && /\s/.test(sign)) found = index;
  }
  return found;
}

export interface Cut {
  /** Where the chunk ends. */
  readonly end: number;
  /** Where the next one starts: line breaks or blanks at the cut belong to neither. */
  readonly next: number;
}

const skip = (text: string, from: number, sign: RegExp): number => {
  let index = from;
  while (index < text.length && sign.test(text[index]!)) index += 1;
  return index;
};

/** Cuts `text` from `start` with at most `size` characters: at the last line break, else the last blank, else hard. */
export function cutPlain(text: string, start: number, size: number): Cut {
  const limit = start + size;
  // A break right after the window costs nothing: it is dropped anyway.
  const line = text.lastIndexOf("\n", limit);
  if (line > start) return { end: line, next: skip(text, line, /[\r\n]/) };
  const blank = lastBlank(text, start, limit + 1);
  if (blank > start) return { end: blank, next: skip(text, blank, /\s/) };
  const hard = Math.max(wholeCharacter(text, limit), start + 1);
  return { end: hard, next: hard };
}
