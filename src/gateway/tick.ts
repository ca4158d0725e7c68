import type { Clock } from "../base/clock.ts";
import { LIMITS } from "../protocol/index.ts";
import type { Fanout } from "./fanout.ts";

export interface TickDeps {
  readonly clock: Clock;
  readonly fanout: Pick<Fanout, "broadcast" | "size">;
  /** Done every 60 s, after the tick. */
  readonly onMinute: () => void;
}

const MINUTE_MS = 60_000;

/** Tells all connections every 30 s that the gateway is alive: one timer, one frame for all. */
export function startTicking({ clock, fanout, onMinute }: TickDeps): Disposable {
  let timer: Disposable | undefined;
  let ticks = 0;
  function arm(): void {
    timer = clock.after(LIMITS.tickIntervalMs, () => {
      arm();
      if (fanout.size > 0) fanout.broadcast("tick", { ts: clock.now() });
      ticks += 1;
      if ((ticks * LIMITS.tickIntervalMs) % MINUTE_MS === 0) onMinute();
    });
  }
  arm();
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}
