/** The tool with which an owner's agent schedules work. */
import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import type { Config } from "../../config/index.ts";
import type { ReplyAddress } from "../../conversation/index.ts";
import { agentOfKey, CRON_FIELDS, jobProblems, loadValidators, normalizeJob, normalizeNewJob, parseSessionKey, type MethodName } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import {
  CRON,
  defineTool,
  failedOutcome,
  findTarget,
  isSessionSandboxed,
  jsonOutcome,
  sessionRefusal,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolOutcome,
} from "../../tools/index.ts";
import type { Cron } from "./cron.ts";
import type { CronJob, JobPatch, NewJob } from "./job.ts";
import { jobOf } from "./jobs.ts";
import { agentOf, sessionOf, WEBCHAT } from "./run.ts";
import { zoneOf } from "./schedule.ts";

export interface CronToolDeps {
  readonly cron: Omit<Cron, "start" | typeof Symbol.asyncDispose>;
  /** The last messages of a session, oldest first. */
  readonly recent: (sessionKey: string, count: number) => Promise<readonly { readonly role: string; readonly text: string }[]>;
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read">;
  /** Why an agent may not have another one work; undefined when it may. */
  readonly refusedAgent: (agentId: string, other: string) => string | undefined;
  /** Where a run's answer is sent; undefined when only clients see it. */
  readonly addressOf: (runId: string) => ReplyAddress | undefined;
  /** Whether a run answers a person in WebChat. */
  readonly isForClient: (runId: string) => boolean;
  /** Queues a line for a session, and has it answered at once with `now`. */
  readonly wake: (request: { readonly sessionKey: string; readonly text: string; readonly mode: "now" | "next-heartbeat" }) => Promise<unknown>;
}

type Chat = Pick<ReplyAddress, "channel" | "threadId"> & Partial<Pick<ReplyAddress, "to" | "accountId">>;

const ACTIONS = ["status", "list", "add", "update", "remove", "run", "runs", "wake"] as const;
const FLAT_FIELDS = [...CRON_FIELDS.job, "message", "text", "model", "thinking", "timeoutSeconds"];
const MAX_CONTEXT = 10;
const MESSAGE_CHARS = 220;
const CONTEXT_CHARS = 700;
const RUNS_SHOWN = 20;
const RUN_TIMEOUT_MS = 15 * 60_000;

const DESCRIPTION = `Schedule jobs and reminders.
add: job {name, schedule, payload, delivery?, sessionTarget?}. schedule is {kind:"at", at:<ISO time>}, {kind:"every", everyMs} or {kind:"cron", expr, tz?}. payload is {kind:"systemEvent", text}: a reminder in the main session; or {kind:"agentTurn", message, model?, thinking?, timeoutSeconds?}: work in a separate session, whose answer is sent to delivery {mode:"announce"|"none", channel?, to?}.
update: jobId and patch, with the fields to change. remove, run, runs: jobId. list, status: all jobs. wake: text, now or with the next turn of the main session.
Word a reminder so that it makes sense when it fires. contextMessages (0 to 10) appends the last messages of this chat to a reminder.`;

/** Validates what a model wrote with the method's own schema. */
async function checked(method: Extract<MethodName, "cron.add" | "cron.update">, params: Readonly<Record<string, unknown>>): Promise<void> {
  const problems = method === "cron.add" ? jobProblems(params, true) : jobProblems(params["patch"], false);
  if (problems.length > 0) throw new AppError("INVALID_INPUT", `invalid job: ${problems.join("; ")}`);
  const issues = (await loadValidators()).params(method, params) ?? [];
  if (issues.length > 0) throw new AppError("INVALID_INPUT", `invalid job: ${issues.join("; ")}`);
}

/** The chat that a call comes from: the one that its turn answers in, or the one that its session is named after. In WebChat it is the session itself. */
function chatOf({ runId, sessionKey }: ToolContext, { addressOf, isForClient }: Pick<CronToolDeps, "addressOf" | "isForClient">): Chat | undefined {
  if (isForClient(runId)) return { channel: WEBCHAT };
  const address = addressOf(runId);
  if (address) {
    const { channel, to, accountId, threadId } = address;
    return { channel, to, accountId, ...(threadId === undefined ? {} : { threadId }) };
  }
  const [, , channel, kind, ...peer] = parseSessionKey(sessionKey) ? sessionKey.split(":") : [];
  if (channel === undefined || peer.length === 0 || !["direct", "group", "channel"].includes(kind ?? "")) return undefined;
  return { channel, to: peer.join(":") };
}

/**
 * A job that names no recipient answers in the chat that asks for it: a session may be shared, and another person may be the last to write in it. A reminder
 * is relayed there by its session, so that nothing is announced.
 */
function inferDelivery(job: Record<string, unknown>, chat: Chat | undefined): Record<string, unknown> {
  const { payload, delivery = {} } = job;
  if (!chat || !isRecord(payload) || !isRecord(delivery) || delivery["to"] !== undefined) return job;
  if (payload["kind"] === "systemEvent") return job["delivery"] === undefined ? { ...job, delivery: { mode: "none", ...chat } } : job;
  const { to, deliver, channel, bestEffortDeliver } = payload;
  if (payload["kind"] !== "agentTurn" || to !== undefined || deliver === false || (delivery["mode"] ?? "announce") !== "announce") return job;
  const named = delivery["channel"] ?? channel ?? "last";
  if (named !== "last" && named !== chat.channel) return job;
  const bestEffort = bestEffortDeliver === undefined ? {} : { bestEffort: bestEffortDeliver };
  return { ...job, delivery: { ...chat, mode: "announce", ...bestEffort, ...delivery, channel: chat.channel } };
}

async function withContext(job: Record<string, unknown>, count: number, sessionKey: string, { recent }: CronToolDeps): Promise<Record<string, unknown>> {
  const payload = job["payload"];
  if (count === 0 || !isRecord(payload) || payload["kind"] !== "systemEvent" || typeof payload["text"] !== "string") return job;
  const lines = (await recent(sessionKey, count)).map(({ role, text }) => `- ${role}: ${clip(text.replaceAll(/\s+/g, " "), MESSAGE_CHARS)}`);
  while (lines.join("\n").length > CONTEXT_CHARS) lines.shift();
  return lines.length === 0 ? job : { ...job, payload: { ...payload, text: `${payload["text"]}\n\nRecent context:\n${lines.join("\n")}` } };
}

const forbid = (error: string): never => {
  throw new AppError("PERMISSION_DENIED", error);
};

/** Whether a job is for another agent than the caller's, which may not have it work. */
function refusedAgentOf({ refusedAgent, config }: CronToolDeps, { agentId }: ToolContext, job: Pick<CronJob, "agentId">): string | undefined {
  return refusedAgent(agentId, agentOf(job, config.current));
}

/** A session that a job puts turns or lines into has to be one that the caller may write to. */
async function checkSession({ config, store }: CronToolDeps, caller: ToolContext, sessionKey: string): Promise<void> {
  const isSandboxed = (who: { readonly agentId: string; readonly sessionKey: string }): boolean =>
    isSessionSandboxed(config.current, who.agentId, who.sessionKey);
  const seeing = { store, config: () => config.current, isSandboxed };
  const target = await findTarget(seeing, caller, sessionKey);
  if (!target) throw new AppError("INVALID_INPUT", `${JSON.stringify(clip(sessionKey, 200))} is not a session key; omit sessionKey for this session`);
  const why = await sessionRefusal(seeing, caller, target);
  if (why !== undefined) forbid(`sessionKey is not allowed for cron: ${why} Omit it for this session.`);
}

/** A job reaches no agent and no session that the caller could not reach with other tools. */
async function checkReach(deps: CronToolDeps, caller: ToolContext, job: Pick<CronJob, "agentId" | "sessionKey">): Promise<void> {
  const named = job.agentId?.trim().toLowerCase() || agentOf(job, deps.config.current);
  const why = deps.refusedAgent(caller.agentId, named);
  if (why !== undefined) forbid(why);
  await checkSession(deps, caller, sessionOf(job, deps.config.current));
}

/** A stored job that the caller may change, run and look into. Undefined when there is none. */
async function ownJob(deps: CronToolDeps, caller: ToolContext, id: string): Promise<CronJob | undefined> {
  const row = await deps.store.read("cron.job.get", { id });
  const job = row && jobOf(row);
  const why = job && refusedAgentOf(deps, caller, job);
  if (why !== undefined) forbid(`the job ${id} belongs to another agent: ${why}`);
  return job;
}

async function list(deps: CronToolDeps, { params, context }: ToolCall): Promise<unknown> {
  const all = await deps.cron.list({ includeDisabled: params["includeDisabled"] === true });
  const jobs = all.filter((job) => refusedAgentOf(deps, context, job) === undefined);
  return { jobs: jobs.map(withNextRun), ...(jobs.length === all.length ? {} : { ofOtherAgents: all.length - jobs.length }) };
}

/** When a job runs next, for people: with the delay of jobs that are spread, in the zone of its schedule, which is named. */
function withNextRun(job: CronJob): CronJob & { readonly nextRun?: string } {
  const { nextRunAtMs: at } = job.state;
  if (at === undefined) return job;
  const timeZone = zoneOf(job.schedule);
  try {
    return { ...job, nextRun: `${new Intl.DateTimeFormat("en-US", { dateStyle: "full", timeStyle: "medium", timeZone }).format(at)} (${timeZone})` };
  } catch {
    // A zone that another program wrote and this one does not know: the planner reports it.
    return job;
  }
}

const MINUTE_MS = 60_000;

/** Seconds or minutes that a model wrote as milliseconds would have a job run all the time: the answer says what was asked for. */
function withWarning<Shown extends CronJob>(job: Shown): Shown & { readonly warning?: string } {
  if (job.schedule.kind !== "every" || job.schedule.everyMs >= MINUTE_MS) return job;
  const { everyMs } = job.schedule;
  const written = everyMs < 1000 ? "more than once a second, so it runs once a second" : `every ${everyMs / 1000} seconds`;
  return { ...job, warning: `everyMs is in milliseconds: ${everyMs} is ${written}. Update or remove the job if you meant something else; an hour is 3600000.` };
}

async function add(deps: CronToolDeps, { params, context }: ToolCall): Promise<unknown> {
  const flat = Object.fromEntries(FLAT_FIELDS.flatMap((field) => (params[field] === undefined ? [] : [[field, params[field]]])));
  const job = normalizeNewJob(isRecord(params["job"]) ? params["job"] : flat);
  if (!isRecord(job)) throw new AppError("INVALID_INPUT", "add needs a job");
  const { agentId, sessionKey, ...rest } = inferDelivery(job, chatOf(context, deps));
  const complete = { agentId: agentId ?? context.agentId, sessionKey: sessionKey ?? context.sessionKey, ...rest };
  await checked("cron.add", complete);
  const count = typeof params["contextMessages"] === "number" ? Math.min(MAX_CONTEXT, Math.max(0, Math.floor(params["contextMessages"]))) : 0;
  // Checked right above.
  const input = (await withContext(complete, count, context.sessionKey, deps)) as NewJob;
  await checkReach(deps, context, { agentId: input.agentId ?? context.agentId, sessionKey: input.sessionKey ?? context.sessionKey });
  return withWarning(withNextRun(await deps.cron.add(input)));
}

async function update(deps: CronToolDeps, { params, context }: ToolCall, id: string): Promise<unknown> {
  const written = normalizeJob(isRecord(params["patch"]) ? params["patch"] : params["job"]);
  await checked("cron.update", { id, patch: written });
  // Checked right above.
  const patch = written as JobPatch;
  const job = await ownJob(deps, context, id);
  if (job) {
    const { agentId = job.agentId, sessionKey = job.sessionKey } = patch;
    const reach = { ...(typeof agentId === "string" ? { agentId } : {}), ...(typeof sessionKey === "string" ? { sessionKey } : {}) };
    const isForeign = agentOfKey(sessionOf(reach, deps.config.current), { defaultAgentId: context.agentId }) !== context.agentId.toLowerCase();
    if (isForeign || patch.agentId !== undefined || patch.sessionKey !== undefined) await checkReach(deps, context, reach);
  }
  return withWarning(withNextRun(await deps.cron.update(id, patch)));
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
      return list(deps, call);
    case "add":
      return add(deps, call);
    case "update":
      return update(deps, call, id());
    case "remove":
      await ownJob(deps, context, id());
      return { ok: true, removed: await cron.remove(id()) };
    case "run":
      await ownJob(deps, context, id());
      return { ok: true, ...(await cron.run(id(), params["runMode"] === "due" ? "due" : "force")) };
    case "runs":
      await ownJob(deps, context, id());
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
        id: { type: "string", description: "Older name of jobId" },
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
          if (error instanceof AppError && error.code === "PERMISSION_DENIED")
            return { ...jsonOutcome({ status: "forbidden", error: error.message }), isError: true };
          if (error instanceof AppError && error.code !== "INTERNAL")
            return failedOutcome(error.message, { ok: false, code: error.code, error: error.message });
          throw error;
        }
      },
  }).create(deps);
}
