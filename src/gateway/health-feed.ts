import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log/logger.ts";
import { LIMITS, type Health } from "../protocol/index.ts";
import type { Fanout } from "./fanout.ts";

/** The health that clients see: cached for a minute, refreshed when a client connects, broadcast to all. */
export interface HealthFeed {
  /** The last look; a first one when there was none. */
  current(): Promise<Health>;
  /** What `health` answers: at most 60 s old, or fresh when a probe is asked for. */
  get(probe: boolean): Promise<Health>;
  /** Looks again in the background. Calls that come while one runs share it and cause one more. */
  refresh(): void;
  /** Grows with every look. Starts at 1. */
  readonly version: number;
}

export interface HealthFeedDeps {
  readonly clock: Pick<Clock, "now">;
  readonly log: Logger;
  /** Looks now. */
  readonly look: () => Promise<Health>;
  /** Called after every refresh. */
  readonly onLook: (health: Health) => void;
}

const KEEP_MS = 60_000;

export function createHealthFeed({ clock, log, look, onLook }: HealthFeedDeps): HealthFeed {
  let last: { readonly health: Health; readonly at: number } | undefined;
  let running: Promise<Health> | undefined;
  let asked = false;
  let version = 1;

  async function lookNow(): Promise<Health> {
    try {
      const health = await look();
      last = { health, at: clock.now() };
      version += 1;
      onLook(health);
      return health;
    } finally {
      running = undefined;
      if (asked) {
        asked = false;
        refresh();
      }
    }
  }

  function fresh(): Promise<Health> {
    running ??= lookNow();
    return running;
  }

  function refresh(): void {
    if (running) {
      asked = true;
      return;
    }
    fresh().catch((error: unknown) => log.warn("the health check failed", { error }));
  }

  return {
    current: async () => last?.health ?? fresh(),
    get: async (probe) => (!probe && last && clock.now() - last.at < KEEP_MS ? last.health : fresh()),
    refresh,
    get version() {
      return version;
    },
  };
}

export interface TickDeps {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly fanout: Pick<Fanout, "broadcast" | "size">;
  /** Done every 60 s, half way between two ticks. */
  readonly onMinute: () => void;
}

const TICKS_PER_MINUTE = 60_000 / LIMITS.tickIntervalMs;

/**
 * Sends all connections a sign of life every 30 s: one timer, one frame for all. To write to some thousand sockets takes tens of
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
