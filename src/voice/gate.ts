import { AppError } from "../base/errors.ts";

export interface Gate {
  /** Waits for its turn; dispose of what it gives. Rejects when the caller leaves, or when more than `mostWaiting` would wait. */
  enter(signal: AbortSignal | undefined, mostWaiting?: number): Promise<Disposable>;
}

/** A number of uses at the same time; further ones wait in order. */
export function createGate(most: () => number): Gate {
  const waiting: (() => void)[] = [];
  let used = 0;

  async function turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const leave = (): void => {
      const at = waiting.indexOf(resolve);
      if (at >= 0) waiting.splice(at, 1);
      resolve();
    };
    waiting.push(resolve);
    signal?.addEventListener("abort", leave, { once: true });
    await promise;
    signal?.removeEventListener("abort", leave);
  }

  return {
    async enter(signal, mostWaiting = Infinity) {
      signal?.throwIfAborted();
      if (used >= most() && waiting.length >= mostWaiting)
        throw new AppError("OVERLOADED", `${used} are running and ${waiting.length} are waiting; try again shortly`);
      while (used >= most()) {
        await turn(signal);
        if (signal?.aborted) {
          // It may have been this one's turn.
          if (used < most()) waiting.shift()?.();
          signal.throwIfAborted();
        }
      }
      used += 1;
      return {
        [Symbol.dispose]() {
          used -= 1;
          waiting.shift()?.();
        },
      };
    },
  };
}
