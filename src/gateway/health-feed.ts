import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Health } from "../protocol/index.ts";

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
    fresh().catch((error: unknown) => log.warn("the health could not be looked at", { error }));
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
