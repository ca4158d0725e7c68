import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log/logger.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { RetentionPolicy, Store } from "../store/index.ts";

export interface MaintenanceDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The configuration in use. */
  readonly config: () => OpenClawConfig;
  readonly stateDir: string;
}

const FIRST_MS = 60_000;
const EVERY_MS = 60 * 60_000;
/** Per pass; what is left is done in the next one. */
const BUDGET_MS = 500;
const DAY_MS = 86_400_000;

/** What the configuration says of `store.retention`, in the store's terms. */
export function retentionOf(config: OpenClawConfig): Partial<RetentionPolicy> {
  const { inboxDays, outboxDays, journalDays, usageDays } = config.store?.retention ?? {};
  return {
    ...(inboxDays === undefined ? {} : { inboxMs: inboxDays * DAY_MS }),
    ...(outboxDays === undefined ? {} : { outboxMs: outboxDays * DAY_MS }),
    ...(journalDays === undefined ? {} : { turnsMs: journalDays * DAY_MS }),
    ...(usageDays === undefined ? {} : { usageMs: usageDays * DAY_MS }),
  };
}

/** Deletes what is past its time, once an hour and in small steps: rows of the store, then files of messages. */
export function scheduleMaintenance(deps: MaintenanceDeps): Disposable {
  const { store, clock, log, config } = deps;
  let timer = clock.after(FIRST_MS, run);
  async function pass(): Promise<void> {
    const report = await store.maintain({ budgetMs: BUDGET_MS, policy: retentionOf(config()) });
    const { expireMedia } = await import("./media-expiry.ts");
    log.debug("maintenance done", { report, media: await expireMedia(deps) });
  }
  function run(): void {
    pass().catch((error: unknown) => log.warn("maintenance failed; it is tried again in an hour", { error }));
    timer = clock.after(EVERY_MS, run);
  }
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
