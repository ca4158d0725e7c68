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

const FIRST_MS = 2000;
const FACTOR = 1.8;
const LAST_MS = 30_000;
const JITTER = 0.2;

/** How long to wait after this many failures in a row, counted from 1. */
export function backoffMs(failures: number, { random }: Waiting): number {
  const ms = Math.min(FIRST_MS * FACTOR ** (failures - 1), LAST_MS);
  return Math.round(ms * (1 - JITTER / 2 + JITTER * random()));
}
