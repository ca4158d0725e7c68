import { diffLines } from "../../../parts/diff.ts";

/** Lines of the base that are replaced: from, and up to but not with, `to`. Where both are the same, lines are put in. */
interface Replaced {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

function changesOf(base: string, text: string): Replaced[] {
  const changes: { from: number; to: number; lines: string[] }[] = [];
  let at = 0;
  let open: (typeof changes)[number] | undefined;
  for (const { kind, text: line } of diffLines(base, text)) {
    if (kind === "same") open = undefined;
    else if (!open) changes.push((open = { from: at, to: at, lines: [] }));
    if (kind === "added") open!.lines.push(line);
    else at += 1;
    if (kind === "removed") open!.to = at;
  }
  return changes;
}

const keysIn = (lines: readonly string[]): readonly string[] => lines.flatMap((line) => /^\s*["']?([^\s"':/]+)["']?\s*:/.exec(line)?.[1] ?? []);

/** Not both can be there: they replace the same lines, or put the same key in at the same place. */
function meet(a: Replaced, b: Replaced): boolean {
  if (a.from < b.to && b.from < a.to) return true;
  const known = a.from === b.from ? keysIn(a.lines) : [];
  return known.length > 0 && keysIn(b.lines).some((key) => known.includes(key));
}

/**
 * Puts what changed from `base` to `mine` on top of `theirs`, line by line, so that comments and blank lines of both stay. Where both changed the same
 * lines, mine are taken; where both put lines in at the same place, both are there. Whether the result means what it should is for the caller to see.
 */
export function mergedText(base: string, mine: string, theirs: string): string {
  const own = changesOf(base, mine);
  const others = changesOf(base, theirs).filter((change) => !own.some((one) => meet(one, change)));
  // Lines that are put in stand before what is replaced there, and theirs before mine.
  const all = [...others, ...own].toSorted((a, b) => a.from - b.from || a.to - b.to);
  const lines = base.replace(/\n$/, "").split("\n");
  const merged: string[] = [];
  let at = 0;
  for (const { from, to, lines: put } of all) {
    merged.push(...lines.slice(at, from), ...put);
    at = Math.max(at, to);
  }
  return `${[...merged, ...lines.slice(at)].join("\n")}\n`;
}
