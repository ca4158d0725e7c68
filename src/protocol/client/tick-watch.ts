import type { ClientClock } from "./ports.ts";

/** Gives a silent connection up: two intervals without anything from the gateway, which ticks once in each. */
export function watchTicks(deps: { readonly clock: ClientClock; readonly intervalMs: number; readonly onSilence: () => void }) {
  const { clock, intervalMs, onSilence } = deps;
  let heard = clock.monotonic();
  let timer: Disposable | undefined;

  function arm(ms: number): void {
    timer = clock.after(ms, () => {
      const left = heard + 2 * intervalMs - clock.monotonic();
      if (left <= 0) onSilence();
      else arm(left);
    });
  }
  arm(2 * intervalMs);
  return {
    heard: (): void => void (heard = clock.monotonic()),
    [Symbol.dispose]: (): void => timer?.[Symbol.dispose](),
  };
}
