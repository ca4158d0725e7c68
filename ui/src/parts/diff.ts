/** One line of a comparison. Numbers begin at 1; a line that is on one side only has no number on the other. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  readonly before?: number;
  readonly after?: number;
}

/** Neighbouring lines of a comparison, with some of what stayed the same around them. */
export interface Hunk {
  readonly lines: readonly DiffLine[];
  /** Unchanged lines that are left out before this one. */
  readonly skipped: number;
}

/** More cells than this are not compared one by one: the middle then counts as replaced. */
const MOST_CELLS = 4_000_000;

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** How long the longest common run of lines is from each pair of places on. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint32Array {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const down = lengths[(i + 1) * width + j]!;
      const right = lengths[i * width + j + 1]!;
      lengths[i * width + j] = before[i] === after[j] ? lengths[(i + 1) * width + j + 1]! + 1 : Math.max(down, right);
    }
  }
  return lengths;
}

function* middle(before: readonly string[], after: readonly string[]): Generator<Pick<DiffLine, "kind" | "text">> {
  let i = 0;
  let j = 0;
  if (before.length * after.length <= MOST_CELLS) {
    const width = after.length + 1;
    const lengths = commonLengths(before, after);
    while (i < before.length && j < after.length) {
      if (before[i] === after[j]) {
        yield { kind: "same", text: before[i]! };
        i += 1;
        j += 1;
      } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) yield { kind: "removed", text: before[i++]! };
      else yield { kind: "added", text: after[j++]! };
    }
  }
  while (i < before.length) yield { kind: "removed", text: before[i++]! };
  while (j < after.length) yield { kind: "added", text: after[j++]! };
}

/** Compares two texts line by line: as few lines as possible are added and removed. */
export function diffLines(beforeText: string, afterText: string): DiffLine[] {
  const [before, after] = [linesOf(beforeText), linesOf(afterText)];
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (text: string): Pick<DiffLine, "kind" | "text"> => ({ kind: "same", text });
  const all = [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
  let [old, now] = [0, 0];
  return all.map(({ kind, text }) => ({
    kind,
    text,
    ...(kind === "added" ? {} : { before: (old += 1) }),
    ...(kind === "removed" ? {} : { after: (now += 1) }),
  }));
}

/** The changed lines with `context` unchanged ones around them. */
export function hunksOf(lines: readonly DiffLine[], context = 3): Hunk[] {
  const near = new Set<number>();
  lines.forEach(({ kind }, at) => {
    if (kind !== "same") for (let by = -context; by <= context; by += 1) near.add(at + by);
  });
  const hunks: { lines: DiffLine[]; skipped: number }[] = [];
  let skipped = 0;
  lines.forEach((line, at) => {
    if (!near.has(at)) {
      skipped += 1;
      return;
    }
    if (skipped > 0 || hunks.length === 0) hunks.push({ lines: [], skipped });
    skipped = 0;
    hunks.at(-1)!.lines.push(line);
  });
  return hunks;
}
