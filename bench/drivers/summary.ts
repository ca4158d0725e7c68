import { quantile, round } from "../stats.ts";

/** A list of measurements in one line. */
export function summary(values: readonly number[]) {
  const at = (q: number): number => round(quantile(values, q));
  return {
    n: values.length,
    min: at(0),
    median: at(0.5),
    p95: at(0.95),
    max: at(1),
    mean: round(values.reduce((sum, value) => sum + value, 0) / values.length),
  };
}
