/** `runtime.subagent`: runs of agents that a plugin asks for, in sessions of its own or in those that are there. */
import { AppError } from "../../base/errors.ts";
import type { Conversation, RunRequest } from "../../conversation/index.ts";
import type { OwnCaller } from "../../gateway/index.ts";
import { deliveryOf } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import type { RuntimeSubagent, SubagentRunParams } from "../sdk/types/index.ts";
import type { RuntimeOwner, RuntimePorts } from "./ports.ts";
import { whenAborted } from "../../base/when-aborted.ts";

/** What runs stand on, while there are conversations. */
export interface SubagentPorts {
  readonly conversation: () => Pick<Conversation, "accept" | "outcome" | "abort">;
  /** Methods of the gateway: it is checked here whether the plugin may. */
  readonly call: OwnCaller;
}

const MAX_MESSAGE = 200_000;
const WAIT_MS = 30_000;
const MAX_WAIT_MS = 24 * 60 * 60_000;
const MESSAGES = 200;
const MAX_MESSAGES = 1000;
/** Completions of one plugin that run at once. */
const MAX_COMPLETIONS = 3;
const MAX_WAITING = 100;
/** The entry of a session that a plugin began names it. */
const OWNER = "pluginOwnerId";

function textIn(params: unknown, name: string, member: string, most = 500): string {
  const value = typeof params === "object" && params !== null ? Reflect.get(params, name) : undefined;
  if (typeof value !== "string" || value.trim() === "")
    throw new AppError(
      "INVALID_INPUT",
      `runtime.subagent.${member} needs ${name}, a text; got ${value === undefined ? "nothing" : JSON.stringify(value)?.slice(0, 80)}`,
    );
  if (value.length > most) throw new AppError("INVALID_INPUT", `runtime.subagent.${member}: ${name} has ${value.length} characters; the limit is ${most}`);
  return value;
}

const waitOf = (timeoutMs: unknown): number =>
  typeof timeoutMs === "number" && Number.isFinite(timeoutMs) ? Math.min(MAX_WAIT_MS, Math.max(0, timeoutMs)) : WAIT_MS;

interface Allowed {
  readonly allowModelOverride?: unknown;
  readonly allowedModels?: unknown;
}

/** The model that a plugin asks for, as a reference. `PERMISSION_DENIED` when the operator has not allowed it. */
function modelOf({ config }: Pick<RuntimePorts, "config">, { id }: RuntimeOwner, provider: string | undefined, model: string | undefined): string | undefined {
  if (provider === undefined && model === undefined) return undefined;
  const path = `plugins.entries.${id}.subagent`;
  const settings: Allowed = config.current.plugins?.entries?.[id]?.subagent ?? {};
  if (model === undefined) throw new AppError("INVALID_INPUT", "a provider needs a model; set both");
  if (settings.allowModelOverride !== true)
    throw new AppError("PERMISSION_DENIED", `plugin ${id} may not choose models: set ${path}.allowModelOverride to true, or leave provider and model out`);
  const ref = provider === undefined || model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
  const { allowedModels } = settings;
  if (!Array.isArray(allowedModels) || allowedModels.includes("*") || allowedModels.includes(ref)) return ref;
  throw new AppError(
    "PERMISSION_DENIED",
    `plugin ${id} may not use ${ref}: ${path}.allowedModels does not have it (allowed: ${allowedModels.join(", ") || "none"})`,
  );
}

/** What newer hosts offer and this one does not. */
function refuseUnbuilt({ toolsAlsoAllow, completionDelivery, promptMode }: SubagentRunParams, isSubagent: boolean): void {
  if (Array.isArray(toolsAlsoAllow) && toolsAlsoAllow.length > 0)
    throw new AppError("UNAVAILABLE", "toolsAlsoAllow is not available in this version: allow the tools in the configuration (tools.subagents.tools)");
  if (completionDelivery !== undefined)
    throw new AppError("UNAVAILABLE", "completionDelivery is not available in this version: wait for the run and send its result with channel.reply");
  if (promptMode === "minimal" && !isSubagent)
    throw new AppError("UNAVAILABLE", "promptMode is that of the session in this version: use a session agent:<id>:subagent:<name> for the minimal one");
}

/** At most so many at once; others wait for their turn. */
function createSlots(most: number): <T>(work: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work, signal) => {
    if (running >= most) {
      if (waiting.length >= MAX_WAITING) throw new AppError("OVERLOADED", `${MAX_WAITING} completions of this plugin are already waiting; try again later`);
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      await (signal ? Promise.race([promise, whenAborted(signal)]) : promise);
      const at = waiting.indexOf(resolve);
      if (at >= 0) waiting.splice(at, 1);
    }
    signal?.throwIfAborted();
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      waiting[0]?.();
    }
  };
}

/** Sessions and runs of one plugin. */
interface Runs {
  keyIn(params: unknown, member: string): string;
  checkAgent(agentId: string): void;
  /** Puts a run on disk; a session that is not there yet becomes one of this plugin's. */
  start(request: Omit<RunRequest, "kind" | "channel">): Promise<void>;
  remove(sessionKey: string, deleteTranscript: boolean): Promise<void>;
}

function createRuns({ store, clock, ids, config, canonicalKey, agentOf }: RuntimePorts, { conversation, call }: SubagentPorts, owner: RuntimeOwner): Runs {
  function checkAgent(agentId: string): void {
    const listed = (config.current.agents?.list ?? []).map(({ id }) => id.toLowerCase());
    if (listed.length === 0 ? agentId === "main" : listed.includes(agentId)) return;
    throw new AppError("INVALID_INPUT", `there is no agent ${JSON.stringify(agentId)} (configured: ${listed.join(", ") || "main"})`);
  }
  return {
    checkAgent,
    keyIn(params, member) {
      const written = textIn(params, "sessionKey", member).trim();
      const key = canonicalKey(written);
      if (key === undefined) throw new AppError("INVALID_INPUT", `${JSON.stringify(written)} is not a session key; use agent:<id>:subagent:<name>`);
      return key;
    },
    async start(request) {
      const { sessionKey } = request;
      const agentId = agentOf(sessionKey);
      checkAgent(agentId);
      const isThere = (await store.read("sessions.get", { key: sessionKey })) !== undefined;
      const depth = sessionKey.includes(":subagent:") ? { spawnDepth: 1 } : {};
      const entry = { sessionId: ids.uuid(), updatedAt: clock.now(), [OWNER]: owner.id, ...depth };
      const also: readonly Write[] = isThere ? [] : [["sessions.put", { key: sessionKey, agentId, version: 0, entry }]];
      await conversation().accept({ ...request, kind: "subagent", channel: "webchat" }, also);
    },
    async remove(sessionKey, deleteTranscript) {
      conversation().abort({ sessionKey }, "stop");
      await call("sessions.delete", { key: sessionKey, deleteTranscript });
    },
  };
}

/** One answer without tools. Its session is removed when it has ended, however it did. */
function createCompletions(ports: RuntimePorts, { conversation }: SubagentPorts, owner: RuntimeOwner, runs: Runs): RuntimeSubagent["complete"] {
  const { clock, ids } = ports;
  const inSlot = createSlots(MAX_COMPLETIONS);

  async function answer(request: Pick<RunRequest, "message" | "systemPrompt" | "model">, agentId: string, signal: AbortSignal): Promise<{ text: string }> {
    const runId = ids.uuid();
    const sessionKey = `agent:${agentId}:subagent:completion-${runId}`;
    try {
      await runs.start({ ...request, runId, sessionKey, tools: [], ...(request.model === undefined ? {} : { modelRequired: true }) });
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      signal.throwIfAborted();
      const outcome = await Promise.race([conversation().outcome(runId), promise]);
      if (outcome?.status === "ok") return { text: outcome.text };
      throw new AppError("MODEL_FAILED", `the completion failed: ${outcome?.status === "error" ? outcome.error : "it was stopped"}`);
    } finally {
      await runs.remove(sessionKey, true).catch(() => {});
    }
  }

  return async (params) => {
    const agentId = textIn(params, "agentId", "complete").trim().toLowerCase();
    const message = textIn(params, "message", "complete", MAX_MESSAGE);
    const model = modelOf(ports, owner, undefined, params.model);
    runs.checkAgent(agentId);
    const over = new AbortController();
    const late = new AppError("UNAVAILABLE", "the completion took too long; raise timeoutMs, or ask for less");
    using _timer = clock.after(waitOf(params.timeoutMs), () => over.abort(late));
    const signal = params.signal ? AbortSignal.any([over.signal, params.signal]) : over.signal;
    const about = params.extraSystemPrompt ? { systemPrompt: params.extraSystemPrompt } : {};
    return await inSlot(() => answer({ message, ...about, ...(model === undefined ? {} : { model }) }, agentId, signal), signal);
  };
}

export function createSubagent(ports: RuntimePorts, subagents: SubagentPorts, owner: RuntimeOwner): RuntimeSubagent {
  const { store, ids } = ports;
  const { call } = subagents;
  const runs = createRuns(ports, subagents, owner);
  const { keyIn } = runs;

  /** The chat that answers in a session go to. */
  async function replyOf(sessionKey: string): Promise<Pick<RunRequest, "reply">> {
    const entry = (await store.read("sessions.get", { key: sessionKey }))?.entry;
    const { channel, to, accountId = "default", threadId } = deliveryOf(entry) ?? {};
    if (channel === undefined || to === undefined || channel === "webchat") return {};
    const chatType = entry?.chatType === "group" || entry?.chatType === "channel" ? entry.chatType : "direct";
    return { reply: { channel, to, accountId, chatType, ...(threadId === undefined ? {} : { threadId }) } };
  }

  return {
    async run(params) {
      const sessionKey = keyIn(params, "run");
      const message = textIn(params, "message", "run", MAX_MESSAGE);
      refuseUnbuilt(params, sessionKey.includes(":subagent:"));
      const model = modelOf(ports, owner, params.provider, params.model);
      const given = params.idempotencyKey?.trim();
      const runId = given ? `plugin:${owner.id}:${given}` : ids.uuid();
      await runs.start({
        runId,
        sessionKey,
        message,
        ...(params.extraSystemPrompt ? { systemPrompt: params.extraSystemPrompt } : {}),
        ...(model === undefined ? {} : { model, modelRequired: true }),
        ...(params.disableTools === true ? { tools: [] } : {}),
        ...(params.deliver === true ? await replyOf(sessionKey) : {}),
      });
      return { runId, sessionKey };
    },
    async waitForRun(params) {
      const runId = textIn(params, "runId", "waitForRun");
      return call("agent.wait", { runId, timeoutMs: waitOf(params.timeoutMs) });
    },
    async getSessionMessages(params) {
      const sessionKey = keyIn(params, "getSessionMessages");
      const limit = Math.min(MAX_MESSAGES, Math.max(1, Math.trunc(params.limit ?? MESSAGES)));
      const { messages } = await call("chat.history", { sessionKey, limit });
      return { messages: [...messages] };
    },
    async deleteSession(params) {
      const sessionKey = keyIn(params, "deleteSession");
      const row = await store.read("sessions.get", { key: sessionKey });
      if (!row) return;
      if (row.entry[OWNER] !== owner.id) {
        const text = `plugin ${owner.id} may only delete sessions that it started with runtime.subagent.run; ${sessionKey} is not one of them`;
        throw new AppError("PERMISSION_DENIED", text);
      }
      await runs.remove(sessionKey, params.deleteTranscript !== false);
    },
    complete: createCompletions(ports, subagents, owner, runs),
  };
}
