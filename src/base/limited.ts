import type { Clock } from "./clock.ts";

/** Aborts after the time, or with the caller. */
export function limited(clock: Clock, ms: number, caller: AbortSignal | undefined): Disposable & { readonly signal: AbortSignal; isOver(): boolean } {
  const time = new AbortController();
  const timer = clock.after(ms, () => time.abort());
  return {
    signal: caller ? AbortSignal.any([caller, time.signal]) : time.signal,
    isOver: () => time.signal.aborted,
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
