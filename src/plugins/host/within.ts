import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";

/** What a call gives, unless it takes longer than `ms`: then `TIMEOUT`. What it does later is ignored. */
export async function within<T>(clock: Clock, ms: number, what: string, call: () => T | PromiseLike<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const work = (async () => call())();
  // Abandoned work may still reject.
  work.catch(() => {});
  using _ = clock.after(ms, () => late.reject(new AppError("TIMEOUT", `${what} did not end within ${ms} ms`)));
  return await Promise.race([work, late.promise]);
}
