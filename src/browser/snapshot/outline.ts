/** The outline of a page: one line for each thing a reader would name. */
export interface OutlineLine {
  readonly depth: number;
  /** Number of an element that can be used. */
  readonly ref?: number | undefined;
  readonly text: string;
}

export interface OutlineOptions {
  /** Only what can be used. */
  readonly interactive?: boolean | undefined;
  /** Without containers that say nothing. */
  readonly compact?: boolean | undefined;
  readonly depth?: number | undefined;
  readonly limit?: number | undefined;
  readonly maxChars: number;
  /** The page is too large to be read as a whole. */
  readonly isCut?: boolean | undefined;
  /** Frames that were not read. */
  readonly framesLeft?: number | undefined;
}

/** A snapshot is at most this long. */
export const MOST_CHARS = 80_000;

export interface ShownOutline {
  readonly text: string;
  readonly truncated: boolean;
  /** What was left out, and how to ask for it. */
  readonly note?: string | undefined;
  readonly lines: number;
  readonly refs: number;
}

export function parseLines(text: string): readonly OutlineLine[] {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const [depth = "0", ref = "", ...rest] = line.split("\t");
    return { depth: Number(depth), ...(ref === "" ? {} : { ref: Number(ref) }), text: rest.join(" ") };
  });
}

/** A line as it is shown, without its indentation. */
export const lineText = ({ ref, text }: OutlineLine): string => {
  if (ref === undefined) return `- ${text}`;
  // The number stands behind the name, before states and the value.
  const [, head = text, tail = ""] = /^(\S+(?: "(?:[^"\\]|\\.)*")?)(.*)$/.exec(text) ?? [];
  return `- ${head} [e${ref}]${tail}`;
};

const indented = (line: OutlineLine, base: number): string => `${"  ".repeat(Math.max(0, Math.min(line.depth - base, 20)))}${lineText(line)}`;

const CONTAINERS = /^(?:list|listitem|table|row|group|form|navigation|main|banner|contentinfo|article|complementary|region|section|rowgroup|clickable)$/;
const SHORT_TEXT = 80;

const isHeading = ({ text }: OutlineLine): boolean => text.startsWith("heading ");
const isUsable = ({ ref }: OutlineLine): boolean => ref !== undefined;

/** A container without a name: its lines stand without it as well. */
export const isContainer = (line: OutlineLine): boolean => line.ref === undefined && CONTAINERS.test(line.text);

/** The lines that are kept, each as deep as the kept lines around it make it. */
function only(lines: readonly OutlineLine[], isKept: (line: OutlineLine) => boolean): readonly OutlineLine[] {
  const around: number[] = [];
  return lines.flatMap((line) => {
    while (around.length > 0 && (around.at(-1) ?? 0) >= line.depth) around.pop();
    if (!isKept(line)) return [];
    const depth = around.length;
    around.push(line.depth);
    return [{ ...line, depth }];
  });
}

const shortTexts = (lines: readonly OutlineLine[]): readonly OutlineLine[] =>
  lines.map((line) => (line.text.length <= SHORT_TEXT || line.ref !== undefined ? line : { ...line, text: `${line.text.slice(0, SHORT_TEXT)}…` }));

const sizeOf = (lines: readonly OutlineLine[]): number => lines.reduce((sum, line) => sum + 2 * Math.min(line.depth, 20) + line.text.length + 10, 0);

/** Chosen lines as text of at most `maxChars`: texts are shortened first, then left out, then the end is. */
export function showOutline(all: readonly OutlineLine[], options: OutlineOptions): ShownOutline {
  const { interactive = false, compact = false, depth, limit, maxChars, isCut = false, framesLeft = 0 } = options;
  let lines = interactive ? only(all, isUsable) : all;
  if (depth !== undefined) lines = lines.filter((line) => line.depth <= depth);
  if (compact) lines = only(lines, (line) => !isContainer(line));
  const notes: string[] = [];
  const left = (what: string, how: string): void => void notes.push(`${what} left out: the page is too long for ${maxChars} characters; ${how}`);
  if (limit !== undefined && lines.length > limit) {
    notes.push(`${lines.length - limit} more lines left out by limit`);
    lines = lines.slice(0, limit);
  }
  if (sizeOf(lines) > maxChars) {
    lines = shortTexts(only(lines, (line) => !isContainer(line)));
    if (sizeOf(lines) <= maxChars) left("the end of long texts", "ask with selector for a part");
  }
  if (sizeOf(lines) > maxChars && !interactive) {
    const usable = only(lines, (line) => isUsable(line) || isHeading(line));
    // Where little can be used, the text is what the page is for.
    if (usable.length < lines.length && (usable.length * 3 > lines.length || sizeOf(usable) > maxChars / 2)) {
      left(`${lines.length - usable.length} lines of text`, "ask with selector for a part");
      lines = usable;
    }
  }
  const total = lines.length;
  const shown: string[] = [];
  const base = lines.reduce((least, line) => Math.min(least, line.depth), Number.POSITIVE_INFINITY);
  let size = 0;
  for (const line of lines) {
    const text = interactive ? lineText(line) : indented(line, base);
    if (size + text.length + 1 > maxChars) break;
    shown.push(text);
    size += text.length + 1;
  }
  if (shown.length < total) {
    const rest = lines.slice(shown.length);
    left(
      `the last ${rest.length} lines (${rest.filter((line) => isUsable(line)).length} usable)`,
      ["ask with selector for a part", ...(interactive ? [] : ["interactive:true"]), ...(maxChars < MOST_CHARS ? [`maxChars up to ${MOST_CHARS}`] : [])].join(
        " or ",
      ),
    );
  }
  if (isCut) notes.push("the page is too large to read in full: the rest is missing; ask with selector for a part");
  if (framesLeft > 0) notes.push(`${framesLeft} more frames left out: ask for one with frame, a CSS selector`);
  const kept = lines.slice(0, shown.length);
  return {
    text: shown.join("\n"),
    truncated: notes.length > 0,
    ...(notes.length > 0 ? { note: notes.join("; ") } : {}),
    lines: shown.length,
    refs: kept.filter((line) => isUsable(line)).length,
  };
}
