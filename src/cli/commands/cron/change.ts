import { AppError } from "../../../base/errors.ts";
import { formatDuration } from "../../../base/text.ts";
import { parseDuration } from "../../../config/index.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { defineCommand, type Values } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { scheduleText } from "./schedule-text.ts";

type Job = MethodResult<"cron.add">;
type NewJob = MethodParams<"cron.add">;
type Patch = MethodParams<"cron.update">["patch"];

const JOB_OPTIONS = {
  name: { type: "string", value: "text", help: "Job name" },
  description: { type: "string", value: "text", help: "Description" },
  at: { type: "string", value: "time", help: "Run once: ISO time (UTC unless it has a zone) or a duration from now, such as 20m" },
  every: { type: "string", value: "duration", help: "Run at an interval, such as 10m or 2h" },
  cron: { type: "string", value: "expr", help: "Cron expression with 5, 6 or 7 fields" },
  tz: { type: "string", value: "zone", help: "IANA time zone for --cron (default: the gateway's)" },
  stagger: { type: "string", value: "duration", help: "Spread --cron start times over this duration" },
  exact: { type: "boolean", help: "Don't spread --cron start times" },
  "system-event": { type: "string", value: "text", help: "Reminder text for the main session" },
  message: { type: "string", value: "text", help: "Prompt for the agent, run in the job's own session" },
  session: { type: "string", value: "main|isolated", help: "Session to run in: main or isolated (default: depends on the payload)" },
  wake: { type: "string", value: "now|next-heartbeat", help: "When the main session sees it: now or next-heartbeat (default now)" },
  agent: { type: "string", value: "id", help: "Agent (default: the default agent)" },
  model: { type: "string", value: "ref", help: "Model for the runs" },
  thinking: { type: "string", value: "level", help: "Thinking level for the runs" },
  "timeout-seconds": { type: "string", value: "n", help: "Time limit of a run in seconds (default 600, 0 for none)" },
  announce: { type: "boolean", help: "Send the reply to a chat (default with --message)" },
  "no-deliver": { type: "boolean", help: "Don't send the reply anywhere" },
  deliver: { type: "boolean", help: "Older name of --announce" },
  channel: { type: "string", value: "id", help: "Channel for the reply (default last)" },
  to: { type: "string", value: "target", help: "Chat for the reply" },
  "best-effort-deliver": { type: "boolean", help: "Don't fail the run if the reply cannot be sent" },
  webhook: { type: "string", value: "url", help: "POST the summary of each finished run to this URL as JSON" },
  missed: { type: "string", value: "skip|last|all", help: "Which missed runs to catch up on: none, last or all (default last)" },
  "missed-max-age": { type: "string", value: "duration", help: "Skip missed runs older than this (default 6h)" },
  "alert-after": { type: "string", value: "n", help: "Notify the main session after this many failures in a row (default 3, 0 for never)" },
  "delete-after-run": { type: "boolean", help: "Remove the job after it succeeds (default with --at)" },
  "keep-after-run": { type: "boolean", help: "Keep the job, disabled, after an --at run" },
  ...GATEWAY_OPTIONS,
} as const;

type JobValues = Values<typeof JOB_OPTIONS>;

const invalid = (text: string): AppError => new AppError("INVALID_INPUT", text);

function oneOf<const Words extends readonly string[]>(flag: string, value: string | undefined, words: Words): Words[number] | undefined {
  const found = words.find((word) => word === value);
  if (value !== undefined && found === undefined) throw invalid(`--${flag} takes ${words.join(" or ")}, not "${value}"`);
  return found;
}

function durationOf(flag: string, text: string): number {
  const ms = parseDuration(text, "m");
  if (ms === undefined || ms < 1) throw invalid(`--${flag} takes a duration such as 10m or 2h, not "${text}"`);
  return ms;
}

/** At most one of some flags. */
function only<Flag extends keyof JobValues>(values: JobValues, flags: readonly Flag[]): Flag | undefined {
  const [first, second] = flags.filter((flag) => values[flag] !== undefined);
  if (first !== undefined && second !== undefined) throw invalid(`--${first} and --${second} cannot be used together`);
  return first;
}

function scheduleOf(values: JobValues, now: number): NewJob["schedule"] | undefined {
  only(values, ["at", "every", "cron"]);
  only(values, ["stagger", "exact"]);
  const { at, every, cron: expr, tz, stagger } = values;
  if (expr === undefined && (tz !== undefined || stagger !== undefined || values.exact))
    throw invalid("--tz, --stagger and --exact belong to --cron; write the zone into --at, such as 2027-01-01T09:00:00+01:00");
  if (at !== undefined) {
    const ms = /^\d+(?:\.\d+)?\s*[a-z]+$/i.test(at.trim()) ? parseDuration(at, "m") : undefined;
    return { kind: "at", at: ms === undefined ? at : new Date(now + ms).toISOString() };
  }
  if (every !== undefined) return { kind: "every", everyMs: durationOf("every", every) };
  if (expr === undefined) return undefined;
  const staggerMs = values.exact ? 0 : stagger === undefined ? undefined : durationOf("stagger", stagger);
  return { kind: "cron", expr, ...(tz === undefined ? {} : { tz }), ...(staggerMs === undefined ? {} : { staggerMs }) };
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,9}$/.test(text.trim())) return text === undefined ? undefined : Number(text);
  throw invalid(`--${flag} takes a whole number, not "${text}"`);
}

/** What the agent is asked, with the settings of its runs. */
function turnOf(values: JobValues) {
  const { model, thinking } = values;
  const timeoutSeconds = wholeNumber("timeout-seconds", values["timeout-seconds"]);
  return {
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  };
}

function deliveryOf(values: JobValues): NewJob["delivery"] {
  only(values, ["announce", "no-deliver", "webhook"]);
  const { channel, to, webhook, "best-effort-deliver": bestEffort } = values;
  if (webhook !== undefined && (channel !== undefined || to !== undefined))
    throw invalid("--webhook posts the run to its address: it goes without --channel and --to");
  if (webhook !== undefined) return { mode: "webhook", to: webhook };
  if (values["no-deliver"]) return { mode: "none" };
  if (!values.announce && !values.deliver && channel === undefined && to === undefined && bestEffort === undefined) return undefined;
  return { mode: "announce", ...(channel === undefined ? {} : { channel }), ...(to === undefined ? {} : { to }), ...(bestEffort ? { bestEffort } : {}) };
}

/** Fields that a new job and a change of one share. */
function commonOf(values: JobValues) {
  only(values, ["delete-after-run", "keep-after-run"]);
  const { agent, description } = values;
  const missed = oneOf("missed", values.missed, ["skip", "last", "all"]);
  const missedMaxAge = values["missed-max-age"];
  const alertAfter = wholeNumber("alert-after", values["alert-after"]);
  const deletes = values["delete-after-run"] ? true : values["keep-after-run"] ? false : undefined;
  return {
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(description === undefined ? {} : { description }),
    ...(missed === undefined ? {} : { missed }),
    ...(missedMaxAge === undefined ? {} : { missedMaxAgeMs: durationOf("missed-max-age", missedMaxAge) }),
    ...(alertAfter === undefined ? {} : { alertAfter }),
    ...(deletes === undefined ? {} : { deleteAfterRun: deletes }),
  };
}

function newJob(values: JobValues & { readonly disabled?: boolean }, now: number): NewJob {
  const schedule = scheduleOf(values, now);
  const kind = only(values, ["system-event", "message"]);
  if (values.name === undefined) throw invalid("expected --name");
  if (!schedule) throw invalid("expected a schedule: --at, --every or --cron");
  if (kind === undefined) throw invalid("expected --message (a prompt for the agent) or --system-event (a reminder in the main session)");
  const { message = "", "system-event": text = "" } = values;
  if (kind === "system-event" && Object.keys(turnOf(values)).length > 0) throw invalid("--model, --thinking and --timeout-seconds belong to --message");
  const payload: NewJob["payload"] = kind === "message" ? { kind: "agentTurn", message, ...turnOf(values) } : { kind: "systemEvent", text };
  const delivery = deliveryOf(values);
  return {
    name: values.name,
    schedule,
    sessionTarget: oneOf("session", values.session, ["main", "isolated"]) ?? (kind === "message" ? "isolated" : "main"),
    wakeMode: oneOf("wake", values.wake, ["now", "next-heartbeat"]) ?? "now",
    payload,
    ...(delivery ? { delivery } : {}),
    ...commonOf(values),
    ...(values.disabled ? { enabled: false } : {}),
  };
}

/** When a job runs next, or what makes it run. */
function dueText(io: Io, { id, enabled, schedule, state: { nextRunAtMs: next } }: Job): string {
  if (next !== undefined) return `next run ${new Date(next).toISOString()}, in ${formatDuration(Math.max(0, next - io.now()))}`;
  if (!enabled || schedule.kind !== "at") return "disabled";
  return io.runnable(`already ran.\nRun it now:          openclaw cron run ${id}\nGive it a new time:  openclaw cron edit ${id} --at 20m`);
}

function print(io: Io, json: boolean | undefined, job: Job, done: string): void {
  if (json) return printJson(io, job);
  const due = dueText(io, job);
  io.out(`${done} ${job.name} (${job.id}): ${scheduleText(job)}, ${due}\n`);
}

export const add = defineCommand({
  options: { ...JOB_OPTIONS, disabled: { type: "boolean", help: "Add it disabled" } },
  examples: [
    {
      line: 'openclaw cron add --name "Stand-up" --cron "0 9 * * 1-5" --tz Europe/Berlin --message "Sum up my open tasks" --no-deliver',
      does: "Every weekday at 9:00",
    },
    { line: 'openclaw cron add --name Tea --at 20m --system-event "The tea is ready"', does: "Reminder in 20 minutes" },
  ],
  async run({ io, values }) {
    print(io, values.json, await callGateway(io, "cron.add", newJob(values, io.now()), values), "Added");
  },
});

const idOf = ([id, extra]: readonly string[]): string => {
  if (id === undefined || extra !== undefined) throw invalid("expected one job id; list them with: openclaw cron list");
  return id;
};

function patchOf(values: JobValues & { readonly "clear-agent"?: boolean; readonly "no-best-effort-deliver"?: boolean }, now: number): Patch {
  const schedule = scheduleOf(values, now);
  const kind = only(values, ["system-event", "message"]);
  const turn = turnOf(values);
  const { message, "system-event": text, name } = values;
  const isTurn = kind === "message" || Object.keys(turn).length > 0;
  const sessionTarget = oneOf("session", values.session, ["main", "isolated"]);
  const wakeMode = oneOf("wake", values.wake, ["now", "next-heartbeat"]);
  const delivery = values["no-best-effort-deliver"] ? { ...deliveryOf(values), bestEffort: false } : deliveryOf(values);
  return {
    ...commonOf(values),
    ...(name === undefined ? {} : { name }),
    ...(values["clear-agent"] ? { agentId: null } : {}),
    ...(schedule ? { schedule } : {}),
    ...(sessionTarget ? { sessionTarget } : {}),
    ...(wakeMode ? { wakeMode } : {}),
    ...(kind === "system-event" && text !== undefined ? { payload: { kind: "systemEvent", text } } : {}),
    ...(isTurn ? { payload: { kind: "agentTurn", ...(message === undefined ? {} : { message }), ...turn } } : {}),
    ...(delivery ? { delivery } : {}),
  };
}

export const edit = defineCommand({
  positionals: "<id>",
  options: {
    ...JOB_OPTIONS,
    enable: { type: "boolean", help: "Enable the job" },
    disable: { type: "boolean", help: "Disable the job" },
    "clear-agent": { type: "boolean", help: "Use the default agent again" },
    "no-best-effort-deliver": { type: "boolean", help: "Fail the run if the reply cannot be sent" },
  },
  examples: [{ line: 'openclaw cron edit JOB_ID --cron "0 8 * * 1-5"', does: "Change the schedule" }],
  async run({ io, values, positionals }) {
    const enabled = values.enable ? true : values.disable ? false : undefined;
    const patch: Patch = { ...patchOf(values, io.now()), ...(enabled === undefined ? {} : { enabled }) };
    print(io, values.json, await callGateway(io, "cron.update", { id: idOf(positionals), patch }, values), "Changed");
  },
});

const switching = (enabled: boolean, done: string) =>
  defineCommand({
    positionals: "<id>",
    options: GATEWAY_OPTIONS,
    examples: [{ line: `openclaw cron ${enabled ? "enable" : "disable"} JOB_ID`, does: enabled ? "Enable the job" : "Disable the job" }],
    async run({ io, values, positionals }) {
      print(io, values.json, await callGateway(io, "cron.update", { id: idOf(positionals), patch: { enabled } }, values), done);
    },
  });

export const enable = switching(true, "Enabled");
export const disable = switching(false, "Disabled");

export const remove = defineCommand({
  positionals: "<id>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw cron rm JOB_ID", does: "Remove a job" }],
  async run({ io, values, positionals }) {
    const id = idOf(positionals);
    const done = await callGateway(io, "cron.remove", { id }, values);
    if (values.json) printJson(io, done);
    else io.out(done.removed ? `Removed ${id}\n` : `Job ${id} not found\n`);
    return done.removed ? 0 : 1;
  },
});

const RUN_TIMEOUT_MS = "600000";

export const run = defineCommand({
  positionals: "<id>",
  options: { due: { type: "boolean", help: "Only if it is due" }, force: { type: "boolean", help: "Run even if it is not due (default)" }, ...GATEWAY_OPTIONS },
  examples: [{ line: "openclaw cron run JOB_ID", does: "Run the job now and wait until it finishes" }],
  async run({ io, values, positionals }) {
    const flags = { ...values, timeout: values.timeout ?? RUN_TIMEOUT_MS };
    const id = idOf(positionals);
    const done = await callGateway(io, "cron.run", { id, mode: values.due ? "due" : "force" }, flags);
    // Another time of the job may have started since.
    const entries = done.ran ? (await callGateway(io, "cron.runs", { id, limit: 5 }, flags)).entries : [];
    const last = entries.findLast(({ action }) => action === "finished");
    if (values.json) printJson(io, done);
    else if (!done.ran) io.out(`The job did not run: ${done.reason}\n`);
    else io.out(last?.status === "error" ? `The run failed: ${last.error ?? "unknown error"}\n` : "Done.\n");
    return done.ran && last?.status !== "error" ? 0 : 1;
  },
});
