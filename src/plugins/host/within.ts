import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { IdleProcess } from "../../base/idle-process.ts";

/**
 * What a call gives, unless it takes longer than `ms`: then `TIMEOUT`. What it does later is ignored. With `idle` it also ends when the process has nothing
 * left to do: a command would otherwise exit as if all were done.
 */
export async function within<T>(clock: Clock, ms: number, what: string, call: () => T | PromiseLike<T>, idle?: IdleProcess): Promise<T> {
  const late = Promise.withResolvers<never>();
  const work = (async () => call())();
  // Abandoned work may still reject.
  work.catch(() => {});
  using _ = clock.after(ms, () => late.reject(new AppError("TIMEOUT", `${what} did not finish within ${ms} ms`)));
  using _idle = idle?.watch(() => late.reject(new AppError("TIMEOUT", `${what} waits for something that never happens`)));
  return await Promise.race([work, late.promise]);
}
