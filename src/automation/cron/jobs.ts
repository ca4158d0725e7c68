/** Jobs in the store. */
import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { CronJobRow, Store, Write } from "../../store/index.ts";
import type { CronJob } from "./job.ts";

type JobStore = Pick<Store, "read" | "commit">;

/** What another program wrote into a job and means nothing to the methods here: it stays with the job and in its file. */
export type Extra = Readonly<Record<string, unknown>>;

/** The job of a row. Its next time is the row's. */
export function jobOf({ job, enabled, nextRunAt }: CronJobRow): CronJob {
  // Written by this module after it was checked, or imported as another program wrote it: then a schedule that means nothing ends it when it is due.
  const { extra: _extra, ...stored } = job as CronJob & { readonly extra?: Extra };
  const { nextRunAtMs: _, ...state } = isRecord(stored.state) ? stored.state : {};
  return { ...stored, enabled, state: { ...state, ...(nextRunAt === null ? {} : { nextRunAtMs: nextRunAt }) } };
}

export function extraOf({ job }: CronJobRow): Extra {
  const extra = isRecord(job) ? job["extra"] : undefined;
  return isRecord(extra) ? extra : {};
}

/** Writes a job over the version it was made from. */
export function putJob(job: CronJob, version: number, extra: Extra): Write {
  const { id, enabled, agentId, state } = job;
  const stored = Object.keys(extra).length === 0 ? job : { ...job, extra };
  return ["cron.job.put", { id, job: stored, enabled, nextRunAt: state.nextRunAtMs ?? null, version, ...(agentId === undefined ? {} : { agentId }) }];
}

/** Clients know it as `UNAVAILABLE`, the documented code: the details say that nothing is to be waited for. */
const unknownJob = (id: string): AppError =>
  new AppError("NOT_FOUND", `unknown cron job id: ${id}`, {
    details: { code: "CRON_JOB_NOT_FOUND", jobId: id, protocolCode: "UNAVAILABLE", retryable: false },
  });

/** A job's row. */
export async function rowOf(store: Pick<Store, "read">, id: string): Promise<CronJobRow> {
  const row = await store.read("cron.job.get", { id });
  if (!row) throw unknownJob(id);
  return row;
}

/** Writes that are made with a change, in one commit. */
type Others = (job: CronJob, old: CronJob) => readonly Write[] | Promise<readonly Write[]>;

/** Changes a job. A change that another writer made first is taken into account. Undefined, and nothing written, when the job is gone. */
export async function changeJobIfThere(
  store: JobStore,
  id: string,
  make: (job: CronJob) => CronJob,
  others: Others = () => [],
): Promise<{ readonly job: CronJob; readonly old: CronJob } | undefined> {
  for (;;) {
    const row = await store.read("cron.job.get", { id });
    if (!row) return undefined;
    const old = jobOf(row);
    const job = make(old);
    try {
      await store.commit([putJob(job, row.version, extraOf(row)), ...(await others(job, old))]);
      return { job, old };
    } catch (error) {
      const isBeaten = error instanceof AppError && error.code === "CONFLICT" && (await store.read("cron.job.get", { id }))?.version !== row.version;
      if (!isBeaten) throw error;
    }
  }
}

/** Changes a job that has to be there. */
export async function changeJob(store: JobStore, id: string, make: (job: CronJob) => CronJob): Promise<{ readonly job: CronJob; readonly old: CronJob }> {
  const changed = await changeJobIfThere(store, id, make);
  if (!changed) throw unknownJob(id);
  return changed;
}
