/** Scheduled jobs, in the words of the state. */
import { clip, formatDuration } from "../../../../base/text.ts";
import type { GatewayClient, MethodResult } from "../../../../protocol/index.ts";
import { scheduleText } from "../../cron/schedule-text.ts";
import type { PickerItem } from "../state/picker.ts";
import type { Effect } from "../state/state.ts";

type Job = MethodResult<"cron.list">["jobs"][number];
type Run = MethodResult<"cron.runs">["entries"][number];

const SUMMARY_CHARS = 120;
const RUNS_SHOWN = 10;
const RUN_TIMEOUT_MS = 15 * 60_000;

/** `in 5m`, or `5m ago`. */
const from = (at: number, now: number): string => (at >= now ? `in ${formatDuration(at - now)}` : `${formatDuration(now - at)} ago`);

function stateText({ enabled, state }: Job, now: number): string {
  const { runningAtMs, nextRunAtMs, lastRunAtMs, lastStatus, lastError } = state;
  const next = !enabled ? "disabled" : nextRunAtMs === undefined ? "no next run" : `next ${from(nextRunAtMs, now)}`;
  const why = lastError === undefined ? "" : `: ${clip(lastError.replaceAll(/\s+/g, " "), SUMMARY_CHARS)}`;
  const last = lastRunAtMs === undefined ? "never ran" : `last ${lastStatus ?? "run"} ${from(lastRunAtMs, now)}${why}`;
  return `${runningAtMs === undefined ? next : "running"} · ${last}`;
}

/** The jobs, those that run next first. */
export function jobItems(jobs: readonly Job[], now: number): readonly PickerItem[] {
  const due = ({ enabled, state }: Job): number => (enabled ? (state.nextRunAtMs ?? Infinity) : Infinity);
  return jobs
    .toSorted((a, b) => (due(a) === due(b) ? a.name.localeCompare(b.name) : due(a) - due(b)))
    .map((job) => ({
      value: job.id,
      label: clip(job.name, SUMMARY_CHARS),
      detail: `${scheduleText(job)} · ${stateText(job, now)}`,
      actions: [...(job.state.runningAtMs === undefined ? (["run"] as const) : []), "history", job.enabled ? "disable" : "enable"],
    }));
}

/** `2026-01-15T09:00:00.000Z ok, 3s, $0.0012: The disk is fine`. */
function runText({ action, runAtMs, ts, status, durationMs, costUsd = 0, summary, error, lateMs, waiting, webhook }: Run): string {
  const facts = [
    action === "started" ? "running" : (status ?? "ended"),
    ...(durationMs === undefined ? [] : [formatDuration(durationMs)]),
    ...(costUsd === 0 ? [] : [`$${costUsd.toFixed(4)}`]),
    ...(lateMs === undefined ? [] : [`${formatDuration(lateMs)} late`]),
    ...(webhook === undefined || webhook.state === "sent" ? [] : [`webhook ${webhook.state}`]),
  ];
  const text = clip((waiting ?? error ?? summary ?? "").replaceAll(/\s+/g, " "), SUMMARY_CHARS);
  return `${new Date(runAtMs ?? ts).toISOString()} ${facts.join(", ")}${text === "" ? "" : `: ${text}`}`;
}

/** The last runs of a job, newest first. */
export const historyText = (name: string, entries: readonly Run[]): string =>
  entries.length === 0 ? `${name} has not run yet` : [`Runs of ${name}:`, ...entries.toReversed().map(runText)].join("\n");

/** Does what was chosen about a job; gives what is shown then. */
export async function actOnJob(client: GatewayClient, { action, id, name, key }: Extract<Effect, { kind: "job" }>): Promise<string> {
  if (action === "history") return historyText(name, (await client.request("cron.runs", { id, limit: RUNS_SHOWN })).entries);
  if (action !== "run") {
    await client.request("cron.update", { id, patch: { enabled: action === "enable" }, idempotencyKey: key });
    return `${name} is ${action}d`;
  }
  const { ran, reason } = await client.request("cron.run", { id, idempotencyKey: key }, { timeoutMs: RUN_TIMEOUT_MS });
  if (!ran) return reason === "already-running" ? `${name} is running already` : `${name} did not run`;
  // Another time of the job may have started since.
  const last = (await client.request("cron.runs", { id, limit: RUNS_SHOWN })).entries.findLast(({ action: did }) => did === "finished");
  return last ? `${name} ran: ${runText(last)}` : `${name} ran`;
}
