/** Time and chance, so that tests have their own. */
import { setTimeout as delay } from "node:timers/promises";

export interface Waiting {
  now(): number;
  /** Ends early, without an error, when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** From 0 to 1. */
  random(): number;
}

export const realWaiting: Waiting = {
  now: Date.now,
  async sleep(ms, signal) {
    await delay(ms, undefined, { signal }).catch(() => {});
  },
  random: () => Math.random(),
};

export interface BackoffSettings {
  readonly firstMs?: number | undefined;
  readonly lastMs?: number | undefined;
  readonly factor?: number | undefined;
  /** The whole width of the spread, as a part of the delay. */
  readonly jitter?: number | undefined;
}

/** How long to wait before the attempt with this number, counted from 1. */
export type Backoff = (attempt: number, random: number) => number;

export function createBackoff({ firstMs = 2000, lastMs = 30_000, factor = 2, jitter = 0.2 }: BackoffSettings = {}): Backoff {
  return (attempt, random) => Math.round(Math.min(firstMs * factor ** (attempt - 1), lastMs) * (1 - jitter / 2 + jitter * random));
}
