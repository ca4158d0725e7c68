import { AppError } from "../../../base/errors.ts";
import { clip, formatDuration } from "../../../base/text.ts";
import { loadCron } from "../../../automation/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS, type GatewayFlags } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { scheduleText } from "./schedule-text.ts";

type Run = MethodResult<"cron.runs">["entries"][number];

const SUMMARY_CHARS = 80;

/** A time from now on, or ago. */
function when(io: Io, at: number | undefined): string {
  if (at === undefined) return "-";
  const ms = at - io.now();
  return ms >= 0 ? `in ${formatDuration(ms)}` : `${formatDuration(-ms)} ago`;
}

/** How a run ended, by how much it was late, and a webhook that was not sent. */
function runStatus(style: Style, run: Run): string {
  const { action, waiting, lateMs, webhook } = run;
  const status = action === "started" ? `running${waiting === undefined ? "" : `, waits: ${clip(waiting, SUMMARY_CHARS)}`}` : statusText(style, run);
  const late = lateMs === undefined ? "" : `, ${formatDuration(lateMs)} late`;
  const isPosted = webhook === undefined || webhook.state === "sent";
  const posted = isPosted ? "" : `, webhook ${webhook.state}${webhook.error === undefined ? "" : `: ${clip(webhook.error, SUMMARY_CHARS)}`}`;
  return `${status}${late}${posted}`;
}

function statusText(style: Style, { status, error }: { readonly status?: Run["status"] | undefined; readonly error?: string | undefined }): string {
  if (status === "error") return style.red(`error${error === undefined ? "" : `: ${clip(error, SUMMARY_CHARS)}`}`);
  if (status === "skipped") return style.yellow(`skipped${error === undefined ? "" : `: ${clip(error, SUMMARY_CHARS)}`}`);
  return status === undefined ? "-" : style.green(status);
}

/** In dollars. A model without a price costs nothing that is known. */
const costText = (usd: number | undefined): string => (usd === undefined || usd === 0 ? "-" : `$${usd.toFixed(usd < 1 ? 4 : 2)}`);

export const status = defineCommand({
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw cron status --json", does: "Print JSON" }],
  async run({ io, values }) {
    const found = await callGateway(io, "cron.status", {}, values);
    if (values.json) return printJson(io, found);
    const next = found.nextWakeAtMs === null ? "none" : `${new Date(found.nextWakeAtMs).toISOString()} (${when(io, found.nextWakeAtMs)})`;
    io.out(
      `Scheduler: ${found.enabled ? "on" : `off (${found.disabledBy ?? "cron.enabled"})`}\nJobs:      ${found.jobs}\nNext run:  ${next}\nFile:      ${found.storePath}\n`,
    );
  },
});

export const list = defineCommand({
  options: { all: { type: "boolean", help: "Include disabled jobs" }, ...GATEWAY_OPTIONS },
  examples: [
    { line: "openclaw cron list", does: "Enabled jobs" },
    { line: "openclaw cron list --all --json", does: "All jobs, as JSON" },
  ],
  async run({ io, values }) {
    const found = await callGateway(io, "cron.list", { includeDisabled: values.all === true }, values);
    if (values.json) return printJson(io, found);
    const style = createStyle(io.color);
    if (found.jobs.length === 0)
      return io.out(io.runnable(`No jobs. Add one with: openclaw cron add --name "Morning report" --cron "0 9 * * *" --message "…"\n`));
    const rows = found.jobs.map((job) => [
      job.id,
      job.name,
      scheduleText(job),
      job.enabled ? when(io, job.state.nextRunAtMs) : style.dim("disabled"),
      when(io, job.state.lastRunAtMs),
      job.state.runningAtMs === undefined ? statusText(style, { status: job.state.lastStatus, error: job.state.lastError }) : "running",
      job.agentId ?? "-",
    ]);
    io.out(formatTable(["Id", "Name", "Schedule", "Next", "Last", "Status", "Agent"], rows, { style, columns: io.columns }));
  },
});

export const runs = defineCommand({
  positionals: "[id]",
  options: {
    id: { type: "string", value: "id", help: "Job id" },
    limit: { type: "string", value: "n", help: "Number of runs (default 50)" },
    ...GATEWAY_OPTIONS,
  },
  examples: [{ line: "openclaw cron runs --id JOB_ID --limit 10", does: "Last ten runs" }],
  async run({ io, values, positionals: [named] }) {
    const id = values.id ?? named;
    const limit = Number(values.limit ?? 50);
    if (id === undefined) throw new AppError("INVALID_INPUT", "expected a job id: openclaw cron runs --id <id>; list them with: openclaw cron list");
    if (!Number.isInteger(limit) || limit < 1) throw new AppError("INVALID_INPUT", `--limit takes a whole number above 0, not "${values.limit}"`);
    const found = await callGateway(io, "cron.runs", { id, limit }, values);
    if (values.json) return printJson(io, found);
    const style = createStyle(io.color);
    if (found.entries.length === 0) return io.out("No runs yet\n");
    const rows = found.entries.map((run) => [
      new Date(run.runAtMs ?? run.ts).toISOString(),
      runStatus(style, run),
      run.durationMs === undefined ? "-" : formatDuration(run.durationMs),
      costText(run.costUsd),
      run.model ?? "-",
      clip(run.summary?.replaceAll(/\s+/g, " ") ?? "", SUMMARY_CHARS),
    ]);
    io.out(formatTable(["Time", "Status", "Took", "Cost", "Model", "Summary"], rows, { style, columns: io.columns }));
  },
});

/** The full time in a zone, which is named. */
const momentIn = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZone,
    timeZoneName: "short",
  });

/** The coming times of a job of the gateway. */
async function timesOfJob(io: Io, id: string, count: number, flags: GatewayFlags): Promise<MethodResult<"cron.next">> {
  const { jobs } = await callGateway(io, "cron.list", { includeDisabled: true }, flags);
  const job = jobs.find((one) => one.id === id);
  if (!job) throw new AppError("INVALID_INPUT", `job ${id} not found; list the jobs with: openclaw cron list --all`);
  return callGateway(io, "cron.next", { schedule: job.schedule, id, count: Math.min(count, 100) }, flags);
}

async function timesOfExpression(
  io: Io,
  expr: string,
  count: number,
  { tz, exact }: { readonly tz?: string | undefined; readonly exact?: boolean | undefined },
) {
  const { previewTimes } = await loadCron();
  return previewTimes({ kind: "cron", expr, ...(tz?.trim() ? { tz: tz.trim() } : {}), ...(exact ? { staggerMs: 0 } : {}) }, io.now(), count);
}

export const next = defineCommand({
  positionals: "[expression]",
  options: {
    tz: { type: "string", value: "zone", help: "IANA time zone (default: local)" },
    exact: { type: "boolean", help: "Exact times, without spreading" },
    id: { type: "string", value: "id", help: "Show the times of this job" },
    count: { type: "string", value: "n", help: "Number of times (default 5)" },
    ...GATEWAY_OPTIONS,
  },
  examples: [
    { line: 'openclaw cron next "0 9 * * 1-5" --tz Europe/Berlin', does: "Next five times; works without a gateway" },
    { line: "openclaw cron next --id JOB_ID", does: "Next times of a job" },
  ],
  async run({ io, values, positionals: [expr, extra] }) {
    const { id } = values;
    const count = Number(values.count ?? 5);
    if ((expr === undefined) === (id === undefined) || extra !== undefined)
      throw new AppError("INVALID_INPUT", 'expected a quoted expression, such as openclaw cron next "0 9 * * 1-5", or --id with a job id');
    if (!Number.isInteger(count) || count < 1 || count > 1000)
      throw new AppError("INVALID_INPUT", `--count takes a number from 1 to 1000, not "${values.count}"`);
    const found = id === undefined ? await timesOfExpression(io, expr ?? "", count, values) : await timesOfJob(io, id, count, values);
    const { tz, times, spreadMs } = found;
    if (times.length === 0) throw new AppError("INVALID_INPUT", `${id === undefined ? JSON.stringify(expr) : `the job ${id}`} has no future run times`);
    if (values.json) return printJson(io, { ...(id === undefined ? { expr } : { id }), ...found, times: times.map((at) => new Date(at).toISOString()) });
    const format = momentIn(tz);
    io.out(`Times in ${tz}:\n${times.map((at) => `${format.format(at)}  (${when(io, at)})\n`).join("")}`);
    if (spreadMs !== undefined)
      io.out(
        `A job may start up to ${formatDuration(spreadMs)} later, always by the same delay, because jobs at the full hour are spread out (turn off with: cron add --exact).\n`,
      );
  },
});
