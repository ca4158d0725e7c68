/** The tools with which an agent hands work to others. */
import { AppError } from "../../base/errors.ts";
import type { ReplyAddress } from "../../conversation/index.ts";
import {
  defineTool,
  failedOutcome,
  jsonOutcome,
  SESSIONS_SPAWN,
  SUBAGENTS,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolOutcome,
} from "../../tools/index.ts";
import type { Origin } from "./child.ts";
import type { Subagents } from "./subagents.ts";

export interface SubagentToolDeps {
  readonly subagents: Pick<Subagents, "spawn" | "list" | "kill" | "steer" | "wait">;
  /** Where a run's answer is sent; undefined when only clients see it. */
  readonly addressOf: (runId: string) => ReplyAddress | undefined;
}

/** Whom the turn of a call is for. */
function originOf({ channel, accountId, senderId, owner, runId }: ToolContext, addressOf: SubagentToolDeps["addressOf"]): Origin {
  const reply = addressOf(runId);
  return {
    owner,
    ...(channel === undefined ? {} : { channel }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(senderId === undefined ? {} : { senderId }),
    ...(reply === undefined ? {} : { reply }),
  };
}

const text = (params: ToolCall["params"], name: string): string => (typeof params[name] === "string" ? params[name].trim() : "");
const number = (params: ToolCall["params"], name: string): number | undefined => (typeof params[name] === "number" ? params[name] : undefined);

export function spawnTool(deps: SubagentToolDeps): Tool {
  return defineTool<SubagentToolDeps>({
    ...SESSIONS_SPAWN,
    label: "Sessions",
    description:
      "Start a sub-agent in a separate session for a task that can be done separately. Returns the child's session at once; the result is reported here automatically when the child has finished. Put everything that is needed into the task: the child sees nothing of this conversation.",
    parameters: {
      type: "object",
      properties: {
        task: { type: "string", description: "What to do, with all the context that is needed" },
        label: { type: "string", description: "A short name for lists" },
        agentId: { type: "string", description: "Another agent to do it; see agents_list for those that are allowed" },
        model: { type: "string", description: "A model for this child" },
        thinking: { type: "string", description: "off, minimal, low, medium, high or xhigh" },
        runTimeoutSeconds: { type: "number", minimum: 0, description: "Stop it after this long (default 0: no limit)" },
        timeoutSeconds: { type: "number", minimum: 0, description: "Older name of runTimeoutSeconds" },
        cleanup: { type: "string", enum: ["delete", "keep"], description: "What happens to its session after the report (default keep: archived later)" },
      },
      required: ["task"],
    },
    // The child's ids are made of the call: after a crash the same call is the same child.
    idempotent: true,
    run:
      ({ subagents, addressOf }) =>
      async ({ id, params, context, signal }): Promise<ToolOutcome> => {
        if (signal.aborted) return failedOutcome("the run was stopped");
        const { sessionKey, agentId, runId } = context;
        const result = await subagents.spawn({
          requester: { sessionKey, agentId, runId },
          cause: id,
          origin: originOf(context, addressOf),
          task: text(params, "task"),
          label: text(params, "label") || undefined,
          agentId: text(params, "agentId") || undefined,
          model: text(params, "model") || undefined,
          thinking: text(params, "thinking") || undefined,
          timeoutSeconds: number(params, "runTimeoutSeconds") ?? number(params, "timeoutSeconds"),
          cleanup: params["cleanup"] === "delete" ? "delete" : "keep",
          signal,
        });
        return result.status === "accepted" ? jsonOutcome(result) : { ...jsonOutcome(result), isError: true };
      },
  }).create(deps);
}

const ACTIONS = ["list", "kill", "steer", "wait"] as const;
const RECENT_MINUTES = 30;
const MAX_RECENT_MINUTES = 1440;
const WAIT_SECONDS = 300;
const MAX_WAIT_SECONDS = 3600;

async function list({ subagents }: SubagentToolDeps, { params, context }: ToolCall): Promise<unknown> {
  const minutes = Math.min(MAX_RECENT_MINUTES, Math.max(1, number(params, "recentMinutes") ?? RECENT_MINUTES));
  const views = await subagents.list(context.sessionKey, minutes * 60_000);
  const [active, recent] = [views.filter((view) => view.isActive), views.filter((view) => !view.isActive)];
  const lines = (part: typeof views): readonly string[] => (part.length === 0 ? ["(none)"] : part.map(({ line }) => line));
  const shown = ["active subagents:", ...lines(active), "", `recent (last ${minutes}m):`, ...lines(recent)].join("\n");
  const facts = (part: typeof views) => part.map(({ line: _line, ...view }) => view);
  const about = { requesterSessionKey: context.sessionKey, total: views.length, active: facts(active), recent: facts(recent) };
  return { status: "ok", action: "list", ...about, text: shown };
}

async function kill({ subagents }: SubagentToolDeps, { params, context }: ToolCall): Promise<unknown> {
  const target = text(params, "target");
  if (target === "") throw new AppError("INVALID_INPUT", 'target required: a number from the list, "last", a label, the id of a run, or "all"');
  const { killed, names, child } = await subagents.kill(context.sessionKey, target);
  if (!child) return { status: "ok", action: "kill", target: "all", killed, labels: names, text: `stopped ${killed} sub-agents` };
  const { runId, sessionKey, name } = child;
  if (killed === 0) return { status: "done", action: "kill", target, runId, sessionKey, label: name, text: `${name} had already finished` };
  return { status: "ok", action: "kill", target, runId, sessionKey, label: name, cascadeKilled: killed - 1, text: `stopped ${name}` };
}

async function steer({ subagents }: SubagentToolDeps, { id, params, context }: ToolCall): Promise<unknown> {
  const target = text(params, "target");
  if (target === "") throw new AppError("INVALID_INPUT", "target required");
  const done = await subagents.steer(context.sessionKey, target, text(params, "message"), `${context.runId}:${id}`);
  if ("done" in done) {
    const { runId, sessionKey, name } = done.done;
    return { status: "done", action: "steer", target, runId, sessionKey, text: `${name} has already finished` };
  }
  const { sessionKey, sessionId, name } = done.child;
  return { status: "accepted", action: "steer", target, runId: done.runId, sessionKey, sessionId, mode: "restart", label: name, text: `steered ${name}` };
}

async function wait({ subagents }: SubagentToolDeps, { params, context, signal }: ToolCall): Promise<unknown> {
  const given = Array.isArray(params["targets"]) ? params["targets"] : [params["target"]];
  const targets = given.flatMap((one) => (typeof one === "string" && one.trim() !== "" && one !== "all" && one !== "*" ? [one] : []));
  const seconds = Math.min(MAX_WAIT_SECONDS, Math.max(0, number(params, "timeoutSeconds") ?? WAIT_SECONDS));
  const { children, isComplete } = await subagents.wait(context.sessionKey, { runId: context.runId, targets, timeoutMs: seconds * 1000, signal });
  return { status: isComplete ? "ok" : "timeout", action: "wait", children };
}

const CARRY_OUT = { list, kill, steer, wait } as const;

export function subagentsTool(deps: SubagentToolDeps): Tool {
  return defineTool<SubagentToolDeps>({
    ...SUBAGENTS,
    label: "Subagents",
    description:
      "Sub-agents of this session. list: running ones and those that ended recently. kill: stop one, or all, with everything it started. steer: redirect one with a message. wait: get the results of several in this call, instead of having them reported later.",
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: [...ACTIONS], description: "Default list" },
        target: { type: "string", description: 'A number from the list, "last", a label, the id of a run, a session key, or "all"' },
        targets: { type: "array", items: { type: "string" }, description: "wait: which ones (default: all that this turn started)" },
        message: { type: "string", description: "steer: at most 4000 characters" },
        recentMinutes: { type: "number", minimum: 1, maximum: MAX_RECENT_MINUTES, description: `list: how far back (default ${RECENT_MINUTES})` },
        timeoutSeconds: { type: "number", minimum: 0, maximum: MAX_WAIT_SECONDS, description: `wait: at most this long (default ${WAIT_SECONDS})` },
      },
    },
    idempotent: true,
    timeoutMs: (MAX_WAIT_SECONDS + 60) * 1000,
    run:
      (made) =>
      async (call): Promise<ToolOutcome> => {
        const action = ACTIONS.find((one) => one === (text(call.params, "action") || "list"));
        if (!action) return failedOutcome(`action must be one of ${ACTIONS.join(", ")}`);
        try {
          return jsonOutcome(await CARRY_OUT[action](made, call));
        } catch (error) {
          if (!(error instanceof AppError) || error.code === "INTERNAL") throw error;
          return { ...jsonOutcome({ status: error.code === "OVERLOADED" ? "rate_limited" : "error", action, error: error.message }), isError: true };
        }
      },
  }).create(deps);
}
