/** Rich text as runs of equal styles, and rendering them. */
import type { RichStyle, RichText } from "../../../protocol/index.ts";

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
export function runsOf(text: string, spans: readonly Span[]): Run[] {
  const sorted = [...spans].sort(outerFirst);
  const edges = [...new Set([0, text.length, ...sorted.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
  const runs: Run[] = [];
  let active: Span[] = [];
  let next = 0;
  for (const [index, start] of edges.entries()) {
    const end = edges[index + 1];
    if (end === undefined) break;
    active = active.filter((span) => span.end > start);
    while (sorted[next] && sorted[next]!.start <= start) active.push(sorted[next++]!);
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
