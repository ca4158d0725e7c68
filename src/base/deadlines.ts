import type { Clock } from "./clock.ts";

/**
 * Many deadlines on one timer. Deadlines that fall into the same tick share a bucket, so that setting and cancelling one costs a
 * map operation and no platform timer. A deadline never fires early and at most one tick late.
 */
export interface Deadlines extends Disposable {
  /** Calls `fn` once after at least `ms`. Disposing of the result cancels it; disposing twice is harmless. */
  after(ms: number, fn: () => void): Disposable;
  /** Deadlines not fired and not cancelled. */
  readonly size: number;
}

export interface DeadlinesDeps {
  readonly clock: Clock;
  /** Width of a bucket in milliseconds. */
  readonly tickMs?: number;
  /** Called with what a deadline's function threw; the other deadlines of its bucket still fire. */
  readonly onError: (error: unknown) => void;
}

export function createDeadlines({ clock, tickMs = 10, onError }: DeadlinesDeps): Deadlines {
  const buckets = new Map<number, Set<() => void>>();
  /** Ticks that have a bucket, soonest last, so that the next one is popped. */
  const ticks: number[] = [];
  let size = 0;
  let armed: { readonly tick: number; readonly timer: Disposable } | undefined;

  function insert(tick: number): void {
    let low = 0;
    let high = ticks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ticks[middle] ?? 0) > tick) low = middle + 1;
      else high = middle;
    }
    ticks.splice(low, 0, tick);
  }

  function arm(): void {
    let soonest = ticks.at(-1);
    while (soonest !== undefined && buckets.get(soonest)?.size === 0) {
      buckets.delete(soonest);
      ticks.pop();
      soonest = ticks.at(-1);
    }
    if (soonest === armed?.tick) return;
    armed?.timer[Symbol.dispose]();
    armed = soonest === undefined ? undefined : { tick: soonest, timer: clock.after(soonest * tickMs - clock.monotonic(), fire) };
  }

  function fire(): void {
    armed = undefined;
    const now = Math.floor(clock.monotonic() / tickMs);
    for (let tick = ticks.at(-1); tick !== undefined && tick <= now; tick = ticks.at(-1)) {
      ticks.pop();
      const due = buckets.get(tick);
      buckets.delete(tick);
      size -= due?.size ?? 0;
      for (const fn of due ?? []) {
        try {
          fn();
        } catch (error) {
          onError(error);
        }
      }
    }
    arm();
  }

  return {
    after(ms, fn) {
      const tick = Math.ceil((clock.monotonic() + Math.max(ms, 0)) / tickMs);
      const entry = () => fn();
      let bucket = buckets.get(tick);
      if (!bucket) {
        buckets.set(tick, (bucket = new Set()));
        insert(tick);
      }
      bucket.add(entry);
      size += 1;
      arm();
      return {
        [Symbol.dispose]() {
          if (!bucket.delete(entry)) return;
          if (buckets.get(tick) === bucket) size -= 1;
        },
      };
    },
    get size() {
      return size;
    },
    [Symbol.dispose]() {
      armed?.timer[Symbol.dispose]();
      armed = undefined;
      buckets.clear();
      ticks.length = 0;
      size = 0;
    },
  };
}
