import type { MethodResult } from "openclaw/client";
import { duration, moment, plural } from "../../base/figures.ts";
import { t } from "../../words/words.ts";

export type Job = MethodResult<"cron.list">["jobs"][number];
export type Run = MethodResult<"cron.runs">["entries"][number];
type Upcoming = MethodResult<"cron.upcoming">;
export type Coming = Upcoming["times"][number];

const UNITS: readonly (readonly [ms: number, one: string, many: string, every: string])[] = [
  [86_400_000, t("day"), t("days"), t("every day")],
  [3_600_000, t("hour"), t("hours"), t("every hour")],
  [60_000, t("minute"), t("minutes"), t("every minute")],
  [1000, t("second"), t("seconds"), t("every second")],
];

const unitOf = (ms: number): (typeof UNITS)[number] | undefined => UNITS.find(([size]) => ms % size === 0);

/** A length of time, in whole units where they fit: `5 minutes`. */
export function lengthText(ms: number): string {
  const unit = unitOf(ms);
  return unit ? plural(ms / unit[0], unit[1], unit[2]) : duration(ms);
}

function everyText(ms: number): string {
  const unit = unitOf(ms);
  return unit?.[0] === ms ? unit[3] : t`every ${lengthText(ms)}`;
}

const DAYS: Readonly<Record<string, string>> = {
  "*": t("every day"),
  "1-5": t("weekdays"),
  "MON-FRI": t("weekdays"),
  "0,6": t("weekends"),
  "6,0": t("weekends"),
};

/** The common kinds of expressions in words; others as they are written. */
function expressionText(expr: string): string {
  const [minute = "", hour = "", dom, month, dow = "", ...rest] = expr.trim().split(/\s+/);
  const step = /^\* \* \* \*$/.test([hour, dom, month, dow, ...rest].join(" ")) ? /^\*(?:\/(\d{1,2}))?$/.exec(minute) : null;
  const minutes = Number(step?.[1] ?? 1);
  if (step && minutes > 0 && 60 % minutes === 0) return everyText(minutes * 60_000);
  const days = DAYS[dow.toUpperCase()];
  const isDaily = /^\d{1,2}$/.test(minute) && /^\d{1,2}$/.test(hour) && dom === "*" && month === "*" && rest.length === 0;
  return isDaily && days !== undefined ? t`${days} at ${hour.padStart(2, "0")}:${minute.padStart(2, "0")}` : expr;
}

/** When a job runs, in one line. */
export function scheduleText({ schedule }: Pick<Job, "schedule">, now = Date.now()): string {
  if (schedule.kind === "at") return t`once, ${moment(Date.parse(schedule.at), now)}`;
  if (schedule.kind === "every") return everyText(schedule.everyMs);
  return `${expressionText(schedule.expr)}${schedule.tz === undefined ? "" : ` (${schedule.tz})`}`;
}

export interface Result {
  readonly level: "good" | "warn" | "bad" | "info" | "";
  readonly text: string;
  /** Why it failed, or did not take place. */
  readonly reason?: string;
}

/** How a run went. */
export function resultOf({ status, error }: { readonly status?: Run["status"] | undefined; readonly error?: string | undefined }): Result {
  const reason = error === undefined || error === "" ? {} : { reason: error };
  if (status === "ok") return { level: "good", text: "OK" };
  if (status === "error") return { level: "bad", text: t("Failed"), ...reason };
  if (status === "skipped") return { level: "warn", text: t("Skipped"), ...reason };
  return { level: "", text: t("Never ran") };
}

/** How a run is that may not have ended. */
export function runResult(run: Pick<Run, "action" | "status" | "error" | "waiting">): Result {
  if (run.action !== "started") return resultOf(run);
  return run.waiting === undefined ? { level: "info", text: t("Running") } : { level: "warn", text: t("Waiting"), reason: run.waiting };
}

/** What else is to be known about a run: it was late, its webhook did not arrive. */
export function runNotes({ lateMs, webhook }: Pick<Run, "lateMs" | "webhook">): readonly string[] {
  const late = lateMs === undefined ? [] : [t`${duration(lateMs)} late`];
  const why = webhook?.error ?? "";
  if (webhook?.state === "failed") return [...late, t`Webhook failed: ${why}`];
  if (webhook?.state === "unknown") return [...late, t`Webhook may not have arrived: ${why}`];
  return late;
}

/** How a job is: running, or how its last run went. */
export function stateOf({ state }: Pick<Job, "state">): Result {
  if (state.runningAtMs !== undefined) return { level: "info", text: t("Running") };
  return resultOf({ status: state.lastStatus, error: state.lastError });
}

/** Where the result of a job goes. */
export function deliveryText({ sessionTarget, delivery }: Pick<Job, "sessionTarget" | "delivery">): string {
  if (delivery?.mode === "webhook") return t`posted to ${delivery.to ?? t("a webhook")}`;
  if (sessionTarget === "main") return t("answered in the main session");
  if (delivery?.mode === "none") return t("kept in the job’s session");
  const { channel = "last", to } = delivery ?? {};
  if (channel === "webchat") return t("shown in WebChat, in the job’s session");
  if (channel === "last" && !to) return t("sent to the last used chat");
  return t`sent to ${[channel === "last" ? "" : channel, to].filter(Boolean).join(" ")}`;
}

const HOUR_MS = 3_600_000;

/** What happens in one hour of the coming day. */
export interface HourCell {
  /** When it begins; the first one has begun. */
  readonly from: number;
  readonly jobs: readonly { readonly id: string; readonly name: string; readonly times: readonly number[] }[];
}

/** The coming 24 hours, hour by hour from the current one on, in the browser's time zone. */
export function hourCells(times: readonly Coming[], names: ReadonlyMap<string, string>, now: number): readonly HourCell[] {
  const start = new Date(now).setMinutes(0, 0, 0);
  return Array.from({ length: 25 }, (_, hour) => {
    const from = start + hour * HOUR_MS;
    const ofHour = times.filter(({ atMs }) => atMs >= Math.max(from, hour === 0 ? now : 0) && atMs < from + HOUR_MS && atMs <= now + 24 * HOUR_MS);
    const byJob = Map.groupBy(ofHour, ({ jobId }) => jobId);
    return { from, jobs: [...byJob].map(([id, runs]) => ({ id, name: names.get(id) ?? id, times: runs.map(({ atMs }) => atMs) })) };
  });
}

/** A job that runs often, as a band over the hours from its first run to its last. */
export interface Band {
  readonly id: string;
  readonly name: string;
  /** How often. */
  readonly text: string;
  /** Hours, counted from the first one that is shown. */
  readonly from: number;
  readonly to: number;
}

/** Jobs that run often in the coming 24 hours. */
export function bands(frequent: Upcoming["frequent"], jobs: readonly Job[], now: number): readonly Band[] {
  const start = new Date(now).setMinutes(0, 0, 0);
  const hourOf = (at: number): number => Math.min(24, Math.max(0, Math.floor((at - start) / HOUR_MS)));
  const byId = new Map(jobs.map((job) => [job.id, job]));
  return frequent.map(({ jobId: id, count, firstMs, lastMs }) => {
    const job = byId.get(id);
    const text = `${job ? `${scheduleText(job, now)}, ` : ""}${plural(count, t("run"), t("runs"))}`;
    return { id, name: job?.name ?? id, text, from: hourOf(firstMs), to: hourOf(lastMs) };
  });
}

/** The coming day in a sentence. */
export function comingText({ runs, jobs, truncated }: Pick<Upcoming, "runs" | "jobs" | "truncated">): string {
  if (runs === 0) return t("Nothing is scheduled in the next 24 hours.");
  return t`${truncated ? t("More than ") : ""}${plural(runs, t("run"), t("runs"))} of ${plural(jobs, t("job"), t("jobs"))} in the next 24 hours.`;
}

/** Whether a job has all of these words somewhere in what is known about it. */
export function fits(job: Job, words: string): boolean {
  const { name, description = "", agentId = "", payload } = job;
  const text = [name, description, agentId, payload.kind === "agentTurn" ? payload.message : payload.text, scheduleText(job)].join(" ").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
