/** Jobs in the store. */
import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { CronJobRow, Store, Write } from "../../store/index.ts";
import type { CronJob } from "./job.ts";

type JobStore = Pick<Store, "read" | "commit">;

/** The job of a row. Its next time is the row's. */
export function jobOf({ job, enabled, nextRunAt }: CronJobRow): CronJob {
  // Written by this module after it was checked, or imported as another program wrote it: then a schedule that means nothing ends it when it is due.
  const stored = job as CronJob;
  const { nextRunAtMs: _, ...state } = isRecord(stored.state) ? stored.state : {};
  return { ...stored, enabled, state: { ...state, ...(nextRunAt === null ? {} : { nextRunAtMs: nextRunAt }) } };
}

/** Writes a job over the version it was made from. */
export function putJob(job: CronJob, version: number): Write {
  const { id, enabled, agentId, state } = job;
  return ["cron.job.put", { id, job, enabled, nextRunAt: state.nextRunAtMs ?? null, version, ...(agentId === undefined ? {} : { agentId }) }];
}

/** A job's row. */
export async function rowOf(store: Pick<Store, "read">, id: string): Promise<CronJobRow> {
  const row = await store.read("cron.job.get", { id });
  if (!row) throw new AppError("UNAVAILABLE", `unknown cron job id: ${id}`, { details: { id } });
  return row;
}

/** Changes a job, in one commit with `others`. A change that another writer made first is taken into account. */
export async function changeJob(store: JobStore, id: string, make: (job: CronJob) => CronJob, others: readonly Write[] = []): Promise<CronJob> {
  for (;;) {
    const row = await rowOf(store, id);
    const job = make(jobOf(row));
    try {
      await store.commit([putJob(job, row.version), ...others]);
      return job;
    } catch (error) {
      const isBeaten = error instanceof AppError && error.code === "CONFLICT" && (await store.read("cron.job.get", { id }))?.version !== row.version;
      if (!isBeaten) throw error;
    }
  }
}
