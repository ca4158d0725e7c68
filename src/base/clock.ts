/** Time as a dependency: everything that waits or takes timestamps gets a `Clock`, so that tests control time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start, never going back. */
  monotonic(): number;
  /** Calls `fn` once after `ms`. The timer does not keep the process alive. */
  after(ms: number, fn: () => void): Disposable;
}

/** The longest delay a platform timer supports; longer ones are capped. */
const MAX_DELAY_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, Math.min(Math.max(ms, 0), MAX_DELAY_MS));
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

export interface ManualClock extends Clock {
  /** Moves time forward and fires due timers in order of their due time. */
  advance(ms: number): void;
}

interface Timer {
  readonly due: number;
  readonly fn: () => void;
}

/** A clock that only moves when `advance` is called. */
export function manualClock(start = 1_700_000_000_000): ManualClock {
  let time = start;
  let order = 0;
  const timers = new Map<number, Timer>();

  /** Takes the next timer that is due. */
  function take(limit: number): Timer | undefined {
    let [found, first]: [number, Timer | undefined] = [0, undefined];
    for (const [id, timer] of timers) if (timer.due <= limit && (!first || timer.due < first.due)) [found, first] = [id, timer];
    if (first) timers.delete(found);
    return first;
  }

  return {
    now: () => time,
    monotonic: () => time - start,
    after(ms, fn) {
      const id = order++;
      timers.set(id, { due: time + Math.max(ms, 0), fn });
      return { [Symbol.dispose]: () => void timers.delete(id) };
    },
    advance(ms) {
      const end = time + ms;
      for (let timer = take(end); timer; timer = take(end)) {
        time = Math.max(time, timer.due);
        timer.fn();
      }
      time = end;
    },
  };
}
