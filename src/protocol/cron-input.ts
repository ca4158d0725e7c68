/** Cron jobs as clients and models write them, in the form that the schemas of `cron.*` accept. */
import { isRecord } from "../base/records.ts";
import { clip } from "../base/text.ts";
import type { MethodParams } from "./catalog.ts";

type NewJob = Omit<MethodParams<"cron.add">, "idempotencyKey">;
type Fields<Value> = Readonly<Record<Value extends Value ? keyof Value : never, true>>;
const namesOf = <Value>(fields: Fields<Value>): readonly string[] => Object.keys(fields);

/** The fields of a job and of its parts. The types make sure that they are those of the schema, which need not be loaded for them. */
export const CRON_FIELDS = {
  job: namesOf<NewJob>({
    name: true,
    description: true,
    agentId: true,
    sessionKey: true,
    enabled: true,
    deleteAfterRun: true,
    schedule: true,
    sessionTarget: true,
    wakeMode: true,
    payload: true,
    delivery: true,
    missed: true,
    missedMaxAgeMs: true,
    alertAfter: true,
  }),
  schedule: namesOf<NewJob["schedule"]>({ kind: true, at: true, everyMs: true, anchorMs: true, expr: true, tz: true, staggerMs: true }),
  payload: namesOf<NewJob["payload"]>({
    kind: true,
    text: true,
    message: true,
    model: true,
    thinking: true,
    timeoutSeconds: true,
    allowUnsafeExternalContent: true,
    deliver: true,
    channel: true,
    to: true,
    bestEffortDeliver: true,
  }),
  delivery: namesOf<NonNullable<NewJob["delivery"]>>({
    mode: true,
    channel: true,
    to: true,
    accountId: true,
    threadId: true,
    bestEffort: true,
  }),
} as const;

const MAX_NAME = 60;
const firstLine = (text: string): string => text.trim().split("\n", 1)[0]?.slice(0, MAX_NAME) ?? "";

/** Fields of the payload that may stand at the top level of a job. */
const PAYLOAD_FIELDS = CRON_FIELDS.payload.filter((field) => field !== "kind");
const lower = (value: unknown): unknown => (typeof value === "string" ? value.trim().toLowerCase() : value);

function scheduleFrom(raw: unknown): unknown {
  if (!isRecord(raw)) return raw;
  const { atMs, ...rest } = raw;
  const at = rest["at"] ?? atMs;
  const inferred = at !== undefined ? "at" : rest["everyMs"] !== undefined ? "every" : rest["expr"] !== undefined ? "cron" : undefined;
  const kind = lower(rest["kind"]) ?? inferred;
  return { ...rest, ...(at === undefined ? {} : { at: typeof at === "number" ? String(at) : at }), ...(kind === undefined ? {} : { kind }) };
}

function payloadFrom(raw: Record<string, unknown>, moved: Record<string, unknown>): unknown {
  const given = isRecord(raw["payload"]) ? raw["payload"] : {};
  const payload: Record<string, unknown> = { ...moved, ...given };
  if (Object.keys(payload).length === 0) return raw["payload"];
  const kinds: Readonly<Record<string, string>> = { systemevent: "systemEvent", agentturn: "agentTurn" };
  const named = typeof payload["kind"] === "string" ? (kinds[payload["kind"].trim().toLowerCase()] ?? payload["kind"]) : undefined;
  const kind = named ?? (payload["message"] !== undefined ? "agentTurn" : payload["text"] !== undefined ? "systemEvent" : undefined);
  return { ...payload, ...(kind === undefined ? {} : { kind }) };
}

/**
 * What clients and models send, in the form that the schema accepts: wrapped in `data` or `job`, kinds in any case or left out, `atMs`, fields of the payload
 * at the top level. What cannot be a job comes back as it is, for the schema to refuse.
 */
export function normalizeJob(input: unknown): unknown {
  if (!isRecord(input)) return input;
  const wrapped = isRecord(input["data"]) ? input["data"] : isRecord(input["job"]) ? input["job"] : input;
  const moved = Object.fromEntries(Object.entries(wrapped).filter(([key]) => PAYLOAD_FIELDS.includes(key)));
  const plain = Object.fromEntries(Object.entries(wrapped).filter(([key]) => !PAYLOAD_FIELDS.includes(key)));
  const payload = payloadFrom(plain, moved);
  const delivery = isRecord(plain["delivery"])
    ? { ...plain["delivery"], mode: { deliver: "announce" }[String(lower(plain["delivery"]["mode"]))] ?? lower(plain["delivery"]["mode"]) }
    : plain["delivery"];
  const kind = isRecord(payload) ? payload["kind"] : undefined;
  const target = lower(plain["sessionTarget"]) ?? (kind === "systemEvent" ? "main" : kind === "agentTurn" ? "isolated" : undefined);
  return {
    ...plain,
    ...(plain["schedule"] === undefined ? {} : { schedule: scheduleFrom(plain["schedule"]) }),
    ...(payload === undefined ? {} : { payload }),
    ...(delivery === undefined ? {} : { delivery }),
    ...(target === undefined ? {} : { sessionTarget: target }),
  };
}

/** A job to add, as clients and models write it: normalised, with a name and a wake mode. */
export function normalizeNewJob(input: unknown): unknown {
  const job = normalizeJob(input);
  if (!isRecord(job)) return job;
  const payload = isRecord(job["payload"]) ? job["payload"] : {};
  const text = payload["message"] ?? payload["text"];
  const fallback = typeof text === "string" && text.trim() !== "" ? firstLine(text) : "Scheduled job";
  const name = typeof job["name"] === "string" && job["name"].trim() !== "" ? job["name"] : fallback;
  return { wakeMode: "now", ...job, name };
}

/** Parameters of `cron.add`. The key of the call stays beside the job. */
export function normalizeCronAdd(params: unknown): unknown {
  const { idempotencyKey, ...job } = isRecord(params) ? params : {};
  const normalized = isRecord(params) ? normalizeNewJob(job) : params;
  return isRecord(normalized) && idempotencyKey !== undefined ? { ...normalized, idempotencyKey } : normalized;
}

/** Parameters of `cron.update`: the change itself is written like a job. */
export function normalizeCronUpdate(params: unknown): unknown {
  return isRecord(params) && isRecord(params["patch"]) ? { ...params, patch: normalizeJob(params["patch"]) } : params;
}

const SCHEDULES = '{kind:"at", at:"2026-01-31T09:00:00Z"}, {kind:"every", everyMs:3600000} or {kind:"cron", expr:"0 9 * * 1-5", tz:"Europe/Berlin"}';
const PAYLOADS = '{kind:"systemEvent", text:"…"} or {kind:"agentTurn", message:"…"}';
const DELIVERIES = '{mode:"announce", channel:"…", to:"…"}, {mode:"none"} or {mode:"webhook", to:"https://…"}';
const MAX_REPEATED = 120;

/** What is wrong with the parts of a job that are no objects: what came, and what fits. Empty when the schema's own words have to do. */
export function jobProblems(job: unknown, isNew: boolean): readonly string[] {
  if (!isRecord(job)) return [];
  const parts = [
    ["schedule", SCHEDULES, isNew],
    ["payload", PAYLOADS, isNew],
    ["delivery", DELIVERIES, false],
  ] as const;
  return parts.flatMap(([part, fits, isNeeded]) => {
    const value = job[part];
    if (isRecord(value) || (value === undefined && !isNeeded)) return [];
    const came = value === undefined ? "missing" : clip(JSON.stringify(value) ?? "nothing", MAX_REPEATED);
    return [`${part} is ${came}: expected ${fits}`];
  });
}
