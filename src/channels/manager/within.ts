import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";

/** A plugin function's result, or `TIMEOUT` when it takes too long. Abandoned work may still reject: that is ignored. */
export async function within<T>(clock: Clock, ms: number, what: string, call: () => T | PromiseLike<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const work = (async () => call())();
  work.catch(() => {});
  using _ = clock.after(ms, () => late.reject(new AppError("TIMEOUT", `${what} did not end within ${ms} ms`)));
  return await Promise.race([work, late.promise]);
}

/** Whether all promises settled in time. */
export async function settledWithin(clock: Clock, ms: number, work: readonly Promise<unknown>[]): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  using _ = clock.after(ms, () => late.resolve(false));
  return await Promise.race([Promise.allSettled(work).then(() => true), late.promise]);
}
