/** Runs slots: side by side up to the limit, those of one job one after the other. */
import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { Responder, RunRequest } from "../../conversation/index.ts";
import type { Write } from "../../store/index.ts";
import type { CronDeps, CronEvent } from "./cron.ts";
import type { CronJob } from "./job.ts";
import { changeJob, jobOf } from "./jobs.ts";
import { isolatedSession, recordOf, requestOf, runIdOf, sessionOf, targetOf, type RunRecord } from "./run.ts";

/** One time of one job. */
export interface Slot {
  readonly jobId: string;
  readonly scheduledAt: number;
  /** The previous process claimed it: its run may have been accepted. */
  readonly isResumed?: boolean;
}

type Ended = RunRecord & { readonly durationMs: number };

export interface Runner {
  /** Runs a claimed slot as soon as it may run. Resolves when it has ended. */
  run(slot: Slot): Promise<void>;
  /** Whether a slot of this job waits or runs. */
  isBusy(jobId: string): boolean;
  /** Resolves when the job's slots have ended. */
  idle(jobId: string): Promise<void>;
  /** Begins nothing any more. What runs is finished by the next process. */
  close(): void;
}

const MAX_CONCURRENT = 8;
/** After 1, 2, 3, 4, and 5 or more failures in a row. */
const BACK_OFF_MS = [30_000, 60_000, 300_000, 900_000, 3_600_000];
const ALERT_AFTER = 3;
const OVERLOADED_PAUSE_MS = 1000;

/** The job after one of its runs: what it did, and when it runs again after a failure. */
function afterRun(job: CronJob, scheduledAt: number, { status, error, durationMs }: Ended, now: number): CronJob {
  const { runningAtMs: _running, lastError: _error, nextRunAtMs, ...state } = job.state;
  const failures = status === "error" ? (state.consecutiveErrors ?? 0) + 1 : 0;
  const pause = failures === 0 ? 0 : (BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length) - 1] ?? 0);
  const isFixed = job.schedule.kind === "at";
  const next = isFixed || nextRunAtMs === undefined ? {} : { nextRunAtMs: pause === 0 ? nextRunAtMs : Math.max(nextRunAtMs, now + pause) };
  return {
    ...job,
    enabled: !isFixed && job.enabled,
    state: {
      ...state,
      ...next,
      lastRunAtMs: scheduledAt,
      lastStatus: status,
      lastDurationMs: durationMs,
      consecutiveErrors: failures,
      ...(error === undefined ? {} : { lastError: error }),
    },
  };
}

/** Asks the agent. `left`: the gateway stops, and the run continues after the restart. */
async function execute(deps: CronDeps, job: CronJob, { scheduledAt, isResumed = false }: Slot, isClosed: () => boolean): Promise<RunRecord | "left"> {
  const { config, store, clock, runs } = deps;
  const isEvent = job.payload.kind === "systemEvent";
  const sessionKey = isEvent ? sessionOf(job, config.current) : isolatedSession(job, config.current);
  try {
    if (job.payload.kind === "systemEvent" && job.wakeMode === "next-heartbeat") {
      const { text } = job.payload;
      await deps.notify({ sessionKey, text, idempotencyKey: runIdOf(job.id, scheduledAt) });
      return { status: "ok", summary: text, sessionKey };
    }
    const runId = runIdOf(job.id, scheduledAt);
    let outcome = isResumed ? await runs.outcome(runId) : undefined;
    if (!outcome) {
      const { ended } = await accept(deps, await requestOf(job, scheduledAt, clock.now(), config.current, store), isClosed);
      failpoint("cron.accepted");
      outcome = ended ?? (await runs.outcome(runId));
    }
    const isLeft = outcome === undefined ? isClosed() : outcome.status === "error" && outcome.failure?.kind === "restarting";
    return isLeft ? "left" : recordOf(outcome, sessionKey);
  } catch (error) {
    return isClosed() ? "left" : { status: "error", error: messageOf(error), sessionKey };
  }
}

/** A full inbox is waited for. */
async function accept({ runs, clock }: CronDeps, request: RunRequest, isClosed: () => boolean): ReturnType<Responder["accept"]> {
  for (;;) {
    try {
      return await runs.accept(request);
    } catch (error) {
      if (isClosed() || !(error instanceof AppError) || error.code !== "OVERLOADED") throw error;
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.after(OVERLOADED_PAUSE_MS, resolve);
      await promise;
    }
  }
}

/** The main session is notified about jobs that keep failing, and about answers that are sent to no chat. */
async function notifyMain({ notify, config, log, store }: CronDeps, job: CronJob, scheduledAt: number, { status, error, summary }: Ended): Promise<void> {
  const { alertAfter = ALERT_AFTER, delivery, payload } = job;
  const failures = job.state.consecutiveErrors ?? 0;
  const sessionKey = sessionOf(job, config.current);
  const id = runIdOf(job.id, scheduledAt);
  if (alertAfter > 0 && failures === alertAfter) {
    const text = `The scheduled job "${job.name}" (${job.id}) failed ${failures} times in a row: ${error ?? "unknown error"}`;
    log.warn(text, { jobId: job.id });
    await notify({ sessionKey, text, idempotencyKey: `${id}:alert` });
  }
  if (payload.kind !== "agentTurn" || summary === undefined || delivery?.mode === "webhook") return;
  const isSent = status === "ok" && (await targetOf(job, config.current, store).catch(() => undefined)) !== undefined;
  if (isSent) return;
  await notify({ sessionKey, text: `Cron${status === "ok" ? "" : ` (${status})`}: ${summary}`, idempotencyKey: `${id}:summary` });
}

/** `planned` is called with the next time of a job that ended a run. */
export function createRunner(deps: CronDeps, planned: (at: number) => void): Runner {
  const { store, clock, log, config } = deps;
  const waiting: { readonly slot: Slot; readonly done: () => void }[] = [];
  const running = new Set<string>();
  /** The slots of each job that wait or run. */
  const busy = new Map<string, Set<Promise<void>>>();
  let isClosed = false;

  const emit = (job: CronJob, event: Omit<CronEvent, "jobId">): void => deps.emit({ jobId: job.id, ...event }, job);

  /** The outcome, on disk: that of the slot, and what its job learns from it. */
  async function finish({ jobId, scheduledAt }: Slot, ended: Ended): Promise<void> {
    const done: Write = ["cron.slot.finish", { jobId, scheduledAt, status: ended.status, detail: ended }];
    const row = await store.read("cron.job.get", { id: jobId });
    if (!row) return void (await store.commit([done]));
    const { schedule, deleteAfterRun } = jobOf(row);
    const isOver = schedule.kind === "at" && ended.status === "ok" && deleteAfterRun === true;
    if (isOver) await store.commit([done, ["cron.job.delete", { id: jobId }]]);
    const after = (old: CronJob): CronJob => afterRun(old, scheduledAt, ended, clock.now());
    const job = isOver ? after(jobOf(row)) : await changeJob(store, jobId, after, [done]);
    failpoint("cron.finished");
    const { nextRunAtMs } = job.state;
    if (nextRunAtMs !== undefined) planned(nextRunAtMs);
    emit(job, { action: "finished", runAtMs: scheduledAt, ...ended, ...(nextRunAtMs === undefined ? {} : { nextRunAtMs }) });
    if (isOver) emit(job, { action: "removed" });
    await notifyMain(deps, job, scheduledAt, ended);
  }

  async function runSlot(slot: Slot): Promise<void> {
    const { jobId, scheduledAt } = slot;
    const startedAt = clock.now();
    if (!(await store.read("cron.job.get", { id: jobId }))) {
      await store.write("cron.slot.finish", { jobId, scheduledAt, status: "skipped", detail: { error: "the job was removed" } });
      return;
    }
    const job = await changeJob(store, jobId, (old) => ({ ...old, state: { ...old.state, runningAtMs: startedAt } }));
    emit(job, { action: "started", runAtMs: scheduledAt });
    const record = await execute(deps, job, slot, () => isClosed);
    if (record !== "left") await finish(slot, { ...record, durationMs: clock.now() - startedAt });
  }

  function begin(): void {
    const most = config.current.cron?.maxConcurrentRuns ?? MAX_CONCURRENT;
    if (isClosed) return;
    while (running.size < most) {
      const index = waiting.findIndex(({ slot }) => !running.has(slot.jobId));
      const [next] = index < 0 ? [] : waiting.splice(index, 1);
      if (!next) return;
      const { slot, done } = next;
      running.add(slot.jobId);
      runSlot(slot)
        .catch((error: unknown) => log.error(`a run of cron job ${slot.jobId} could not be recorded: ${messageOf(error)}`, { ...slot }))
        .finally(() => {
          running.delete(slot.jobId);
          done();
          begin();
        });
    }
  }

  return {
    run(slot) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const slots = busy.get(slot.jobId) ?? new Set();
      busy.set(slot.jobId, slots.add(promise));
      const done = (): void => {
        slots.delete(promise);
        if (slots.size === 0) busy.delete(slot.jobId);
        resolve();
      };
      waiting.push({ slot, done });
      begin();
      return promise;
    },
    isBusy: (jobId) => busy.has(jobId),
    async idle(jobId) {
      await Promise.all(busy.get(jobId) ?? new Set<Promise<void>>());
    },
    close() {
      isClosed = true;
    },
  };
}
