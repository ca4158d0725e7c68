import { AppError } from "../../../base/errors.ts";
import type { BatchOptions } from "../types.ts";

/** Waits for real time; rejects with the signal's reason. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  const stop = (): void => {
    clearTimeout(timer);
    reject(signal.reason as Error);
  };
  const timer = setTimeout(() => {
    signal.removeEventListener("abort", stop);
    resolve();
  }, ms);
  // A pause before the next request is no reason for a process to stay.
  timer.unref();
  signal.addEventListener("abort", stop, { once: true });
  return promise;
}

/** Looks at a job until it is done; `look` gives undefined while it is not. */
export async function poll<T>({ settings, signal }: BatchOptions, look: () => Promise<T | undefined>): Promise<T> {
  const ends = performance.now() + settings.timeoutMinutes * 60_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() + settings.pollIntervalMs > ends) throw new AppError("TIMEOUT", `the batch did not finish within ${settings.timeoutMinutes} minutes`);
    await sleep(settings.pollIntervalMs, signal);
  }
}
