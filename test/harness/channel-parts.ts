/** What a channel gets from its host, for tests that run one without a gateway. */
import type { Waiting } from "../../src/plugins/sdk/paths/channel-kit.ts";

/** Waits take no time; how long each would have been is added to `delays`. */
export function instantWaiting(delays: number[]): Waiting {
  return {
    now: Date.now,
    random: () => 0.5,
    async sleep(ms, signal) {
      delays.push(ms);
      if (!signal.aborted) await new Promise((resolve) => void setImmediate(resolve));
    },
  };
}

/** Stores positions in a map. */
export const openMapStore = (stored: Map<string, unknown>) => () => ({
  lookup: async (key: string) => stored.get(key),
  register: async (key: string, value: unknown) => void stored.set(key, value),
});
