/** Splits Markdown into chunks that are valid Markdown: a code block that has to be cut is closed before the cut and reopened after it. */
import { cutPlain, wholeCharacter, type Cut } from "./cut.ts";
import { fenceAt, findFences, type Fence } from "./fences.ts";

/** The line that reopens a cut block: its own, its bare marker where that is too long, nothing where even that leaves no space for code. */
function opener(fence: Fence, limit: number): string | undefined {
  const fits = (line: string): boolean => (line.length + fence.marker.length + 2) * 2 <= limit;
  return [fence.line, fence.marker].find(fits);
}

interface Piece extends Cut {
  /** The block that continues in the next chunk. */
  readonly within?: Fence | undefined;
}

/** Cuts inside of `fence` with space left for its closing marker. Undefined: nothing of its content fits. */
function cutCode(text: string, start: number, space: number, fence: Fence): Piece | undefined {
  const from = Math.max(start, fence.body);
  const limit = start + space - fence.marker.length - 1;
  if (limit <= from) return undefined;
  const line = text.lastIndexOf("\n", limit);
  const end = line > from ? line : wholeCharacter(text, limit);
  if (end <= from) return undefined;
  const next = line > from ? line + 1 : end;
  // Only its closing line is left: the chunk has that already.
  return next >= fence.closing ? { end, next: fence.end, within: undefined } : { end, next, within: fence };
}

const BREAKS = /[\r\n]*/y;

function skipBreaks(text: string, from: number): number {
  BREAKS.lastIndex = from;
  return from + (BREAKS.exec(text)?.[0].length ?? 0);
}

/** Chunks of at most `limit` characters. Together they are the text, except for white space at the cuts and the lines that open and close code. */
export function chunkMarkdownText(text: string, limit: number): string[] {
  if (!text) return [];
  if (limit <= 0 || text.length <= limit) return [text];
  const fences = findFences(text).filter((fence) => opener(fence, limit) !== undefined);
  const chunks: string[] = [];
  let at = 0;
  let within: Fence | undefined;
  while (at < text.length) {
    const head = within ? `${opener(within, limit)!}\n` : "";
    const space = limit - head.length;
    const rest = text.slice(at);
    if (rest.length <= space) {
      if (rest.trim()) chunks.push(head + rest);
      break;
    }
    const fence = fenceAt(fences, at + space) ?? (within && within.end >= at + space ? within : undefined);
    const whole = fence && fence !== within && fence.start > at && text.slice(at, fence.start).trim() !== "" && fence.end - fence.start <= limit;
    const code = fence && !whole ? cutCode(text, at, space, fence) : undefined;
    if (code) {
      chunks.push(`${head}${text.slice(at, code.end)}\n${fence!.marker}`);
      at = code.within ? code.next : skipBreaks(text, code.next);
      within = code.within;
      continue;
    }
    if (fence && fence !== within && fence.start === at) {
      // Its opening line leaves no space for code: the info string is dropped.
      at = fence.body;
      within = fence;
      continue;
    }
    const before = fence && fence !== within && fence.start > at ? { end: fence.start, next: fence.start } : cutPlain(text, at, space);
    const chunk = text.slice(at, before.end).trimEnd();
    if (chunk) chunks.push(head + chunk);
    at = before.next;
    within = undefined;
  }
  return chunks;
}
