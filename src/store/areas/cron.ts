import type { NoInput } from "./input.ts";

/** A cron job, with the columns that the store queries by. */
export interface CronJobRow {
  readonly id: string;
  readonly agentId: string | null;
  readonly enabled: boolean;
  readonly nextRunAt: number | null;
  readonly version: number;
  readonly updatedAt: number;
  readonly job: unknown;
}

/** One scheduled time of one job. There is never a second row for it. */
export interface CronSlotRow {
  readonly jobId: string;
  readonly scheduledAt: number;
  readonly state: "running" | "finished" | "missed";
  readonly owner: string | null;
  readonly claimedAt: number;
  readonly finishedAt: number | null;
  /** Once finished. */
  readonly status: "ok" | "error" | "skipped" | null;
  readonly detail: unknown;
}

/** Scheduled runs that ended in one step of time. */
export interface CronOutcomes {
  /** Where the step begins. */
  readonly from: number;
  readonly runs: number;
  readonly failed: number;
}

export interface CronWrites {
  /** Writes a job. With `version` only over that version (0 = it must not exist), else `CONFLICT`. */
  "cron.job.put": {
    input: {
      readonly id: string;
      readonly job: unknown;
      readonly enabled: boolean;
      readonly nextRunAt: number | null;
      readonly agentId?: string | undefined;
      readonly version?: number | undefined;
    };
    result: { readonly version: number };
  };
  /** Changes only the time of the next run. */
  "cron.job.next": { input: { readonly id: string; readonly nextRunAt: number | null }; result: void };
  /** Its slots stay until their retention ends, so that a deleted and restored job cannot run a slot twice. */
  "cron.job.delete": { input: { readonly id: string }; result: { readonly deleted: boolean } };
  /**
   * Plans the next time of a job and settles those that are due: `run` are claimed, `skipped` and `missed` are recorded. Returns the times that were claimed:
   * none that ran or was skipped before.
   */
  "cron.job.due": {
    input: {
      readonly id: string;
      readonly nextRunAt: number | null;
      readonly run: readonly number[];
      readonly missed: readonly number[];
      /** Not run although it was their time; `why` is recorded with them. */
      readonly skipped: readonly number[];
      readonly why?: string | undefined;
    };
    result: { readonly claimed: readonly number[] };
  };
  /** `claimed: false` when the slot was already claimed, finished or missed; `slot` is the existing row. */
  "cron.slot.claim": {
    input: { readonly jobId: string; readonly scheduledAt: number; readonly owner?: string | undefined };
    result: { readonly claimed: boolean; readonly slot: CronSlotRow };
  };
  /** `CONFLICT` unless it is running. */
  "cron.slot.finish": {
    input: {
      readonly jobId: string;
      readonly scheduledAt: number;
      readonly status: "ok" | "error" | "skipped";
      readonly detail?: unknown;
      /** When it ended; now when left out. */
      readonly at?: number | undefined;
    };
    result: void;
  };
  /** Merges these fields into the detail of a slot, if there is one. */
  "cron.slot.note": { input: { readonly jobId: string; readonly scheduledAt: number; readonly patch: Readonly<Record<string, unknown>> }; result: void };
  /** Records slots that did not run. Returns those that were new. */
  "cron.slot.missed": { input: { readonly jobId: string; readonly scheduledAt: readonly number[] }; result: readonly number[] };
}

export interface CronReads {
  "cron.job.get": { input: { readonly id: string }; result: CronJobRow | undefined };
  /** By next run, jobs without one last. */
  "cron.job.list": {
    input: {
      readonly enabled?: boolean | undefined;
      readonly dueUntil?: number | undefined;
      readonly lastStatus?: string | undefined;
      readonly limit?: number | undefined;
    };
    result: readonly CronJobRow[];
  };
  /** By id, from the one after `afterId`. */
  "cron.job.page": { input: { readonly afterId: string; readonly limit: number }; result: readonly CronJobRow[] };
  "cron.job.count": { input: NoInput; result: number };
  /** How the jobs stand: the same text as long as none was added, changed, planned or removed. */
  "cron.job.mark": { input: NoInput; result: string };
  /** The earliest next run of all enabled jobs; null without one. */
  "cron.job.earliest": { input: NoInput; result: number | null };
  /** Newest first. */
  "cron.slot.list": {
    input: { readonly jobId: string; readonly limit?: number | undefined; readonly before?: number | undefined };
    result: readonly CronSlotRow[];
  };
  /** Runs of all jobs that ended at or after `since`, by steps of `stepMs` from there. Steps without runs are left out. */
  "cron.slot.outcomes": { input: { readonly since: number; readonly stepMs: number }; result: readonly CronOutcomes[] };
  /** Slots that are running, or were when the process died. */
  "cron.slot.running": { input: NoInput; result: readonly CronSlotRow[] };
}
