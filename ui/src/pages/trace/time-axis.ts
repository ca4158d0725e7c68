import { decimal } from "../../base/figures.ts";
import { t } from "../../words/words.ts";

/** The part of a story that is seen, in milliseconds since its beginning. */
export interface TimeView {
  readonly from: number;
  readonly to: number;
}

export interface Tick {
  /** Milliseconds since the beginning of the story. */
  readonly at: number;
  readonly label: string;
}

/** Steps between ticks that people read at a glance. */
const STEPS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000,
  14_400_000, 43_200_000, 86_400_000,
];

/** Nobody needs to see less than this. */
const LEAST_MS = 2;
/** Margin before and after the trace, as a part of it. */
const MARGIN = 0.02;

/** The whole trace, with a small margin at both ends. */
export function wholeView(length: number): TimeView {
  const shown = Math.max(length, LEAST_MS);
  return { from: -shown * MARGIN, to: shown * (1 + MARGIN) };
}

const lengthOf = ({ from, to }: TimeView): number => to - from;

/** Keeps a view inside of the whole, at the length that it has. */
function inside(view: TimeView, whole: TimeView): TimeView {
  const length = Math.min(lengthOf(view), lengthOf(whole));
  const from = Math.min(Math.max(view.from, whole.from), whole.to - length);
  return { from, to: from + length };
}

/** Shows `factor` times less (above 1) or more (below 1) around a moment, which stays where it is. */
export function zoomed(view: TimeView, whole: TimeView, factor: number, around = (view.from + view.to) / 2): TimeView {
  const length = Math.min(Math.max(lengthOf(view) / factor, LEAST_MS), lengthOf(whole));
  const part = (around - view.from) / lengthOf(view);
  const from = around - part * length;
  return inside({ from, to: from + length }, whole);
}

/** Moves by so many milliseconds. */
export const panned = (view: TimeView, whole: TimeView, by: number): TimeView => inside({ from: view.from + by, to: view.to + by }, whole);

/** A stretch with a margin around it. */
export function focused(whole: TimeView, start: number, end: number): TimeView {
  const length = Math.max(end - start, LEAST_MS);
  return inside({ from: start - length * 0.2, to: start + length * 1.2 }, whole);
}

export const isWhole = (view: TimeView, whole: TimeView): boolean => lengthOf(view) >= lengthOf(whole) * 0.999;

/** Where a moment is, in pixels. */
export const xOf = (at: number, view: TimeView, width: number): number => ((at - view.from) / lengthOf(view)) * width;

/** The moment at so many pixels. */
export const atOf = (x: number, view: TimeView, width: number): number => view.from + (x / Math.max(width, 1)) * lengthOf(view);

/** How a tick is written, by the step between ticks. */
function labelOf(at: number, step: number): string {
  if (at === 0) return "0";
  if (step >= 3_600_000) return t`${decimal(at / 3_600_000, step % 3_600_000 === 0 ? 0 : 1)} h`;
  if (step >= 60_000) return t`${Math.round(at / 60_000)} min`;
  if (at >= 60_000 || step >= 1000) {
    const seconds = at / 1000;
    return seconds >= 60 ? `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}` : t`${decimal(seconds, 0)} s`;
  }
  if (step >= 100) return t`${decimal(at / 1000, 1)} s`;
  return at >= 1000 ? t`${decimal(at / 1000, step >= 10 ? 2 : 3)} s` : t`${at} ms`;
}

/** Ticks at round times, at least `spacing` pixels apart. */
export function ticksOf(view: TimeView, width: number, spacing = 84): readonly Tick[] {
  const most = Math.max(1, Math.floor(width / spacing));
  const wanted = lengthOf(view) / most;
  const step = STEPS.find((one) => one >= wanted) ?? Math.ceil(wanted / 86_400_000) * 86_400_000;
  const ticks: Tick[] = [];
  for (let at = Math.max(0, Math.ceil(view.from / step) * step); at <= view.to; at += step) ticks.push({ at, label: labelOf(at, step) });
  return ticks;
}
