/** Runs slots: side by side up to the limit, those of one job one after the other. */
import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { clip } from "../../base/text.ts";
import { acceptedRequest, jobSlots, type RunRequest } from "../../conversation/index.ts";
import type { Write } from "../../store/index.ts";
import type { CronDeps, CronEvent } from "./cron.ts";
import { listTimes, passedOverAs } from "./due.ts";
import type { CronJob } from "./job.ts";
import { changeJobIfThere, extraOf, jobOf, type Extra } from "./jobs.ts";
import { agentOf, isQuiet, costOf, isolatedSession, recordOf, requestOf, runIdOf, sessionOf, shownIn, type RunRecord } from "./run.ts";
import { timesOf } from "./schedule.ts";
import { retryWhileFull } from "../retry-while-full.ts";

/** One time of one job. */
export interface Slot {
  readonly jobId: string;
  readonly scheduledAt: number;
  /** The previous process claimed it: its run may have been accepted. */
  readonly isResumed?: boolean;
}

type Ended = RunRecord & { readonly durationMs: number };

/** A job after one of its runs. */
interface Settled {
  readonly job: CronJob;
  /** It has done its work and is removed. */
  readonly isOver: boolean;
  /** Times that it does not run at. */
  readonly skipped: ReturnType<typeof passedOverAs>;
  readonly extra: Extra;
}

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

/** After 1, 2, 3, 4, and 5 or more failures in a row. */
const BACK_OFF_MS = [30_000, 60_000, 300_000, 900_000, 3_600_000];
const ALERT_AFTER = 3;

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

/** Times that a job does not run at because it waits longer after failures. */
function passedOver({ schedule, id, state }: CronJob, until: number | undefined): readonly number[] {
  const { nextRunAtMs: from } = state;
  if (from === undefined || until === undefined || until <= from) return [];
  try {
    return listTimes(timesOf(schedule, id), from, until - 1);
  } catch {
    // The planner reports a schedule that cannot be computed.
    return [];
  }
}

const backOffText = ({ state: { consecutiveErrors: failures = 0 } }: CronJob): string =>
  `the job waits after ${failures === 1 ? "a failure" : `${failures} failures in a row`}`;

const QUIET = "outside the active hours of the agent's heartbeat: the reminder waits for the next heartbeat, or for the session's next turn";

/** How a run ended, and what is committed with its end. */
interface Executed {
  readonly record: RunRecord;
  /** What the agent answered, in full. */
  readonly answer?: string;
  readonly with?: readonly Write[];
}

/** Asks the agent. `left`: the gateway stops, and the run continues after the restart. */
async function execute(deps: CronDeps, job: CronJob, { scheduledAt, isResumed = false }: Slot, isClosed: () => boolean): Promise<Executed | "left"> {
  const { config, store, clock, runs } = deps;
  const isEvent = job.payload.kind === "systemEvent";
  const sessionKey = isEvent ? sessionOf(job, config.current) : isolatedSession(job, config.current);
  try {
    const waits = job.wakeMode === "next-heartbeat";
    if (job.payload.kind === "systemEvent" && (waits || (!isResumed && isQuiet(job, config.current, clock.now())))) {
      const { text } = job.payload;
      const reminder = deps.note({ sessionKey, text, idempotencyKey: runIdOf(job.id, scheduledAt), wake: { source: "cron", now: false } });
      const about = { summary: text, sessionKey };
      return { record: waits ? { status: "ok", ...about } : { status: "skipped", error: QUIET, ...about }, with: [reminder] };
    }
    const runId = runIdOf(job.id, scheduledAt);
    let outcome = isResumed ? await runs.outcome(runId) : undefined;
    let request: Pick<RunRequest, "reply"> | undefined = outcome && (await acceptedRequest(store, runId));
    if (!outcome) {
      const asked = await requestOf(job, scheduledAt, clock.now(), config.current, store);
      const { ended } = await retryWhileFull({ clock, isClosed }, () => runs.accept(asked));
      failpoint("cron.accepted");
      outcome = ended ?? (await runs.outcome(runId));
      request = asked;
    }
    const isLeft = outcome === undefined ? isClosed() : outcome.status === "error" && outcome.failure?.kind === "restarting";
    if (isLeft) return "left";
    failpoint("cron.ended");
    const about = { hasReply: request?.reply !== undefined, costUsd: await costOf(store, sessionKey, job.id, scheduledAt) };
    const record = recordOf(outcome, sessionKey, about);
    return { record, ...(outcome?.status === "ok" && record.summary !== undefined ? { answer: outcome.text.trim() } : {}) };
  } catch (error) {
    return isClosed() ? "left" : { record: { status: "error", error: messageOf(error), sessionKey } };
  }
}

const LABEL = "Cron: ";
const MAX_LABEL = 64;

/** The session of a job is called after it, unless its owner gave it another name. */
async function nameWrites({ store, clock, ids, config }: CronDeps, job: CronJob): Promise<readonly Write[]> {
  if (job.payload.kind === "systemEvent") return [];
  const key = isolatedSession(job, config.current);
  const label = clip(`${LABEL}${job.name}`, MAX_LABEL);
  const row = await store.read("sessions.get", { key });
  const old = row?.entry.label;
  if (!row)
    return [["sessions.put", { key, agentId: agentOf(job, config.current), version: 0, entry: { sessionId: ids.uuid(), updatedAt: clock.now(), label } }]];
  return old !== label && (typeof old !== "string" || old.startsWith(LABEL)) ? [["sessions.merge", { key, patch: { label }, version: row.version }]] : [];
}

/** Records that a job runs, and names its session. Undefined when it was removed. */
async function markRunning(deps: CronDeps, jobId: string, runningAtMs: number): ReturnType<typeof changeJobIfThere> {
  const running = (old: CronJob): CronJob => ({ ...old, state: { ...old.state, runningAtMs } });
  try {
    return await changeJobIfThere(deps.store, jobId, running, (job) => nameWrites(deps, job));
  } catch (error) {
    // Its run matters more than its name.
    deps.log.debug(`the session of the cron job ${jobId} could not be named: ${messageOf(error)}`);
    return changeJobIfThere(deps.store, jobId, running);
  }
}

/** What is reported to the main session about a failed run: the job failed too often in a row, or at its only time. `job` is as the run left it. */
function alertOf({ runnable }: CronDeps, job: CronJob, { status, error = "unknown error" }: Ended): string | undefined {
  const { id, name, enabled, schedule, alertAfter = ALERT_AFTER, state } = job;
  const failures = state.consecutiveErrors ?? 0;
  if (status !== "error" || alertAfter <= 0) return undefined;
  if (schedule.kind === "at" && !enabled)
    return `The scheduled job "${name}" (${id}) failed and is not tried again (\`${runnable(`openclaw cron run ${id}`)}\` runs it): ${error}`;
  return failures === alertAfter ? `The scheduled job "${name}" (${id}) failed ${failures} times in a row: ${error}` : undefined;
}

/** Lines that the main session gets with the end of a run: about jobs that keep failing, and answers that are sent to no chat. `job` is as the run left it. */
function notesOf(deps: CronDeps, job: CronJob, scheduledAt: number, ended: Ended): readonly Write[] {
  const { note, config } = deps;
  const { status, summary, delivered } = ended;
  const sessionKey = sessionOf(job, config.current);
  const id = runIdOf(job.id, scheduledAt);
  const alert = alertOf(deps, job, ended);
  const isShown = job.payload.kind === "agentTurn" && job.delivery?.mode !== "webhook" && delivered !== true;
  const text = `Cron${status === "ok" ? "" : ` (${status})`}: ${summary ?? ""}`;
  return [
    ...(alert === undefined ? [] : [note({ sessionKey, text: alert, idempotencyKey: `${id}:alert` })]),
    ...(isShown && summary !== undefined ? [note({ sessionKey, text, idempotencyKey: `${id}:summary` })] : []),
  ];
}

/** The answer of a job for the session that it is shown in. */
async function postOf({ config, post }: CronDeps, job: CronJob, { scheduledAt }: Slot, answer: string | undefined): ReturnType<CronDeps["post"]> {
  const sessionKey = shownIn(job, config.current);
  if (sessionKey === undefined || answer === undefined) return undefined;
  return post({ sessionKey, agentId: agentOf(job, config.current), text: answer, id: runIdOf(job.id, scheduledAt) });
}

const MOST_TRIES = 5;

/** Runs single slots. `planned` is called with the next time of a job that ended a run. */
function createSlotRun(deps: CronDeps, planned: (at: number) => void, isClosed: () => boolean): (slot: Slot) => Promise<void> {
  const { store, clock, log } = deps;
  const emit = (job: CronJob, event: Omit<CronEvent, "jobId">, extra?: Extra): void => deps.emit({ jobId: job.id, ...event }, job, extra);

  /** What a run leaves of its job: nothing of a reminder that has done its work, the job with its next time otherwise. Undefined when it was removed. */
  async function settle({ jobId, scheduledAt }: Slot, ended: Ended, done: readonly Write[]): Promise<Settled | undefined> {
    const row = await store.read("cron.job.get", { id: jobId });
    if (!row) return undefined;
    const job = jobOf(row);
    const extra = extraOf(row);
    const after = (old: CronJob): CronJob => afterRun(old, scheduledAt, ended, clock.now());
    if (job.schedule.kind === "at" && ended.status === "ok" && job.deleteAfterRun === true) {
      await store.commit([...done, ["cron.job.delete", { id: jobId }], ...notesOf(deps, after(job), scheduledAt, ended)]);
      return { job: after(job), isOver: true, skipped: { times: [], why: "" }, extra };
    }
    const skips = (next: CronJob, old: CronJob): Settled["skipped"] => passedOverAs(passedOver(old, next.state.nextRunAtMs), backOffText(next));
    const changed = await changeJobIfThere(store, jobId, after, (next, old) => {
      const { times, why } = skips(next, old);
      const plan = { id: jobId, nextRunAt: next.state.nextRunAtMs ?? null, run: [], missed: [], skipped: times, why };
      const notes = notesOf(deps, next, scheduledAt, ended);
      return times.length === 0 ? [...done, ...notes] : [...done, ["cron.job.due", plan], ...notes];
    });
    return changed && { job: changed.job, isOver: false, skipped: skips(changed.job, changed.old), extra };
  }

  /** The outcome, on disk: that of the slot, and what its job learns from it. `started` is the job as it was when the run began. */
  async function finish(slot: Slot, started: CronJob, ended: Ended, others: readonly Write[]): Promise<void> {
    const { jobId, scheduledAt } = slot;
    const done: readonly Write[] = [["cron.slot.finish", { jobId, scheduledAt, status: ended.status, detail: ended }], ...others];
    const settled = await settle(slot, ended, done);
    if (!settled) await store.commit([...done, ...notesOf(deps, started, scheduledAt, ended)]);
    failpoint("cron.finished");
    const { job = started, isOver = false, skipped, extra } = settled ?? {};
    const nextRunAtMs = settled?.job.state.nextRunAtMs;
    if (nextRunAtMs !== undefined) planned(nextRunAtMs);
    emit(job, { action: "finished", runAtMs: scheduledAt, ...ended, ...(nextRunAtMs === undefined ? {} : { nextRunAtMs }) }, extra);
    if (isOver) emit(job, { action: "removed" }, extra);
    for (const runAtMs of skipped?.times ?? []) emit(job, { action: "finished", status: "skipped", error: skipped?.why ?? "", runAtMs }, extra);
    const alert = alertOf(deps, job, ended);
    if (alert !== undefined) log.warn(alert, { jobId });
  }

  /** Ends a slot, with what belongs to its end in the same commit. */
  async function end(slot: Slot, job: CronJob, { record, answer, with: others = [] }: Executed, startedAt: number): Promise<void> {
    const ended = (how: RunRecord): Ended => ({ ...how, durationMs: clock.now() - startedAt });
    for (let attempt = 1; ; attempt += 1) {
      const post = await postOf(deps, job, slot, answer);
      try {
        await finish(slot, job, ended(post ? { ...record, delivered: true } : record), [...others, ...(post?.writes ?? [])]);
        return post?.posted();
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        // Something else was written into the session in between.
        if (post && attempt < MOST_TRIES && error.code === "CONFLICT" && "leaf" in error.details) continue;
        // Too many lines wait in the session.
        if (others.length === 0 || error.code !== "OVERLOADED") throw error;
        const { sessionKey } = record;
        return finish(slot, job, ended({ status: "error", error: error.message, ...(sessionKey === undefined ? {} : { sessionKey }) }), []);
      }
    }
  }

  return async (slot) => {
    const { jobId, scheduledAt } = slot;
    const startedAt = clock.now();
    const begun = await markRunning(deps, jobId, startedAt);
    if (!begun) {
      const gone = { status: "skipped", error: "the job was removed" } as const;
      await store.write("cron.slot.finish", { jobId, scheduledAt, status: gone.status, detail: gone });
      return deps.emit({ jobId, action: "finished", runAtMs: scheduledAt, ...gone }, undefined);
    }
    failpoint("cron.started");
    emit(begun.job, { action: "started", runAtMs: scheduledAt });
    const executed = await execute(deps, begun.job, slot, isClosed);
    if (executed !== "left") await end(slot, begun.job, executed, startedAt);
  };
}

export function createRunner(deps: CronDeps, planned: (at: number) => void): Runner {
  const { log, config } = deps;
  const waiting: { readonly slot: Slot; readonly done: () => void }[] = [];
  const running = new Set<string>();
  /** The slots of each job that wait or run. */
  const busy = new Map<string, Set<Promise<void>>>();
  let isClosed = false;
  const runSlot = createSlotRun(deps, planned, () => isClosed);

  function begin(): void {
    const most = jobSlots(config.current);
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
