/** The coming times of jobs. Those of jobs that run often are counted and not listed: the list has every time of all other jobs. */
import type { Clock } from "../../base/clock.ts";
import { createSlices, type Slices } from "../../base/slices.ts";
import type { MethodResult } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { CronJob } from "./job.ts";
import { jobOf } from "./jobs.ts";
import { everyStep, minutesAndSeconds, timesOf } from "./schedule.ts";

export type Upcoming = MethodResult<"cron.upcoming">;
type Frequent = Upcoming["frequent"][number];

/** Jobs that are looked at. */
const MAX_JOBS = 2000;
/** A job that runs more often in the time that is asked for is counted; one of every hour in a day is listed. */
const LISTED = 48;
/** Schedules whose times can only be counted one by one. */
const MAX_COUNTED = 5000;
const HOUR_MS = 3_600_000;

interface Coming {
  readonly jobId: string;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** All of them; undefined when there are many. */
  readonly times: readonly number[] | undefined;
  /** There are more than could be counted. */
  readonly isCut?: boolean;
}

/** Counts the times of an expression hour by hour, from what its minutes and seconds say. Undefined where they cannot be read. */
async function countByHour(job: CronJob, first: number, untilMs: number, slices: Slices): Promise<Omit<Coming, "jobId"> | undefined> {
  const { schedule } = job;
  const parts = schedule.kind === "cron" ? minutesAndSeconds(schedule, job.id) : undefined;
  if (!parts || parts.offsets.length * ((untilMs - first) / HOUR_MS) <= LISTED) return undefined;
  const { offsets, hours } = parts;
  const [earliest = 0, latest = 0] = [offsets[0], offsets.at(-1)];
  let count = 0;
  let lastMs = first;
  for (let hour = hours.next(first - HOUR_MS - latest); hour !== undefined && hour + earliest <= untilMs; hour = hours.next(hour)) {
    if (slices.isOver()) await slices.next();
    const start = hour;
    const inside = start + earliest >= first && start + latest <= untilMs ? offsets : offsets.filter((at) => start + at >= first && start + at <= untilMs);
    count += inside.length;
    const last = inside.at(-1);
    if (last !== undefined) lastMs = Math.max(lastMs, start + last);
  }
  return count <= LISTED ? undefined : { count, firstMs: first, lastMs, times: undefined };
}

/** The times of a job from its planned one on. One whose schedule cannot be computed has only that. */
async function comingOf(job: CronJob, first: number, untilMs: number, slices: Slices): Promise<Coming> {
  const jobId = job.id;
  const once = { jobId, count: 1, firstMs: first, lastMs: first, times: [first] };
  if (job.schedule.kind === "at") return once;
  if (job.schedule.kind === "every") {
    const step = everyStep(job.schedule);
    const count = Math.floor((untilMs - first) / step) + 1;
    const times = count > LISTED ? undefined : Array.from({ length: count }, (_, index) => first + index * step);
    return { jobId, count, firstMs: first, lastMs: first + (count - 1) * step, times };
  }
  try {
    const counted = await countByHour(job, first, untilMs, slices);
    if (counted) return { jobId, ...counted };
    const times = timesOf(job.schedule, jobId);
    const found = [first];
    for (let at = times.next(first); at !== undefined && at <= untilMs && found.length < MAX_COUNTED; at = times.next(at)) {
      found.push(at);
      if (slices.isOver()) await slices.next();
    }
    const lastMs = found.at(-1) ?? first;
    return { jobId, count: found.length, firstMs: first, lastMs, times: found.length > LISTED ? undefined : found, isCut: found.length === MAX_COUNTED };
  } catch {
    // The planner reports it when the time comes.
    return once;
  }
}

const bandOf = ({ jobId, count, firstMs, lastMs }: Coming): Frequent => ({ jobId, count, firstMs, lastMs });

/** Up to `limit` times. Where there would be more, the jobs with the most are counted too, so that each job is there. */
export async function upcomingTimes(
  { store, clock }: { readonly store: Pick<Store, "read">; readonly clock: Pick<Clock, "monotonic"> },
  { untilMs, limit }: { readonly untilMs: number; readonly limit: number },
): Promise<Upcoming> {
  const due = await store.read("cron.job.list", { enabled: true, dueUntil: untilMs, limit: MAX_JOBS });
  const slices = createSlices(clock);
  const all: Coming[] = [];
  for (const row of due) {
    if (slices.isOver()) await slices.next();
    if (row.nextRunAt !== null) all.push(await comingOf(jobOf(row), row.nextRunAt, untilMs, slices));
  }
  const byCount = all.toSorted((a, b) => b.count - a.count);
  let listed = all.reduce((sum, { times }) => sum + (times?.length ?? 0), 0);
  const counted = new Set(byCount.filter(({ times }) => times === undefined));
  for (const coming of byCount) {
    if (listed <= limit || coming.count === 1) break;
    if (counted.has(coming)) continue;
    counted.add(coming);
    listed -= coming.count;
  }
  const times = all
    .flatMap((coming) => (counted.has(coming) ? [] : (coming.times ?? []).map((atMs) => ({ jobId: coming.jobId, atMs }))))
    .sort((a, b) => a.atMs - b.atMs);
  return {
    times: times.slice(0, limit),
    frequent: [...counted].map(bandOf),
    runs: all.reduce((sum, { count }) => sum + count, 0),
    jobs: all.length,
    truncated: times.length > limit || due.length === MAX_JOBS || all.some(({ isCut }) => isCut === true),
  };
}
