import type { Clock } from "../base/clock.ts";
import { LIMITS } from "../protocol/index.ts";
import type { Fanout } from "./fanout.ts";

export interface TickDeps {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly fanout: Pick<Fanout, "broadcast" | "size">;
  /** Done every 60 s, half way between two ticks. */
  readonly onMinute: () => void;
}

const TICKS_PER_MINUTE = 60_000 / LIMITS.tickIntervalMs;

/**
 * Tells all connections every 30 s that the gateway is alive: one timer, one frame for all. To write to some thousand sockets takes tens of
 * milliseconds, so other regular broadcasts have their own moment.
 */
export function startTicking({ clock, fanout, onMinute }: TickDeps): Disposable {
  let timer: Disposable | undefined;
  let between: Disposable | undefined;
  let ticks = 0;
  function arm(): void {
    timer = clock.after(LIMITS.tickIntervalMs, () => {
      arm();
      if (fanout.size > 0) fanout.broadcast("tick", { ts: clock.now() });
      ticks += 1;
      if (ticks % TICKS_PER_MINUTE === 1) between = clock.after(LIMITS.tickIntervalMs / 2, onMinute);
    });
  }
  arm();
  return {
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
      between?.[Symbol.dispose]();
    },
  };
}
