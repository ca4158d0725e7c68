/** Runs slots: side by side up to the limit, those of one job one after the other. */
import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { clip } from "../../base/text.ts";
import { jobSlots } from "../../conversation/index.ts";
import type { Write } from "../../store/index.ts";
import type { CronDeps, CronEvent } from "./cron.ts";
import { execute, type Executed, type Slot } from "./execute.ts";
import { alertAfterOf } from "./failing.ts";
import { passedOver, pauseAfter, type PassedOver } from "./held.ts";
import type { CronJob } from "./job.ts";
import { changeJobIfThere, extraOf, jobOf, type Extra } from "./jobs.ts";
import { agentOf, isolatedSession, runIdOf, sessionOf, shownIn, type RunRecord } from "./run.ts";
import { addressOf, postingWrite, type Posting } from "./webhook.ts";

type Ended = RunRecord & { readonly durationMs: number };

/** A job after one of its runs. */
interface Settled {
  readonly job: CronJob;
  /** It has done its work and is removed. */
  readonly isOver: boolean;
  /** Times that came while it ran, and that it does not run at. */
  readonly skipped: PassedOver;
  /** Its next run was planned for another time. */
  readonly isReplanned: boolean;
  readonly posting: Posting | undefined;
}

export interface Runner {
  /** Runs a claimed slot as soon as it may run. Resolves when it has ended. */
  run(slot: Slot): Promise<void>;
  /** Why a slot that is claimed does not run yet. */
  waiting(slot: Pick<Slot, "jobId" | "scheduledAt">): string | undefined;
  /** Whether a slot of this job waits or runs. */
  isBusy(jobId: string): boolean;
  /** Resolves when the job's slots have ended. */
  idle(jobId: string): Promise<void>;
  /** Begins nothing any more. What runs is finished by the next process. */
  close(): void;
}

/** The job after one of its runs: what it did, and when it runs again after a failure. */
function afterRun(job: CronJob, scheduledAt: number, { status, error, durationMs }: Ended, now: number): CronJob {
  const { runningAtMs: _running, lastError: _error, nextRunAtMs, ...state } = job.state;
  const failures = status === "error" ? (state.consecutiveErrors ?? 0) + 1 : 0;
  const pause = pauseAfter(job, failures);
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
    deps.log.debug(`the session of the cron job ${jobId} could not be labeled: ${messageOf(error)}`);
    return changeJobIfThere(deps.store, jobId, running);
  }
}

/** What is reported to the main session about a failed run: the job failed too often in a row, or at its only time. `job` is as the run left it. */
function alertOf({ runnable }: CronDeps, job: CronJob, { status, error = "unknown error" }: Ended): string | undefined {
  const { id, name, enabled, schedule, state } = job;
  const failures = state.consecutiveErrors ?? 0;
  const alertAfter = alertAfterOf(job);
  if (status !== "error" || alertAfter === 0) return undefined;
  if (schedule.kind === "at" && !enabled)
    return `The scheduled job "${name}" (${id}) failed and is not retried (to run it: \`${runnable(`openclaw cron run ${id}`)}\`): ${error}`;
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
    ...(alert === undefined ? [] : [note({ sessionKey, text: alert, idempotencyKey: `${id}:alert`, keep: true, untilHeard: true })]),
    ...(isShown && summary !== undefined
      ? [note({ sessionKey, text, idempotencyKey: `${id}:summary`, ...(status === "error" ? { untilHeard: true } : {}) })]
      : []),
  ];
}

/** The answer of a job for the session that it is shown in. */
async function postOf({ config, post }: CronDeps, job: CronJob, { scheduledAt }: Slot, answer: string | undefined): ReturnType<CronDeps["post"]> {
  const sessionKey = shownIn(job, config.current);
  if (sessionKey === undefined || answer === undefined) return undefined;
  return post({ sessionKey, agentId: agentOf(job, config.current), text: answer, id: runIdOf(job.id, scheduledAt) });
}

const MOST_TRIES = 5;

/** What the end of a run leads to. */
export interface RunnerPorts {
  /** Called with the next time of a job that ended a run. */
  readonly planned: (at: number) => void;
  /** Posts a finished run, which is on disk. */
  readonly post: (posting: Posting) => void;
}

/** The end of a slot: its record, and the post that its job asks for. `job` is as the run left it. */
function endOf(deps: CronDeps, job: CronJob, extra: Extra, { jobId, scheduledAt, endedAt }: Slot & { readonly endedAt: number }, ended: Ended) {
  const to = ended.summary === undefined ? undefined : addressOf(deps, job, extra);
  const { nextRunAtMs } = job.state;
  const next = nextRunAtMs === undefined ? {} : { nextRunAtMs };
  const entry = { ts: endedAt, jobId, action: "finished", runAtMs: scheduledAt, ...ended, ...next } as const;
  const posting: Posting | undefined = to === undefined ? undefined : { to, name: job.name, entry };
  const detail = posting ? { ...ended, webhook: { state: "pending" } } : ended;
  const writes: readonly Write[] = [
    ["cron.slot.finish", { jobId, scheduledAt, status: ended.status, detail, at: endedAt }],
    ...(posting ? [postingWrite(posting)] : []),
    ...notesOf(deps, job, scheduledAt, ended),
  ];
  return { writes, posting };
}

/** What a run leaves of its job: nothing of a reminder that has done its work, the job with its next time otherwise. Undefined when it was removed. */
async function settle(deps: CronDeps, slot: Slot, ended: Ended, others: readonly Write[]): Promise<Settled | undefined> {
  const { store, clock } = deps;
  const { jobId, scheduledAt } = slot;
  const row = await store.read("cron.job.get", { id: jobId });
  if (!row) return undefined;
  const job = jobOf(row);
  const extra = extraOf(row);
  const endedAt = clock.now();
  const after = (old: CronJob): CronJob => afterRun(old, scheduledAt, ended, endedAt);
  if (job.schedule.kind === "at" && ended.status === "ok" && job.deleteAfterRun === true) {
    const { writes, posting } = endOf(deps, after(job), extra, { ...slot, endedAt }, ended);
    await store.commit([...writes, ...others, ["cron.job.delete", { id: jobId }]]);
    return { job: after(job), isOver: true, skipped: { times: [], why: "" }, isReplanned: false, posting };
  }
  let posting: Posting | undefined;
  const skips = (next: CronJob, old: CronJob): PassedOver => passedOver(old, old.state.nextRunAtMs, Math.min(next.state.nextRunAtMs ?? 0, endedAt + 1), next);
  const changed = await changeJobIfThere(store, jobId, after, (next, old) => {
    const { times, why } = skips(next, old);
    const plan = { id: jobId, nextRunAt: next.state.nextRunAtMs ?? null, run: [], missed: [], skipped: times, why };
    const done = endOf(deps, next, extra, { ...slot, endedAt }, ended);
    ({ posting } = done);
    return [...done.writes, ...others, ...(times.length === 0 ? [] : [["cron.job.due", plan] as const])];
  });
  if (!changed) return undefined;
  const isReplanned = changed.job.state.nextRunAtMs !== changed.old.state.nextRunAtMs;
  return { job: changed.job, isOver: false, skipped: skips(changed.job, changed.old), isReplanned, posting };
}

/** Runs single slots. */
function createSlotRun(
  deps: CronDeps,
  { planned, post: postFinished }: RunnerPorts,
  { isClosed, waits }: { readonly isClosed: () => boolean; readonly waits: (slot: Slot, why: string | undefined) => void },
): (slot: Slot) => Promise<void> {
  const { store, clock, log } = deps;
  const emit = (job: CronJob, event: Omit<CronEvent, "jobId">): void => deps.emit({ jobId: job.id, ...event }, job);

  /** The outcome, on disk: that of the slot, and what its job learns from it. `started` is the job as it was when the run began. */
  async function finish(slot: Slot, started: CronJob, ended: Ended, others: readonly Write[]): Promise<void> {
    const { jobId, scheduledAt } = slot;
    const settled = await settle(deps, slot, ended, others);
    const removed = settled ? undefined : endOf(deps, { ...started, state: {} }, {}, { ...slot, endedAt: clock.now() }, ended);
    if (removed) await store.commit([...removed.writes, ...others]);
    failpoint("cron.finished");
    const { job = started, isOver = false, skipped } = settled ?? {};
    const posting = settled?.posting ?? removed?.posting;
    if (posting) postFinished(posting);
    const nextRunAtMs = settled?.job.state.nextRunAtMs;
    if (nextRunAtMs !== undefined) planned(nextRunAtMs);
    emit(job, { action: "finished", runAtMs: scheduledAt, ...ended, ...(nextRunAtMs === undefined ? {} : { nextRunAtMs }) });
    if (isOver) emit(job, { action: "removed" });
    if (settled?.isReplanned && nextRunAtMs !== undefined) deps.scheduled(settled.job);
    for (const runAtMs of skipped?.times ?? []) emit(job, { action: "finished", status: "skipped", error: skipped?.why ?? "", runAtMs });
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
    const executed = await execute(deps, begun.job, slot, { isClosed, waits: (why) => waits(slot, why) });
    if (executed !== "left") await end(slot, begun.job, executed, startedAt);
  };
}

export function createRunner(deps: CronDeps, ports: RunnerPorts): Runner {
  const { log, config } = deps;
  /** What runs that began wait for. */
  const reasons = new Map<string, string>();
  const waiting: { readonly slot: Slot; readonly done: () => void }[] = [];
  const running = new Set<string>();
  /** The slots of each job that wait or run. */
  const busy = new Map<string, Set<Promise<void>>>();
  let isClosed = false;
  const waits = ({ jobId, scheduledAt }: Slot, why: string | undefined): void => {
    if (why === undefined) reasons.delete(runIdOf(jobId, scheduledAt));
    else reasons.set(runIdOf(jobId, scheduledAt), why);
  };
  const runSlot = createSlotRun(deps, ports, { isClosed: () => isClosed, waits });

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
    waiting({ jobId, scheduledAt }) {
      if (!waiting.some(({ slot }) => slot.jobId === jobId && slot.scheduledAt === scheduledAt)) return reasons.get(runIdOf(jobId, scheduledAt));
      return running.has(jobId) ? "the previous run of the job is still active" : `${running.size} jobs are running (cron.maxConcurrentRuns)`;
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
