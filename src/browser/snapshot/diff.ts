import { isContainer, lineText, type OutlineLine } from "./outline.ts";

export interface ShownDiff {
  readonly text: string;
  /** Nothing that is shown has changed. */
  readonly isSame: boolean;
  readonly truncated: boolean;
}

const REMOVED_CHARS = 60;

function counted(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Lines that one list has more often than the other. */
function surplus(lines: readonly OutlineLine[], others: ReadonlyMap<string, number>): readonly OutlineLine[] {
  const left = new Map(others);
  return lines.filter((line) => {
    const text = lineText(line);
    const count = left.get(text) ?? 0;
    if (count > 0) left.set(text, count - 1);
    return count === 0 && !isContainer(line);
  });
}

/** Two outlines of a page that is too large to be read as a whole: what lies beyond the end of one of them is compared with nothing. */
export function comparable(before: readonly OutlineLine[], after: readonly OutlineLine[]): [readonly OutlineLine[], readonly OutlineLine[]] {
  if (before.length > after.length) return [upTo(before, after.at(-1), after.length), after];
  return [before, upTo(after, before.at(-1), before.length)];
}

function upTo(lines: readonly OutlineLine[], last: OutlineLine | undefined, usual: number): readonly OutlineLine[] {
  const text = last === undefined ? undefined : lineText(last);
  const at = lines.findLastIndex((line) => lineText(line) === text);
  return lines.slice(0, at === -1 ? usual : at + 1);
}

/** What changed between two outlines of a document: `+` new, `~` an element that changed, `-` gone. A change of place is not shown. */
export function showDiff(before: readonly OutlineLine[], after: readonly OutlineLine[], maxChars: number): ShownDiff {
  const added = surplus(after, counted(before.map((line) => lineText(line))));
  const removed = surplus(before, counted(after.map((line) => lineText(line))));
  const known = new Set(before.flatMap(({ ref }) => ref ?? []));
  const shownRefs = new Set(added.flatMap(({ ref }) => ref ?? []));
  const gone = removed.filter(({ ref }) => ref === undefined || !shownRefs.has(ref));
  const lines = [
    ...added.map((line) => `${line.ref !== undefined && known.has(line.ref) ? "~" : "+"} ${lineText(line).slice(2)}`),
    ...gone.map((line) => `- ${line.text.length > REMOVED_CHARS ? `${lineText(line).slice(2, REMOVED_CHARS)}…` : lineText(line).slice(2)}`),
  ];
  const shown: string[] = [];
  let size = 0;
  for (const line of lines) {
    if (size + line.length + 1 > maxChars) break;
    shown.push(line);
    size += line.length + 1;
  }
  const rest = lines.length - shown.length;
  const text = rest === 0 ? shown.join("\n") : [...shown, `… ${rest} more changed lines; take a snapshot to see all`].join("\n");
  return { text, isSame: lines.length === 0, truncated: rest > 0 };
}
