/** What renderers share: rich text as runs of equal styles, markers by line, and addresses of links. */
import type { RichStyle, RichText } from "../../protocol/index.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly style: RichStyle["style"] | "link";
  readonly href?: string | undefined;
  readonly language?: string | undefined;
  readonly level?: number | undefined;
}

interface Run {
  readonly start: number;
  readonly end: number;
  /** Outer before inner. */
  readonly spans: readonly Span[];
}

const outerFirst = (a: Span, b: Span): number => a.start - b.start || b.end - a.end || Number(b.style === "link") - Number(a.style === "link");

export function spansOf({ text, styles, links }: RichText): Span[] {
  return [...styles, ...links.map((link) => ({ ...link, style: "link" as const }))].filter(({ start, end }) => start >= 0 && start < end && end <= text.length);
}

/** The text in parts between which no style starts or ends. */
function runsOf(text: string, spans: readonly Span[]): Run[] {
  const sorted = [...spans].sort(outerFirst);
  const edges = [...new Set([0, text.length, ...sorted.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
  const runs: Run[] = [];
  let active: Span[] = [];
  let next = 0;
  for (const [index, start] of edges.entries()) {
    const end = edges[index + 1];
    if (end === undefined) break;
    active = active.filter((span) => span.end > start);
    for (let span = sorted[next]; span && span.start <= start; span = sorted[++next]) active.push(span);
    runs.push({ start, end, spans: active });
  }
  return runs;
}

export interface Markup {
  /** The spans to show, outer first; duplicate styles only once. */
  choose(spans: readonly Span[]): readonly Span[];
  open(span: Span): string;
  close(span: Span): string;
  text(text: string, spans: readonly Span[], start: number): string;
}

/** Tags around text. Whatever the ranges are, each tag is closed before its parent. `put` gets each part with all its spans. */
export function markUp(text: string, spans: readonly Span[], markup: Markup, put: (part: string, spans: readonly Span[]) => void): void {
  let open: readonly Span[] = [];
  let around: readonly Span[] = [];
  const turn = (wanted: readonly Span[], next: readonly Span[]): void => {
    let same = 0;
    while (same < open.length && open[same] === wanted[same]) same += 1;
    for (const span of open.slice(same).reverse()) put(markup.close(span), around);
    for (const span of wanted.slice(same)) put(markup.open(span), next);
    open = wanted;
    around = next;
  };
  for (const run of runsOf(text, spans)) {
    turn(markup.choose(run.spans), run.spans);
    put(markup.text(text.slice(run.start, run.end), open, run.start), run.spans);
  }
  turn([], []);
}

/** Removes duplicate styles. */
export function once(spans: readonly Span[]): Span[] {
  return spans.filter((span, index) => spans.findIndex((other) => other.style === span.style) === index);
}

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

/** The part before the first colon, in lower case. */
export const schemeOf = (href: string): string | undefined => /^([a-z][a-z0-9+.-]*):/i.exec(href)?.[1]?.toLowerCase();

const encoded = (text: string): string => {
  try {
    return encodeURI(decodeURI(text));
  } catch {
    return text;
  }
};

const bare = (address: string): string => encoded(address.trim().replace(/^(?:mailto|tel):/i, "")).replace(/\/$/, "");

/** Whether the text of a link already shows its URL. */
export const saysAddress = (label: string, href: string): boolean => label.trim() === href || bare(label) === bare(href);
