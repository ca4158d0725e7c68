/** Which runs of a job are due, and which were missed. */
import type { CronJob } from "./job.ts";
import type { Times } from "./schedule.ts";

/** A run that begins later than this was missed: the gateway was not running, or the machine was asleep. */
const ON_TIME_MS = 60_000;
const HOUR_MS = 3_600_000;
const MISSED_MAX_AGE_MS = 6 * HOUR_MS;
/** Missed times that are recorded one by one; of more only the newest are. */
const MAX_LISTED = 1000;

/** Times that were passed over for one reason, and are more than this, are one record with their number. */
const MAX_ONE_BY_ONE = 10;

/** How times that did not run are recorded: one by one, or many as one at the last of them. */
export function passedOverAs(times: readonly number[], why: string): { readonly times: readonly number[]; readonly why: string } {
  if (times.length <= MAX_ONE_BY_ONE) return { times, why };
  return { times: times.slice(-1), why: `${why} (${times.length.toLocaleString("en")} times, most recently now)` };
}

export interface Due {
  /** In order. */
  readonly run: readonly number[];
  /** Recorded as missed: the gateway was not running, or the machine slept. */
  readonly missed: readonly number[];
  /** Came while the gateway was running, faster than the job could be started. */
  readonly passed: readonly number[];
  /** Undefined when the job has no time left. */
  readonly next: number | undefined;
}

/** The times from `first` to `now`; the newest if there are too many, which are looked for in ever longer spans before now. */
export function listTimes(times: Times, first: number, now: number): readonly number[] {
  for (let span = HOUR_MS; ; span *= 4) {
    const isAll = now - span <= first;
    const listed: number[] = [];
    for (let at = isAll ? first : times.next(now - span); at !== undefined && at <= now; at = times.next(at)) {
      listed.push(at);
      if (listed.length > 4 * MAX_LISTED) listed.splice(0, MAX_LISTED);
    }
    if (isAll || listed.length >= MAX_LISTED) return listed.slice(-MAX_LISTED);
  }
}

/** Decides about a job whose next run was planned for `planned`, which is not after `now`. */
export function dueRuns(job: Pick<CronJob, "schedule" | "missed" | "missedMaxAgeMs">, times: Times, planned: number, now: number): Due {
  const next = times.next(now);
  if (job.schedule.kind === "at") return { run: [planned], missed: [], passed: [], next: undefined };
  const { missed: policy = "last", missedMaxAgeMs = MISSED_MAX_AGE_MS } = job;
  const listed = listTimes(times, planned, now);
  const isOnTime = (at: number): boolean => now - at <= ON_TIME_MS;
  const isYoung = (at: number): boolean => now - at <= missedMaxAgeMs;
  const newest = listed.at(-1);
  const runs = (at: number): boolean => {
    if (policy === "all") return isOnTime(at) || isYoung(at);
    return at === newest && (isOnTime(at) || (policy === "last" && isYoung(at)));
  };
  const others = listed.filter((at) => !runs(at));
  return { run: listed.filter(runs), missed: isOnTime(planned) ? [] : others, passed: isOnTime(planned) ? others : [], next };
}
