/**
 * Jobs that run at set times. A slot, one time of one job, is a row in the store: it is claimed in the commit that plans the next time, its run enters the
 * inbox under an id made of job and time, and it is finished with the outcome. When a process dies in between, the next one finds the claimed slot, and
 * the inbox knows whether its run was accepted: it runs once.
 */
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Responder } from "../../conversation/index.ts";
import type { EventPayload } from "../../protocol/index.ts";
import type { CronSlotRow, Store, Write } from "../../store/index.ts";
import { createJob, patchedSchedule, patchJob, withFittingName, type CronJob, type JobPatch, type NewJob } from "./job.ts";
import { changeJob, jobOf, putJob, rowOf } from "./jobs.ts";
import { recordHeld } from "./held.ts";
import { createPlanner } from "./planner.ts";
import type { RunRecord } from "./run.ts";
import { createRunner, type Runner } from "./runner.ts";
import { checkSchedule, parseAt, previewTimes, timesOf, type Preview, type Schedule } from "./schedule.ts";
import { upcomingTimes, type Upcoming } from "./upcoming.ts";
import { checkWebhook, createWebhooks, type WebhookDeps, type WebhookRecord } from "./webhook.ts";

export type CronEvent = EventPayload<"cron">;
export type CronEntry = CronEvent & { readonly ts: number };

/** Notified about everything that happens to jobs. A job that was removed before its run began is not known any more. */
export type Emit = (event: CronEvent, job: CronJob | undefined) => void;

export interface CronDeps {
  readonly config: WebhookDeps["config"];
  readonly store: Pick<Store, "read" | "write" | "commit">;
  /** How webhooks are reached. */
  readonly reach?: WebhookDeps["reach"];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly runs: Pick<Responder, "accept" | "outcome">;
  /** The write that queues a line for the next turn of a session. */
  readonly note: (event: {
    readonly sessionKey: string;
    readonly text: string;
    readonly idempotencyKey: string;
    /** The next heartbeat acts on it. */
    readonly wake?: { readonly source: "cron"; readonly now: false };
    /** It stays until a turn has read it, however many come after it. */
    readonly keep?: true;
    /** Only a turn whose answer reaches someone gets it. */
    readonly untilHeard?: true;
  }) => Write;
  /** The writes that put a text into a session as the agent's, and what shows it once they are on disk. Undefined when there is no such session. */
  readonly post: (message: {
    readonly sessionKey: string;
    readonly agentId: string;
    readonly text: string;
    readonly id: string;
  }) => Promise<{ readonly writes: readonly Write[]; posted(): void } | undefined>;
  /** A text with every `openclaw …` command as the user can run it. */
  readonly runnable: (text: string) => string;
  /** Called once it is on disk. */
  readonly emit: Emit;
  /** Called when the next run of a job was planned for another time, once it is on disk. */
  readonly scheduled: (job: CronJob) => void;
  /** The setting or the variable that lets jobs only run by hand; undefined when they run by themselves. */
  readonly disabledBy: () => string | undefined;
}

export interface Cron extends AsyncDisposable {
  /** Resumes what the previous process left, then runs jobs when they are due. */
  start(): Promise<void>;
  /** The configuration changed: jobs may run now, or no longer. */
  reconsider(): Promise<void>;
  list(filter: { readonly includeDisabled?: boolean | undefined }): Promise<readonly CronJob[]>;
  status(): Promise<{ readonly enabled: boolean; readonly disabledBy?: string; readonly jobs: number; readonly nextWakeAtMs: number | null }>;
  add(input: NewJob): Promise<CronJob>;
  update(id: string, patch: JobPatch): Promise<CronJob>;
  remove(id: string): Promise<boolean>;
  /** Runs a job now and resolves when it has ended. */
  run(id: string, mode: "due" | "force"): Promise<{ readonly ran: boolean; readonly reason?: "already-running" | "not-due" }>;
  /** The last runs, oldest first: finished, missed, and those that have started. */
  runs(id: string, limit: number): Promise<readonly CronEntry[]>;
  /** The times at which a schedule would run: of this job, or of a new one. Refuses a schedule that cannot be used. */
  next(schedule: Schedule, count: number, id?: string): Promise<Preview>;
  /** The coming times of all jobs, in order; of jobs that run often only how many there are. */
  upcoming(range: { readonly untilMs: number; readonly limit: number }): Promise<Upcoming>;
}

/** When a job runs next. A fixed time that has passed is due at once, unless the job has run since. */
export function withNext(job: CronJob, now: number): CronJob {
  const { nextRunAtMs: _, ...state } = job.state;
  const fixed = job.schedule.kind === "at" ? parseAt(job.schedule.at) : undefined;
  const isOpen = fixed !== undefined && (state.lastRunAtMs === undefined || state.lastRunAtMs < fixed);
  const next = !job.enabled ? undefined : isOpen ? fixed : timesOf(job.schedule, job.id).next(now);
  return { ...job, state: { ...state, ...(next === undefined ? {} : { nextRunAtMs: next }) } };
}

/** A finished slot as `cron.runs` and the file of a job's runs show it. */
export function entryOf({ jobId, scheduledAt, state, status, finishedAt, detail }: CronSlotRow): CronEntry {
  const { status: _, ...record } = (detail ?? {}) as Partial<RunRecord> & { readonly durationMs?: number; readonly webhook?: WebhookRecord };
  const about = { ts: finishedAt ?? scheduledAt, jobId, action: "finished", runAtMs: scheduledAt } as const;
  if (state === "missed") return { ...about, status: "skipped", error: "missed: the gateway was not running, or the time was too long ago" };
  return { ...about, ...record, ...(status === null ? {} : { status }) };
}

/** A slot that is claimed and has not ended. */
const startedEntryOf = ({ jobId, scheduledAt, claimedAt }: CronSlotRow, waiting: string | undefined): CronEntry => ({
  ts: claimedAt,
  jobId,
  action: "started",
  runAtMs: scheduledAt,
  ...(waiting === undefined ? {} : { waiting }),
});

async function preview({ store, clock }: CronDeps, schedule: Schedule, count: number, id: string | undefined): Promise<Preview> {
  const row = id === undefined ? undefined : await store.read("cron.job.get", { id });
  const checked = row ? patchedSchedule(jobOf(row).schedule, schedule, clock.now()) : checkSchedule(schedule, clock.now());
  return previewTimes(checked, clock.now(), count, row?.id);
}

async function lastRuns({ store, clock }: CronDeps, runner: Pick<Runner, "waiting">, id: string, limit: number): Promise<readonly CronEntry[]> {
  const slots = await store.read("cron.slot.list", { jobId: id, limit });
  if (slots.length === 0) await rowOf(store, id);
  // Earlier versions recorded times that a job was not going to run at before they came.
  const now = clock.now();
  const past = slots.filter(({ status, scheduledAt }) => status !== "skipped" || scheduledAt <= now);
  return past.map((slot) => (slot.state === "running" ? startedEntryOf(slot, runner.waiting(slot)) : entryOf(slot))).reverse();
}

/** A job after a change, with its next time where that may be another one. */
function replanned(job: CronJob, patch: JobPatch, now: number): CronJob {
  const next = patchJob(job, patch, now);
  return patch.schedule === undefined && patch.enabled === undefined ? next : withNext(next, now);
}

async function statusOf({ store, disabledBy: why }: CronDeps): ReturnType<Cron["status"]> {
  const [jobs, next] = await Promise.all([store.read("cron.job.count", {}), store.read("cron.job.earliest", {})]);
  const disabledBy = why();
  const isEnabled = disabledBy === undefined;
  return { enabled: isEnabled, ...(isEnabled ? {} : { disabledBy }), jobs, nextWakeAtMs: isEnabled ? next : null };
}

export function createCron(deps: CronDeps): Cron {
  const { store, clock, ids, log } = deps;
  const webhooks = createWebhooks(deps);
  const runner = createRunner(deps, { planned: (at) => planner.planned(at), post: webhooks.post });
  const planner = createPlanner(deps, runner);
  /** Jobs that are being claimed by hand. */
  const forced = new Set<string>();

  function changed(job: CronJob, action: "added" | "updated", before?: number): CronJob {
    const { nextRunAtMs } = job.state;
    if (nextRunAtMs !== undefined) planner.planned(nextRunAtMs);
    deps.emit({ jobId: job.id, action, ...(nextRunAtMs === undefined ? {} : { nextRunAtMs }) }, job);
    if (nextRunAtMs !== undefined && nextRunAtMs !== before) deps.scheduled(job);
    return job;
  }

  async function catchUp(id: string, now: number, ends = false): Promise<void> {
    const next = runner.isBusy(id) ? undefined : await recordHeld(deps, jobOf(await rowOf(store, id)), now, ends);
    if (next !== undefined) planner.planned(next);
  }

  return {
    async start() {
      const left = await store.read("cron.slot.running", {});
      if (left.length > 0) log.info(`${left.length} cron runs resumed from the previous process`);
      await webhooks.resume();
      for (const { jobId, scheduledAt } of left) void runner.run({ jobId, scheduledAt, isResumed: true });
      await planner.start();
    },
    reconsider: () => planner.start(),
    list: async ({ includeDisabled = false }) => (await store.read("cron.job.list", includeDisabled ? {} : { enabled: true })).map(jobOf),
    status: () => statusOf(deps),
    async add(input) {
      const now = clock.now();
      const job = withNext(createJob(ids.uuid(), withFittingName(input), now), now);
      await checkWebhook(job, deps);
      await store.commit([putJob(job, 0, {})]);
      return changed(job, "added");
    },
    async update(id, patch) {
      const now = clock.now();
      await catchUp(id, now);
      if (patch.delivery) await checkWebhook(patchJob(jobOf(await rowOf(store, id)), patch, now), deps);
      const { job, old } = await changeJob(store, id, (before) => replanned(before, patch, now));
      return changed(job, "updated", old.state.nextRunAtMs);
    },
    async remove(id) {
      const row = await store.read("cron.job.get", { id });
      if (!row || !(await store.write("cron.job.delete", { id })).deleted) return false;
      deps.emit({ jobId: id, action: "removed" }, jobOf(row));
      return true;
    },
    async run(id, mode) {
      const { nextRunAt } = await rowOf(store, id);
      const now = clock.now();
      if (runner.isBusy(id) || forced.has(id)) return { ran: false, reason: "already-running" };
      if (mode === "due") {
        if (nextRunAt === null || nextRunAt > now) return { ran: false, reason: "not-due" };
        await planner.tick();
        await runner.idle(id);
        return { ran: true };
      }
      forced.add(id);
      try {
        await catchUp(id, now, true);
        let scheduledAt = now;
        while (!(await store.write("cron.slot.claim", { jobId: id, scheduledAt })).claimed) scheduledAt += 1;
        await runner.run({ jobId: id, scheduledAt });
      } finally {
        forced.delete(id);
      }
      return { ran: true };
    },
    runs: (id, limit) => lastRuns(deps, runner, id, limit),
    upcoming: (range) => upcomingTimes(deps, range),
    next: (schedule, count, id) => preview(deps, schedule, count, id),
    async [Symbol.asyncDispose]() {
      runner.close();
      await planner.close();
      await webhooks.close();
    },
  };
}
