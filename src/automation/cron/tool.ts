/** The tool with which an owner's agent schedules work. */
import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import { CRON_FIELDS, loadValidators, normalizeJob, normalizeNewJob, parseSessionKey, type MethodName } from "../../protocol/index.ts";
import { CRON, defineTool, failedOutcome, jsonOutcome, type Tool, type ToolCall, type ToolOutcome } from "../../tools/index.ts";
import type { Cron } from "./cron.ts";
import type { JobPatch, NewJob } from "./job.ts";

export interface CronToolDeps {
  readonly cron: Omit<Cron, "start" | typeof Symbol.asyncDispose>;
  /** The last messages of a session, oldest first. */
  readonly recent: (sessionKey: string, count: number) => Promise<readonly { readonly role: string; readonly text: string }[]>;
  /** Queues a line for a session, and has it answered at once with `now`. */
  readonly wake: (request: { readonly sessionKey: string; readonly text: string; readonly mode: "now" | "next-heartbeat" }) => Promise<unknown>;
}

const ACTIONS = ["status", "list", "add", "update", "remove", "run", "runs", "wake"] as const;
const FLAT_FIELDS = [...CRON_FIELDS.job, "message", "text", "model", "thinking", "timeoutSeconds"];
const MAX_CONTEXT = 10;
const MESSAGE_CHARS = 220;
const CONTEXT_CHARS = 700;
const RUNS_SHOWN = 20;
const RUN_TIMEOUT_MS = 15 * 60_000;

const DESCRIPTION = `Schedule jobs and reminders.
add: job {name, schedule, payload, delivery?, sessionTarget?}. schedule is {kind:"at", at:<ISO time>}, {kind:"every", everyMs} or {kind:"cron", expr, tz?}. payload is {kind:"systemEvent", text}: a reminder in the main session; or {kind:"agentTurn", message, model?, thinking?, timeoutSeconds?}: work in a session of its own, whose answer is sent to delivery {mode:"announce"|"none", channel?, to?}.
update: jobId and patch, with the fields to change. remove, run, runs: jobId. list, status: all jobs. wake: text, now or with the next turn of the main session.
Word a reminder so that it makes sense when it fires. contextMessages (0 to 10) appends the last messages of this chat to a reminder.`;

/** Validates what a model wrote with the method's own schema. */
async function checked(method: Extract<MethodName, "cron.add" | "cron.update">, params: unknown): Promise<void> {
  const issues = (await loadValidators()).params(method, params) ?? [];
  if (issues.length > 0) throw new AppError("INVALID_INPUT", `invalid job: ${issues.join("; ")}`);
}

/** A job that names no chat answers in the one it was asked for in, where the session is a chat. */
function inferDelivery(job: Record<string, unknown>, sessionKey: string): Record<string, unknown> {
  const payload = job["payload"];
  if (job["delivery"] !== undefined || !isRecord(payload) || payload["kind"] !== "agentTurn" || payload["to"] !== undefined) return job;
  const [, , channel, kind, ...peer] = parseSessionKey(sessionKey) ? sessionKey.split(":") : [];
  if (channel === undefined || peer.length === 0 || !["direct", "group", "channel"].includes(kind ?? "")) return job;
  return { ...job, delivery: { mode: "announce", channel, to: peer.join(":") } };
}

async function withContext(job: Record<string, unknown>, count: number, sessionKey: string, { recent }: CronToolDeps): Promise<Record<string, unknown>> {
  const payload = job["payload"];
  if (count === 0 || !isRecord(payload) || payload["kind"] !== "systemEvent" || typeof payload["text"] !== "string") return job;
  const lines = (await recent(sessionKey, count)).map(({ role, text }) => `- ${role}: ${clip(text.replaceAll(/\s+/g, " "), MESSAGE_CHARS)}`);
  while (lines.join("\n").length > CONTEXT_CHARS) lines.shift();
  return lines.length === 0 ? job : { ...job, payload: { ...payload, text: `${payload["text"]}\n\nRecent context:\n${lines.join("\n")}` } };
}

async function add(deps: CronToolDeps, { params, context }: ToolCall): Promise<unknown> {
  const flat = Object.fromEntries(FLAT_FIELDS.flatMap((field) => (params[field] === undefined ? [] : [[field, params[field]]])));
  const job = normalizeNewJob(isRecord(params["job"]) ? params["job"] : flat);
  if (!isRecord(job)) throw new AppError("INVALID_INPUT", "add needs a job");
  const complete = { agentId: context.agentId, sessionKey: context.sessionKey, ...inferDelivery(job, context.sessionKey) };
  await checked("cron.add", complete);
  const count = typeof params["contextMessages"] === "number" ? Math.min(MAX_CONTEXT, Math.max(0, Math.floor(params["contextMessages"]))) : 0;
  // Checked right above.
  return deps.cron.add((await withContext(complete, count, context.sessionKey, deps)) as NewJob);
}

async function carryOut(deps: CronToolDeps, call: ToolCall): Promise<unknown> {
  const { params, context } = call;
  const { cron } = deps;
  const text = (field: string): string => (typeof params[field] === "string" ? params[field].trim() : "");
  const id = (): string => {
    const found = text("jobId") || text("id");
    if (found === "") throw new AppError("INVALID_INPUT", "jobId required");
    return found;
  };
  switch (ACTIONS.find((action) => action === params["action"])) {
    case "status":
      return cron.status();
    case "list":
      return { jobs: await cron.list({ includeDisabled: params["includeDisabled"] === true }) };
    case "add":
      return add(deps, call);
    case "update": {
      const patch = normalizeJob(isRecord(params["patch"]) ? params["patch"] : params["job"]);
      await checked("cron.update", { id: id(), patch });
      return cron.update(id(), patch as JobPatch);
    }
    case "remove":
      return { ok: true, removed: await cron.remove(id()) };
    case "run":
      return { ok: true, ...(await cron.run(id(), params["runMode"] === "due" ? "due" : "force")) };
    case "runs":
      return { entries: await cron.runs(id(), RUNS_SHOWN) };
    case "wake":
      if (text("text") === "") throw new AppError("INVALID_INPUT", "text required");
      return deps.wake({ sessionKey: context.sessionKey, text: text("text"), mode: params["mode"] === "now" ? "now" : "next-heartbeat" });
    default:
      throw new AppError("INVALID_INPUT", `action required: one of ${ACTIONS.join(", ")}`);
  }
}

export function cronTool(deps: CronToolDeps): Tool {
  const object = { type: "object", additionalProperties: true } as const;
  return defineTool<CronToolDeps>({
    ...CRON,
    label: "Cron",
    description: DESCRIPTION,
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: [...ACTIONS] },
        job: { ...object, description: "add: the job" },
        jobId: { type: "string" },
        id: { type: "string", description: "The older name of jobId" },
        patch: { ...object, description: "update: the fields to change" },
        includeDisabled: { type: "boolean" },
        text: { type: "string", description: "wake: the line for the session" },
        mode: { type: "string", enum: ["now", "next-heartbeat"], description: "wake: when (default next-heartbeat)" },
        runMode: { type: "string", enum: ["due", "force"], description: "run: only if due, or in any case (default)" },
        contextMessages: { type: "number", description: "add: how many of the last messages a reminder quotes" },
      },
      required: ["action"],
      additionalProperties: true,
    },
    timeoutMs: RUN_TIMEOUT_MS,
    run:
      (made) =>
      async (call): Promise<ToolOutcome> => {
        try {
          return jsonOutcome(await carryOut(made, call));
        } catch (error) {
          if (error instanceof AppError && error.code !== "INTERNAL")
            return failedOutcome(error.message, { ok: false, code: error.code, error: error.message });
          throw error;
        }
      },
  }).create(deps);
}
