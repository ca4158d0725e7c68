import type { CronJob } from "./job.ts";

const ALERT_AFTER = 3;

/** After so many failures in a row a job needs attention; 0 for never. */
export const alertAfterOf = ({ alertAfter = ALERT_AFTER }: Pick<CronJob, "alertAfter">): number => Math.max(0, alertAfter);

/** A job whose failures need attention. */
export interface FailingJob {
  readonly id: string;
  readonly name: string;
  readonly at?: number | undefined;
  readonly text: string;
  /** What to do about it. */
  readonly todo: string;
}

/** What is wrong with a job whose last run failed: it failed too often in a row, at its only time, or it is disabled because its schedule cannot be computed. */
export function failingOf(job: CronJob): FailingJob | undefined {
  const { id, name, enabled, schedule, state } = job;
  const { lastStatus, lastError = "unknown error", lastRunAtMs: at, consecutiveErrors: failures = 0 } = state;
  const most = alertAfterOf(job);
  if (lastStatus !== "error" || most === 0) return undefined;
  const about = { id, name, ...(at === undefined ? {} : { at }) };
  const again = `openclaw cron run ${id}`;
  if (schedule.kind === "at" && !enabled) {
    const text = `The scheduled job "${name}" failed at its only time and is not retried: ${lastError}`;
    return { ...about, text, todo: `Run it again with ${again}, or remove it.` };
  }
  if (!enabled && !lastError.startsWith("schedule error")) return undefined;
  if (!enabled) return { ...about, text: `The scheduled job "${name}" is disabled: ${lastError}`, todo: "Change its schedule, then enable it." };
  if (failures < most) return undefined;
  return { ...about, text: `The scheduled job "${name}" failed ${failures} times in a row: ${lastError}`, todo: `Fix the cause, then run it: ${again}` };
}
