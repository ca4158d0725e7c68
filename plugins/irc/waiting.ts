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
  now: () => Date.now(),
  async sleep(ms, signal) {
    await delay(ms, undefined, { signal }).catch(() => {});
  },
  random: () => Math.random(),
};

const FIRST_MS = 2000;
const LAST_MS = 60_000;
const JITTER = 0.2;

/** How long to wait before the attempt with this number, counted from 1. */
export function reconnectDelay(attempt: number, random: number): number {
  return Math.round(Math.min(FIRST_MS * 2 ** (attempt - 1), LAST_MS) * (1 - JITTER / 2 + JITTER * random));
}
