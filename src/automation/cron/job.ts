/** Jobs: how they are read, completed, checked and changed. */
import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import { checkSchedule, parseAt, type Schedule } from "./schedule.ts";

export type CronJob = MethodResult<"cron.add">;
export type NewJob = Omit<MethodParams<"cron.add">, "idempotencyKey">;
export type JobPatch = MethodParams<"cron.update">["patch"];

const invalid = (text: string): AppError => new AppError("INVALID_INPUT", text);

/** Jobs of other programs may have longer ones; they are kept until they are changed. */
const MAX_NAME = 200;

/** Refuses a name that is too long for lists and for the label of a session. */
function checkName(name: string): void {
  const { length } = name.trim();
  if (length > MAX_NAME) throw invalid(`the name of a job has at most ${MAX_NAME} characters, this one has ${length}; put the rest in its description`);
}

/** Gives the job back if its name fits. */
export function withFittingName(input: NewJob): NewJob {
  checkName(input.name);
  return input;
}

/** Which payload goes with which session, and where a result may go. */
function checkPairing({ sessionTarget, payload, delivery }: Pick<CronJob, "sessionTarget" | "payload" | "delivery">): void {
  if (sessionTarget === "main" && payload.kind !== "systemEvent") throw invalid('main cron jobs require payload.kind="systemEvent"');
  if (sessionTarget === "isolated" && payload.kind !== "agentTurn") throw invalid('isolated cron jobs require payload.kind="agentTurn"');
  if (sessionTarget === "main" && delivery !== undefined && delivery.mode === "announce")
    throw invalid('cron delivery to a chat is only supported for sessionTarget="isolated"; a main job replies in its own session');
  if (delivery?.mode !== "webhook") return;
  if (delivery.to === undefined || !URL.canParse(delivery.to) || !/^https?:$/.test(new URL(delivery.to).protocol))
    throw invalid(`delivery.mode "webhook" needs delivery.to: an http or https address, got ${JSON.stringify(delivery.to)}`);
}

/** Older payloads carry where the answer goes; a job has it in one field. */
function splitDelivery(payload: CronJob["payload"], delivery: CronJob["delivery"]): Pick<CronJob, "payload" | "delivery"> {
  if (payload.kind !== "agentTurn") return { payload, ...(delivery ? { delivery } : {}) };
  const { deliver, channel, to, bestEffortDeliver, ...rest } = payload;
  const isOld = deliver !== undefined || channel !== undefined || to !== undefined || bestEffortDeliver !== undefined;
  if (delivery || !isOld) return { payload: rest, delivery: delivery ?? { mode: "announce" } };
  const mode = deliver === false ? "none" : "announce";
  const bestEffort = bestEffortDeliver === undefined ? {} : { bestEffort: bestEffortDeliver };
  return { payload: rest, delivery: { mode, ...(channel === undefined ? {} : { channel }), ...(to === undefined ? {} : { to }), ...bestEffort } };
}

/** A new job, complete and checked. */
export function createJob(id: string, input: NewJob, now: number): CronJob {
  const schedule = checkSchedule(input.schedule, now);
  const { agentId, sessionKey, description, missed, missedMaxAgeMs, alertAfter } = input;
  const job: CronJob = {
    id,
    name: input.name.trim(),
    enabled: input.enabled ?? true,
    ...((input.deleteAfterRun ?? schedule.kind === "at") ? { deleteAfterRun: true } : {}),
    createdAtMs: now,
    updatedAtMs: now,
    schedule,
    sessionTarget: input.sessionTarget,
    wakeMode: input.wakeMode,
    ...splitDelivery(input.payload, input.delivery),
    ...(typeof agentId === "string" ? { agentId } : {}),
    ...(typeof sessionKey === "string" ? { sessionKey } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(missed === undefined ? {} : { missed }),
    ...(missedMaxAgeMs === undefined ? {} : { missedMaxAgeMs }),
    ...(alertAfter === undefined ? {} : { alertAfter }),
    state: {},
  };
  checkPairing(job);
  return job;
}

const timeOr = (value: unknown, otherwise: number): number => (typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : otherwise);

/** A fixed time as it is stored, however long ago it is. */
function writtenAt(at: string): Schedule {
  const time = parseAt(at);
  if (time === undefined) throw invalid(`schedule.at is not a time: ${JSON.stringify(at)}`);
  return { kind: "at", at: new Date(time).toISOString() };
}

/** A job that another program stored. `input` has been checked; what it did so far is taken over as far as it is known here. */
export function readJob(id: string, input: unknown, stored: { readonly [Field in "state" | "createdAtMs" | "updatedAtMs"]: unknown }, now: number): CronJob {
  // Checked against the schema of a new job.
  const { schedule, ...rest } = input as NewJob;
  const job = createJob(id, { ...rest, schedule: schedule.kind === "at" ? { kind: "every", everyMs: 1 } : schedule }, now);
  const state = isRecord(stored.state) ? stored.state : {};
  const times = ["nextRunAtMs", "lastRunAtMs", "lastDurationMs", "consecutiveErrors"].flatMap((field) =>
    Number.isSafeInteger(state[field]) ? [[field, state[field]]] : [],
  );
  const createdAtMs = timeOr(stored.createdAtMs, now);
  return {
    ...job,
    ...(((input as NewJob).deleteAfterRun ?? schedule.kind === "at") ? { deleteAfterRun: true } : {}),
    schedule: schedule.kind === "every" ? { anchorMs: createdAtMs, ...schedule } : schedule.kind === "at" ? writtenAt(schedule.at) : job.schedule,
    createdAtMs,
    updatedAtMs: timeOr(stored.updatedAtMs, createdAtMs),
    state: Object.fromEntries(times),
  };
}

/** A patch without `anchorMs` starts the interval again; one without a stagger keeps it. */
export function patchedSchedule(old: Schedule, patch: Schedule, now: number): Schedule {
  const keepsStagger = patch.kind === "cron" && old.kind === "cron" && patch.staggerMs === undefined && old.staggerMs !== undefined;
  return checkSchedule(keepsStagger ? { ...patch, staggerMs: old.staggerMs } : patch, now);
}

/** Without a kind, the text or the message says which it is; a patch with neither changes the payload that is there. */
function patchedPayload(old: CronJob["payload"], patch: NonNullable<JobPatch["payload"]>): CronJob["payload"] {
  const { kind: asked, text: newText, message: newMessage, ...settings } = patch;
  const kind = asked ?? (newMessage !== undefined ? "agentTurn" : newText !== undefined ? "systemEvent" : old.kind);
  if (kind === "systemEvent") {
    const [unfit] = newMessage === undefined ? Object.keys(settings) : ["message"];
    if (unfit !== undefined) throw invalid(`payload.${unfit} belongs to payload.kind="agentTurn"; this job has a systemEvent`);
    const text = newText ?? (old.kind === "systemEvent" ? old.text : undefined);
    if (text === undefined) throw invalid("payload.text is required when the payload becomes a systemEvent");
    return { kind, text };
  }
  if (newText !== undefined) throw invalid('payload.text belongs to payload.kind="systemEvent"; an agentTurn has a message');
  const message = newMessage ?? (old.kind === "agentTurn" ? old.message : undefined);
  if (message === undefined) throw invalid("payload.message is required when the payload becomes an agentTurn");
  return { ...(old.kind === "agentTurn" ? old : {}), ...settings, kind, message };
}

/** Where results go after a change. An account belongs to its channel, and a thread to its chat: they do not outlive them. */
function patchedDelivery(old: CronJob["delivery"], patch: NonNullable<JobPatch["delivery"]>): CronJob["delivery"] {
  const { accountId, threadId, ...rest } = old ?? { mode: "announce" };
  const isSameChannel = patch.channel === undefined || patch.channel === rest.channel;
  const isSameChat = isSameChannel && (patch.to === undefined || patch.to === rest.to);
  const account = isSameChannel && accountId !== undefined ? { accountId } : {};
  return { ...rest, ...account, ...(isSameChat && threadId !== undefined ? { threadId } : {}), ...patch };
}

/** The job after a change. Payload and delivery are merged by field; another kind of payload replaces it. Null removes a field. */
export function patchJob(job: CronJob, patch: JobPatch, now: number): CronJob {
  const { agentId = job.agentId, sessionKey = job.sessionKey, description = job.description, ...others } = patch;
  const { schedule, payload, delivery, state, name = job.name, ...plain } = others;
  if (name.trim() !== job.name) checkName(name);
  const { agentId: _agent, sessionKey: _session, description: _description, delivery: _delivery, ...rest } = job;
  const merged = splitDelivery(payload ? patchedPayload(job.payload, payload) : job.payload, delivery ? patchedDelivery(job.delivery, delivery) : job.delivery);
  const wasMain = job.sessionTarget === "main";
  const isMain = (patch.sessionTarget ?? job.sessionTarget) === "main";
  // A main job answers in its session: where an isolated one sent its answer is dropped with the change.
  const hasDelivery = merged.delivery !== undefined && (!isMain || merged.delivery.mode === "webhook" || (wasMain && merged.delivery.mode === "none"));
  const next: CronJob = {
    ...rest,
    ...plain,
    name: name.trim(),
    updatedAtMs: now,
    ...(schedule ? { schedule: patchedSchedule(job.schedule, schedule, now) } : {}),
    payload: merged.payload,
    ...(hasDelivery ? { delivery: merged.delivery } : {}),
    ...(typeof agentId === "string" ? { agentId } : {}),
    ...(typeof sessionKey === "string" ? { sessionKey } : {}),
    ...(typeof description === "string" ? { description } : {}),
    state: { ...job.state, ...state },
  };
  checkPairing(next);
  return next;
}
