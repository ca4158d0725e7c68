import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log/logger.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { MaintenanceReport, RetentionPolicy } from "./retention.ts";
import type { Store } from "./store.ts";

export interface MaintenanceDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The configuration in use. */
  readonly config: () => OpenClawConfig;
  /** Removes files of messages that are past their time; called when no rows are left to delete. */
  readonly expireFiles: () => Promise<unknown>;
}

const FIRST_MS = 60_000;
const EVERY_MS = 60 * 60_000;
/** Per pass; what is left is done in the next one, after a pause. */
const BUDGET_MS = 500;
const AGAIN_MS = 500;
const DAY_MS = 86_400_000;

/** What the configuration says of `store.retention`, in the store's terms. */
export function retentionOf(config: OpenClawConfig): Partial<RetentionPolicy> {
  const { inboxDays, outboxDays, journalDays, usageDays, archiveDays } = config.store?.retention ?? {};
  return {
    ...(inboxDays === undefined ? {} : { inboxMs: inboxDays * DAY_MS }),
    ...(outboxDays === undefined ? {} : { outboxMs: outboxDays * DAY_MS }),
    ...(journalDays === undefined ? {} : { turnsMs: journalDays * DAY_MS }),
    ...(usageDays === undefined ? {} : { usageMs: usageDays * DAY_MS }),
    ...(archiveDays === undefined ? {} : { compressMs: archiveDays * DAY_MS }),
  };
}

/**
 * Deletes what is past its time, once an hour and in small steps: rows of the store, pass after pass until nothing is left, then files of messages. Says
 * when it begins to be behind, and when it has caught up.
 */
export function scheduleMaintenance(deps: MaintenanceDeps): Disposable {
  const { store, clock, log, config, expireFiles } = deps;
  let timer = clock.after(FIRST_MS, run);
  let isBehind = false;
  let isStopped = false;

  function tell({ behind, done }: MaintenanceReport): void {
    if (behind && !isBehind) log.warn("retention is behind; it continues until it has caught up", { ...behind });
    if (done && isBehind) log.info("retention has caught up");
    isBehind = behind !== undefined || (isBehind && !done);
  }

  /** True when something is left to do. */
  async function pass(): Promise<boolean> {
    const report = await store.maintain({ budgetMs: BUDGET_MS, policy: retentionOf(config()) });
    tell(report);
    if (!report.done) return true;
    log.debug("maintenance done", { report, media: await expireFiles() });
    return false;
  }
  function wait(ms: number): void {
    if (!isStopped) timer = clock.after(ms, run);
  }
  function run(): void {
    pass().then(
      (more) => wait(more ? AGAIN_MS : EVERY_MS),
      (error: unknown) => {
        log.warn("maintenance failed; it will be retried in an hour", { error });
        wait(EVERY_MS);
      },
    );
  }
  return {
    [Symbol.dispose]() {
      isStopped = true;
      timer[Symbol.dispose]();
    },
  };
}
