/** Times that a job did not run at because it waited longer: after failures, or because its last run had only just ended. They are recorded once they have passed. */
import type { Store, Write } from "../../store/index.ts";
import type { CronDeps } from "./cron.ts";
import { listTimes, passedOverAs } from "./due.ts";
import type { CronJob } from "./job.ts";
import { timesOf, type Times } from "./schedule.ts";

/** After 1, 2, 3, 4, and 5 or more failures in a row. */
const BACK_OFF_MS = [30_000, 60_000, 300_000, 900_000, 3_600_000];
/** A job with an expression begins again no sooner than this after a run. */
const LEAST_GAP_MS = 2000;

export type PassedOver = ReturnType<typeof passedOverAs>;

const NONE: PassedOver = { times: [], why: "" };

/** How long a job waits at least after a run. */
export function pauseAfter({ schedule }: Pick<CronJob, "schedule">, failures: number): number {
  if (failures > 0) return BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length) - 1] ?? 0;
  return schedule.kind === "cron" ? LEAST_GAP_MS : 0;
}

/** Undefined for a schedule that cannot be computed: the planner reports it. */
function knownTimes({ schedule, id }: CronJob): Times | undefined {
  try {
    const times = timesOf(schedule, id);
    times.next(0);
    return times;
  } catch {
    return undefined;
  }
}

function reasonOf({ state: { consecutiveErrors: failures = 0 } }: CronJob): string {
  if (failures === 0) return "the previous run had only just ended";
  return `the job is backing off after ${failures === 1 ? "a failure" : `${failures} failures in a row`}`;
}

/** The times of a job from one on, up to and without another. `waiting` is the job that does not run at them. */
export function passedOver(job: CronJob, from: number | undefined, until: number, waiting = job): PassedOver {
  const times = from === undefined || from >= until ? undefined : knownTimes(job);
  return times && from !== undefined ? passedOverAs(listTimes(times, from, until - 1), reasonOf(waiting)) : NONE;
}

/** The times since the end of the last run that a job was held back from, up to and without `until`: those that came after that end was recorded. */
export async function heldBack(store: Pick<Store, "read">, job: CronJob, until: number): Promise<PassedOver> {
  const { lastRunAtMs, nextRunAtMs: planned, consecutiveErrors: failures = 0 } = job.state;
  if (lastRunAtMs === undefined || planned === undefined || job.schedule.kind === "at") return NONE;
  const times = knownTimes(job);
  // Nearly always it was planned for its next time.
  if (!times || (failures === 0 && (job.schedule.kind !== "cron" || times.next(planned - 1) === planned))) return NONE;
  const [last] = await store.read("cron.slot.list", { jobId: job.id, before: lastRunAtMs + 1, limit: 1 });
  if (last?.scheduledAt !== lastRunAtMs || last.finishedAt === null) return NONE;
  // With a change of the job what came before it was recorded.
  return passedOver(job, times.next(Math.max(last.finishedAt, job.updatedAtMs)), until);
}

/** The record of such times, and when the job runs next. */
export const heldWrites = ({ id }: CronJob, { times, why }: PassedOver, nextRunAt: number | null): readonly Write[] =>
  times.length === 0 ? [] : [["cron.job.due", { id, nextRunAt, run: [], missed: [], skipped: times, why }]];

/**
 * Records the times up to now that a job was held back from. `ends`: from here on it runs at its own times again. Gives its next time where that is another
 * one now.
 */
export async function recordHeld({ store, emit, scheduled }: Pick<CronDeps, "store" | "emit" | "scheduled">, job: CronJob, now: number, ends: boolean) {
  const { nextRunAtMs: planned } = job.state;
  if (!job.enabled || planned === undefined || job.schedule.kind === "at") return undefined;
  const natural = ends && planned > now ? knownTimes(job)?.next(now) : undefined;
  const next = natural ?? planned;
  const held = await heldBack(store, job, Math.min(planned, now + 1));
  if (held.times.length === 0 && next === planned) return undefined;
  await store.write("cron.job.due", { id: job.id, nextRunAt: next, run: [], missed: [], skipped: held.times, why: held.why });
  for (const runAtMs of held.times) emit({ jobId: job.id, action: "finished", status: "skipped", error: held.why, runAtMs }, job);
  if (next === planned) return undefined;
  scheduled({ ...job, state: { ...job.state, nextRunAtMs: next } });
  return next;
}
