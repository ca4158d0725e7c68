/** Which runs of a job are due, and which were missed. */
import type { CronJob } from "./job.ts";
import type { Times } from "./schedule.ts";

/** A run that begins later than this was missed: the gateway was not running, or the machine was asleep. */
const ON_TIME_MS = 60_000;
const MISSED_MAX_AGE_MS = 6 * 3_600_000;
/** Missed times that are listed one by one; of more only the newest are. */
const MAX_LISTED = 1000;

export interface Due {
  /** In order. */
  readonly run: readonly number[];
  /** Recorded as missed. */
  readonly missed: readonly number[];
  /** Undefined when the job has no time left. */
  readonly next: number | undefined;
}

/** The times from `first` to `now`, the newest if there are too many. */
function listTimes(times: Times, first: number, now: number): readonly number[] {
  const listed: number[] = [];
  for (let at: number | undefined = first; at !== undefined && at <= now; at = times.next(at)) {
    listed.push(at);
    if (listed.length > 2 * MAX_LISTED) listed.splice(0, MAX_LISTED);
  }
  return listed.slice(-MAX_LISTED);
}

/** A clock that was set forward by years would have a job of every second list them all: of a long gap only the last day is looked at. */
const startOf = (times: Times, first: number, now: number): number => {
  const dayAgo = now - 24 * 3_600_000;
  return first < dayAgo ? Math.min(times.next(dayAgo - 1) ?? first, now) : first;
};

/** Decides about a job whose next run was planned for `planned`, which is not after `now`. */
export function dueRuns(job: Pick<CronJob, "schedule" | "missed" | "missedMaxAgeMs">, times: Times, planned: number, now: number): Due {
  const next = times.next(now);
  if (job.schedule.kind === "at") return { run: [planned], missed: [], next: undefined };
  const { missed: policy = "last", missedMaxAgeMs = MISSED_MAX_AGE_MS } = job;
  const first = startOf(times, planned, now);
  const listed = first === planned ? listTimes(times, planned, now) : [planned, ...listTimes(times, first, now)];
  const isOnTime = (at: number): boolean => now - at <= ON_TIME_MS;
  const isYoung = (at: number): boolean => now - at <= missedMaxAgeMs;
  const newest = listed.at(-1);
  const runs = (at: number): boolean => {
    if (policy === "all") return isOnTime(at) || isYoung(at);
    return at === newest && (isOnTime(at) || (policy === "last" && isYoung(at)));
  };
  return { run: listed.filter(runs), missed: listed.filter((at) => !runs(at)), next };
}
