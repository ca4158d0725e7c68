/** Numbers of the same name, one for each label of a chart. */
export interface ChartSeries {
  readonly name: string;
  readonly values: readonly number[];
}

/** The next round number that is at least so large: 1, 2, 2.5 or 5 times a power of ten. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const found = [1, 2, 2.5, 5, 10].find((one) => one * power >= value * (1 - 1e-9)) ?? 10;
  return found * power;
}

/** Round values from nothing to the top, at most `most` above nothing. */
export function valueTicks(top: number, most = 4): readonly number[] {
  const step = roundUp(top / most);
  const count = Math.max(1, Math.ceil((top / step) * (1 - 1e-9)));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** A piece of a pile. */
export interface Piece {
  readonly series: number;
  readonly from: number;
  readonly to: number;
}

/** Puts the values of each label on top of each other. */
export function piles(series: readonly ChartSeries[], labels: number): readonly (readonly Piece[])[] {
  return Array.from({ length: labels }, (_, label) => {
    let from = 0;
    return series.flatMap(({ values }, index) => {
      const value = Math.max(0, values[label] ?? 0);
      if (value === 0) return [];
      const piece = { series: index, from, to: from + value };
      from = piece.to;
      return [piece];
    });
  });
}

export const topOf = (all: readonly (readonly Piece[])[]): number => Math.max(0, ...all.map((pile) => pile.at(-1)?.to ?? 0));

/** A part of a whole. */
export interface Share {
  readonly name: string;
  readonly value: number;
  /** Where the details are. */
  readonly href?: string;
}

/** Whole percentages that make a hundred together: what is lost by rounding goes to those that lost most. */
export function percentages(values: readonly number[]): readonly number[] {
  const whole = values.reduce((sum, value) => sum + value, 0);
  if (whole <= 0) return values.map(() => 0);
  const exact = values.map((value) => (value / whole) * 100);
  const missing = 100 - exact.reduce((sum, value) => sum + Math.floor(value), 0);
  const byLoss = exact.map((value, at) => ({ at, loss: value - Math.floor(value) })).toSorted((a, b) => b.loss - a.loss);
  const raised = new Set(byLoss.slice(0, missing).map(({ at }) => at));
  return exact.map((value, at) => Math.floor(value) + (raised.has(at) ? 1 : 0));
}

/** The largest ones, and the rest together. */
export function largest(items: readonly Share[], most: number): readonly Share[] {
  const sorted = items.filter(({ value }) => value > 0).toSorted((a, b) => b.value - a.value);
  if (sorted.length <= most) return sorted;
  const rest = sorted.slice(most - 1);
  return [...sorted.slice(0, most - 1), { name: `${rest.length} others`, value: rest.reduce((sum, { value }) => sum + value, 0) }];
}

/** Which labels fit without touching: the last one always, and every so many before it. */
export function shownLabels(count: number, space: number): ReadonlySet<number> {
  const every = Math.max(1, Math.ceil(count / Math.max(1, space)));
  return new Set(Array.from({ length: count }, (_, index) => index).filter((index) => (count - 1 - index) % every === 0));
}

/** Points of a line in a box, left to right. */
export function linePoints(values: readonly number[], width: number, height: number): string {
  const top = Math.max(...values, 1e-12);
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  return values.map((value, index) => `${(index * step).toFixed(1)},${(height - (value / top) * height).toFixed(1)}`).join(" ");
}
