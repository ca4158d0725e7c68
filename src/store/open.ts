import type { Clock } from "../base/clock.ts";
import type { WatchRequest } from "../base/watchdog/watch-main-thread.ts";
import type { Store } from "./store.ts";
import { openSqlite } from "./sqlite/client.ts";
import type { StoreThread } from "./warm-up.ts";

export interface OpenStoreOptions {
  /** State folder; created when missing. */
  readonly stateDir: string;
  readonly clock: Clock;
  /** From `warmUpStore`; without it the thread is started now. */
  readonly thread?: StoreThread | undefined;
  /** The thread also watches the main one: it reports what blocks it, and ends the process when that lasts. */
  readonly watch?: WatchRequest | undefined;
  /**
   * Writes the documented `sessions.json` of each agent, and imports what other programs wrote to it. `path` is an absolute path with `{agentId}`
   * when they are at another location. Without this option these files are only read, at the first start.
   */
  readonly sessionIndex?: { readonly path?: string | undefined } | undefined;
  /** Receives what an operator should know: repairs, imports, failures. */
  readonly log?: (message: string, details?: Readonly<Record<string, unknown>>) => void;
  /** Commits, and roughly bytes, that may wait for their fsync before the next is refused. */
  readonly maxWaiting?: number;
  readonly maxWaitingBytes?: number;
}

/** Opens the durable state of an installation. Start it early: it works in a thread of its own. */
export function openStore(options: OpenStoreOptions): Promise<Store> {
  return openSqlite(options);
}
