/** Servers drop who talks too fast: so many lines at once, then one in a while. */
import type { Waiting } from "../waiting.ts";

export interface Pacing {
  /** Resolves when a line may go out, in the order of asking. False: the signal fired before. */
  turn(signal: AbortSignal): Promise<boolean>;
}

export function createPacing({ burst, intervalMs }: { readonly burst: number; readonly intervalMs: number }, waiting: Waiting): Pacing {
  /** When the allowance is full again. */
  let fullAt = 0;
  let last: Promise<unknown> = Promise.resolve();
  async function wait(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const now = waiting.now();
    const early = fullAt - now - (burst - 1) * intervalMs;
    if (early > 0) await waiting.sleep(early, signal);
    if (signal.aborted) return false;
    fullAt = Math.max(fullAt, now) + intervalMs;
    return true;
  }
  return {
    turn(signal) {
      const mine = last.then(() => wait(signal));
      last = mine;
      return mine;
    },
  };
}
