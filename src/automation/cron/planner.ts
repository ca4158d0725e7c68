/** Waits for the next due job and claims its slots. Nothing is read while nothing is due. */
import { messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { CronJobRow } from "../../store/index.ts";
import type { CronDeps } from "./cron.ts";
import { heldBack, heldWrites } from "./held.ts";
import { dueRuns, passedOverAs, type Due } from "./due.ts";
import { changeJob, jobOf } from "./jobs.ts";
import type { CronJob } from "./job.ts";
import type { Runner } from "./runner.ts";
import { timesOf } from "./schedule.ts";

export interface Planner {
  /** Looks for the next due job in the store, and waits for it. */
  start(): Promise<void>;
  /** A job is due at this time: it may be earlier than the one that is waited for. */
  planned(at: number): void;
  /** Claims what is due now. */
  tick(): Promise<void>;
  close(): Promise<void>;
}

/** Jobs that are claimed at once. */
const BATCH = 100;
/** Timers count elapsed time: a clock that was set, or a machine that slept, is noticed within this. */
const LOOK_AGAIN_MS = 60_000;
const RETRY_MS = 5000;
const MAX_SCHEDULE_ERRORS = 3;
const STILL_RUNNING = "the previous run was still active";
const TOO_OFTEN = "the job came due again before it could start";

/** A schedule that cannot be computed ends its job after some attempts, instead of failing for ever. */
async function unplannable({ store, clock, log, emit, scheduled }: CronDeps, id: string, error: unknown): Promise<void> {
  const text = `schedule error: ${messageOf(error)}`;
  log.warn(text, { jobId: id });
  const { job } = await changeJob(store, id, (old) => {
    const { nextRunAtMs: _, ...state } = old.state;
    const failures = (state.consecutiveErrors ?? 0) + 1;
    const isOver = failures >= MAX_SCHEDULE_ERRORS;
    const next = isOver ? {} : { nextRunAtMs: clock.now() + LOOK_AGAIN_MS };
    return { ...old, enabled: !isOver, state: { ...state, ...next, consecutiveErrors: failures, lastError: text, lastStatus: "error" } };
  });
  emit({ jobId: id, action: "updated", error: text }, job);
  if (job.state.nextRunAtMs !== undefined) scheduled(job);
}

/** A job whose next run is at this time. */
const nextAt = (job: CronJob, nextRunAtMs: number): CronJob => ({ ...job, state: { ...job.state, nextRunAtMs } });

/** The clock was set back: jobs that were planned by the later time are planned again. Times that ran already have their slots and do not run twice. */
async function replan({ store, clock, log, scheduled }: CronDeps): Promise<void> {
  const now = clock.now();
  log.warn("the clock was set back: scheduled jobs are replanned");
  try {
    for (const row of await store.read("cron.job.list", { enabled: true })) {
      const job = jobOf(row);
      const next = job.schedule.kind === "at" ? undefined : timesOf(job.schedule, row.id).next(now);
      if (next === undefined || row.nextRunAt === null || next >= row.nextRunAt) continue;
      await store.write("cron.job.next", { id: row.id, nextRunAt: next });
      scheduled(nextAt(job, next));
    }
  } catch (error) {
    log.warn(`scheduled jobs could not be replanned: ${messageOf(error)}`);
  }
}

/** Claims the slots of a job that are due, and records those that do not run. */
function createClaim(deps: CronDeps, runner: Runner): (row: CronJobRow, now: number) => Promise<void> {
  const { store, log } = deps;
  /** Jobs that are due again while they run: the log says so once for each run. */
  const late = new Set<string>();

  return async (row, now) => {
    const { id: jobId, nextRunAt } = row;
    if (nextRunAt === null) return;
    const job = jobOf(row);
    let due: Due;
    try {
      due = dueRuns(job, timesOf(job.schedule, jobId), nextRunAt, now);
    } catch (error) {
      return unplannable(deps, jobId, error);
    }
    const { run, missed, passed, next = null } = due;
    const isBusy = runner.isBusy(jobId);
    const skip = (runAtMs: number, error: string): void => {
      log[late.has(jobId) ? "debug" : "info"](`the cron job "${job.name}" did not run: ${error}`, { jobId, runAtMs });
      deps.emit({ jobId, action: "finished", status: "skipped", error, runAtMs }, job);
    };
    if (isBusy) {
      const skipped = [...passed, ...run];
      await store.write("cron.job.due", { id: jobId, nextRunAt: next, run: [], missed, skipped, why: STILL_RUNNING });
      if (next !== null) deps.scheduled(nextAt(job, next));
      for (const at of skipped) {
        skip(at, STILL_RUNNING);
        late.add(jobId);
      }
      for (const at of missed) skip(at, "missed");
      return;
    }
    late.delete(jobId);
    const over = passedOverAs(passed, TOO_OFTEN);
    const held = await heldBack(store, job, nextRunAt);
    const [{ claimed }] = await store.commit([
      ["cron.job.due", { id: jobId, nextRunAt: next, run, skipped: over.times, missed, why: over.why }],
      ...heldWrites(job, held, next),
    ]);
    failpoint("cron.claimed");
    if (next !== null) deps.scheduled(nextAt(job, next));
    for (const at of held.times) skip(at, held.why);
    for (const at of missed) skip(at, "missed");
    for (const at of over.times) skip(at, over.why);
    for (const scheduledAt of claimed) void runner.run({ jobId, scheduledAt });
  };
}

export function createPlanner(deps: CronDeps, runner: Runner): Planner {
  const { store, clock, log } = deps;
  let timer: Disposable | undefined;
  let earliest: number | null = null;
  let isClosed = false;
  let ticking: Promise<void> = Promise.resolve();
  const claim = createClaim(deps, runner);

  async function claimDue(): Promise<void> {
    const now = clock.now();
    for (let count = BATCH; count === BATCH;) {
      const due = await store.read("cron.job.list", { enabled: true, dueUntil: now, limit: BATCH });
      // The commits of a batch reach the disk together.
      await Promise.all(due.map((row) => claim(row, now)));
      count = due.length;
    }
    earliest = await store.read("cron.job.earliest", {});
  }

  function tick(): Promise<void> {
    ticking = ticking.then(async () => {
      if (isClosed) return;
      try {
        await claimDue();
      } catch (error) {
        log.warn(`cron could not check for due jobs and will retry: ${messageOf(error)}`);
        earliest = clock.now() + RETRY_MS;
      }
      arm();
    });
    return ticking;
  }

  function arm(): void {
    timer?.[Symbol.dispose]();
    timer = undefined;
    const at = earliest;
    if (isClosed || at === null || deps.disabledBy() !== undefined) return;
    const armedAt = clock.now();
    timer = clock.after(Math.min(Math.max(at - armedAt, 0), LOOK_AGAIN_MS), () => {
      if (clock.now() < armedAt - LOOK_AGAIN_MS) void replan(deps).then(tick);
      else void (clock.now() < at ? arm() : tick());
    });
  }

  return {
    async start() {
      earliest = await store.read("cron.job.earliest", {});
      arm();
    },
    planned(at) {
      if (earliest !== null && earliest <= at) return;
      earliest = at;
      arm();
    },
    tick,
    async close() {
      isClosed = true;
      timer?.[Symbol.dispose]();
      await ticking;
    },
  };
}
