const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
/** Code that begins within a list or a quotation: where it ends depends on them. */
const NESTED_FENCE = /^[\s>*+\-\d.)]*(?:`{3}|~{3})/;
const REFERENCE = /^ {0,3}\[[^\]]+\]:\s*\S/m;

interface Open {
  readonly mark: string;
  readonly size: number;
  readonly indent: number;
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** What a line does to a code fence: opens one, closes the open one, or nothing. */
function fenceAfter(line: string, open: Open | undefined): Open | undefined {
  const mark = FENCE.exec(line)?.[1];
  if (mark === undefined) return open;
  if (open === undefined)
    return mark.startsWith("`") && line.trimStart().slice(mark.length).includes("`")
      ? undefined
      : { mark: mark.charAt(0), size: mark.length, indent: indentOf(line) };
  const closes = mark.charAt(0) === open.mark && mark.length >= open.size && line.trim().length === mark.length;
  return closes ? undefined : open;
}

/**
 * Splits Markdown into parts that can be drawn apart from each other: at empty lines outside of code, where neither a list nor an indented part goes
 * on. What is written later changes the last part, or joins it to the one before. A text with link references stays whole, for they reach everywhere.
 */
export function blocksOf(text: string): readonly string[] {
  if (REFERENCE.test(text)) return [text];
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: Open | undefined;
  let inList = false;
  let empty = false;
  let whole = false;
  for (const line of text.split("\n")) {
    if (fence === undefined && line.trim() === "") {
      empty = true;
      lines.push(line);
      continue;
    }
    const goesOn = /^\s/.test(line) || (inList && LIST_ITEM.test(line));
    if (empty && fence === undefined && !goesOn && !whole) {
      if (lines.some((held) => held.trim() !== "")) blocks.push(lines.join("\n"));
      lines = [];
      inList = false;
    }
    // Code in a list ends with the list, too: whatever stands further out may end both.
    whole ||= fence !== undefined && inList && line.trim() !== "" && indentOf(line) < fence.indent;
    whole ||= fence === undefined && !FENCE.test(line) && NESTED_FENCE.test(line);
    inList ||= fence === undefined && LIST_ITEM.test(line);
    empty = false;
    lines.push(line);
    fence = fenceAfter(line, fence);
  }
  if (lines.some((held) => held.trim() !== "")) blocks.push(lines.join("\n"));
  return blocks;
}
