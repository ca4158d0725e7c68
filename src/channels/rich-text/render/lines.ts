/** Markers that apply to a single line, and quoted lines. */
import type { Span } from "./spans.ts";

const WHOLE: ReadonlySet<Span["style"]> = new Set(["code_block", "blockquote"]);

/** Styles and links split by line, without blanks at their ends: markers across lines or beside blanks are shown literally on most platforms. */
export function spansByLine(text: string, spans: readonly Span[]): Span[] {
  return spans.flatMap((span) => {
    if (WHOLE.has(span.style)) return [span];
    const found: Span[] = [];
    for (let start = span.start; start < span.end;) {
      const line = text.indexOf("\n", start);
      const end = line < 0 || line > span.end ? span.end : line;
      const part = text.slice(start, end);
      const first = start + (part.length - part.trimStart().length);
      const last = start + part.trimEnd().length;
      if (first < last) found.push({ ...span, start: first, end: last });
      start = end + 1;
    }
    return found;
  });
}

export interface LineWriter {
  /** Adds a part inside `depth` quotations. */
  put(part: string, depth: number): void;
  result(): string;
}

/** Puts `mark` before each line of a quotation. */
export function createLineWriter(mark: string): LineWriter {
  const parts: string[] = [];
  let atStart = true;
  return {
    put(part, depth) {
      if (part === "") return;
      if (depth === 0 || mark === "") {
        parts.push(part);
        atStart = part.endsWith("\n");
        return;
      }
      const lines = part.split("\n");
      for (const [index, line] of lines.entries()) {
        if (index > 0) parts.push("\n");
        if (index > 0) atStart = true;
        if (line === "" && index === lines.length - 1) break;
        if (atStart) parts.push(line === "" ? mark.repeat(depth).trimEnd() : mark.repeat(depth));
        parts.push(line);
        atStart = false;
      }
    },
    result: () => parts.join(""),
  };
}

export const quotationsIn = (spans: readonly Span[]): number => spans.filter(({ style }) => style === "blockquote").length;
