import type { ReconnectOptions } from "./options.ts";

/** The wait before try number `attempt` (from 0): doubled each time up to the maximum, less up to half of it, so that clients do not come all at once. */
export function backOff(attempt: number, { firstMs = 500, maxMs = 30_000 }: ReconnectOptions, random: () => number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30));
  return Math.round(full * (1 - random() / 2));
}
