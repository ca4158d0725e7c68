import { setImmediate } from "node:timers/promises";
import type { Clock } from "./clock.ts";

/** Far below what a client notices; starting a slice costs some microseconds. */
const SLICE_MS = 4;

/** A long computation in slices. Between two of them, requests and timers get their turn: `if (slices.isOver()) await slices.next();` */
export interface Slices {
  isOver(): boolean;
  /** Resolves when everything that was waiting has run. */
  next(): Promise<void>;
}

/** Begins the first slice. */
export function createSlices(clock: Pick<Clock, "monotonic">, ms: number = SLICE_MS): Slices {
  let started = clock.monotonic();
  return {
    isOver: () => clock.monotonic() - started >= ms,
    async next() {
      await setImmediate();
      started = clock.monotonic();
    },
  };
}
