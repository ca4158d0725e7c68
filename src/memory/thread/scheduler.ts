import type { Steps } from "./sync-notes.ts";

/** Runs long work in slices, so that requests are answered between them. One piece of work at a time, in order. */
export interface Scheduler {
  run<T>(steps: () => Steps<T>): Promise<T>;
  readonly isBusy: boolean;
}

const SLICE_MS = 6;

/** Runs steps for at most this long. True when they came to their end. */
export function runFor(steps: Steps<unknown>, ms: number): boolean {
  const end = performance.now() + ms;
  do if (steps.next().done) return true;
  while (performance.now() < end);
  return false;
}

export function createScheduler(): Scheduler {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function drive<T>(start: () => Steps<T>): Promise<T> {
    const steps = start();
    for (;;) {
      const end = performance.now() + SLICE_MS;
      let result = steps.next();
      while (!result.done && performance.now() < end) result = steps.next();
      if (result.done) return result.value;
      await new Promise<void>((resume) => setImmediate(resume));
    }
  }

  return {
    get isBusy() {
      return waiting > 0;
    },
    run(steps) {
      waiting += 1;
      const work = last.then(() => drive(steps));
      last = work.catch(() => undefined).finally(() => (waiting -= 1));
      return work;
    },
  };
}
