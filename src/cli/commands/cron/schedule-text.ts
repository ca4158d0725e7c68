import { formatDuration } from "../../../base/text.ts";
import type { MethodResult } from "../../../protocol/index.ts";

type Job = MethodResult<"cron.add">;

/** A schedule in one line. */
export function scheduleText({ schedule }: Pick<Job, "schedule">): string {
  if (schedule.kind === "at") return `at ${schedule.at.replace(/\.000Z$/, "Z")}`;
  if (schedule.kind === "every") return `every ${schedule.everyMs % 1000 === 0 ? formatDuration(schedule.everyMs) : `${schedule.everyMs}ms`}`;
  return `${schedule.expr}${schedule.tz === undefined ? "" : ` (${schedule.tz})`}`;
}
