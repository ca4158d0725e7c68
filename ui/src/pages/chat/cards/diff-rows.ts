/** One line of a change as it is shown. Numbers are those of the file, where they are known. */
export interface DiffRow {
  readonly kind: "same" | "added" | "removed" | "mark";
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly text: string;
}

const KINDS: Readonly<Record<string, DiffRow["kind"]>> = { "+": "added", "-": "removed", " ": "same" };
/** As the tool `edit` reports a line: its sign, its number, its text. */
const NUMBERED = /^([ +-])( *\d+) (.*)$/;
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

function numberedRows(lines: readonly string[]): readonly DiffRow[] {
  let shift = 0;
  return lines.map((line): DiffRow => {
    const match = NUMBERED.exec(line);
    if (!match) {
      shift = 0;
      return { kind: "mark", text: line };
    }
    const kind = KINDS[match[1]!]!;
    const number = Number(match[2]);
    const text = match[3]!;
    if (kind === "added") {
      shift += 1;
      return { kind, after: number, text };
    }
    if (kind === "removed") {
      shift -= 1;
      return { kind, before: number, text };
    }
    return { kind, before: number - shift, after: number, text };
  });
}

function plainRows(lines: readonly string[]): readonly DiffRow[] {
  let at: { before: number; after: number } | undefined;
  return lines.map((line): DiffRow => {
    const hunk = HUNK.exec(line);
    if (hunk) at = { before: Number(hunk[1]), after: Number(hunk[2]) };
    const kind = /^(?:\+\+\+|---) /.test(line) ? undefined : KINDS[line.charAt(0)];
    if (hunk || kind === undefined) return { kind: "mark", text: line };
    const row = {
      kind,
      text: line.slice(1),
      ...(at && kind !== "added" ? { before: at.before } : {}),
      ...(at && kind !== "removed" ? { after: at.after } : {}),
    };
    if (at && kind !== "added") at.before += 1;
    if (at && kind !== "removed") at.after += 1;
    return row;
  });
}

/** The lines of a change: as `edit` reports them, as `diff -u` writes them, or with signs alone. */
export function diffRows(difference: string): readonly DiffRow[] {
  const lines = difference.replace(/\n$/, "").split("\n");
  const signed = lines.filter((line) => line !== "");
  return signed.length > 0 && signed.every((line) => NUMBERED.test(line)) ? numberedRows(lines) : plainRows(lines);
}

/** How many lines a change adds and removes. */
export function changedLines(difference: string): { readonly added: number; readonly removed: number } {
  const rows = diffRows(difference);
  return { added: rows.filter(({ kind }) => kind === "added").length, removed: rows.filter(({ kind }) => kind === "removed").length };
}
