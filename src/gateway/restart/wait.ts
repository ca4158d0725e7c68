import type { Clock } from "../../base/clock.ts";

export interface WaitOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  readonly forMs: number;
  /** Ends the waiting early. */
  readonly signal?: AbortSignal;
}

/** Looks now and then until something is so. False when that took too long or nobody waits any more. */
export async function waitUntil(isSo: () => boolean, { clock, everyMs, forMs, signal }: WaitOptions): Promise<boolean> {
  const end = clock.monotonic() + forMs;
  while (!isSo()) {
    if (signal?.aborted || clock.monotonic() >= end) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    using _ = clock.after(everyMs, resolve);
    await promise;
  }
  return true;
}
