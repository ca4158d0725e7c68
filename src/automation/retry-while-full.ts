import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";

const PAUSE_MS = 1000;

/**
 * Does work that is refused with `OVERLOADED` while a queue is full: it is tried again every second until there is space. `waits` is called once, with the
 * first refusal. Rejects with other failures, and with the refusal itself once `isClosed`.
 */
export async function retryWhileFull<T>(
  { clock, isClosed, waits }: { readonly clock: Clock; readonly isClosed: () => boolean; readonly waits?: (refusal: AppError) => void },
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (isClosed() || !(error instanceof AppError) || error.code !== "OVERLOADED") throw error;
      if (attempt === 1) waits?.(error);
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.after(PAUSE_MS, resolve);
      await promise;
    }
  }
}
