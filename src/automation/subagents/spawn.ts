/** Starting a child: who may, with what, and the one commit that does it. */
import { THINKING_LEVELS } from "../../base/thinking.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { escapeLine, isPrintable } from "../../base/printable.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { SubagentSpawningEvent } from "../../hooks/index.ts";
import type { SpawnBudget } from "../../store/index.ts";
import { isSessionSandboxed } from "../../tools/index.ts";
import { childOf, idOf, limitsOf, requestFor, taskMessage, type Chain, type Child, type ChildData, type Origin, type SubagentsDeps } from "./child.ts";

export interface SpawnRequest {
  readonly requester: { readonly sessionKey: string; readonly agentId: string; readonly runId: string };
  /** Names the spawn inside of the run: the same one gives the same child. */
  readonly cause: string;
  readonly origin: Origin;
  readonly task: string;
  readonly label?: string | undefined;
  readonly agentId?: string | undefined;
  readonly model?: string | undefined;
  readonly thinking?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly cleanup?: "keep" | "delete" | undefined;
  /** Aborted: the run that starts it was stopped. */
  readonly signal?: AbortSignal | undefined;
}

export type SpawnResult =
  | { readonly status: "accepted"; readonly childSessionKey: string; readonly runId: string; readonly note: string; readonly modelApplied?: boolean }
  | { readonly status: "forbidden" | "error"; readonly error: string; readonly childSessionKey?: string };

const MAX_TASK = 200_000;
const MAX_LABEL = 64;
const MAX_SECONDS = 86_400;
/** So many children wait for each that may run. */
const WAITING_FACTOR = 16;
const FAILURES = 5;
const PAUSE_MS = 10 * 60_000;
/** Reports that start others, one after the other, and children that such reports may start in all; then a person has to write. */
const MAX_GENERATIONS = 20;
const MAX_CHAINED = 100;
const NOTE = "The sub-agent works in the background and reports here automatically when it has finished. Do not poll for it.";

const forbidden = (error: string): SpawnResult => ({ status: "forbidden", error });

/** Agents that an agent may start besides itself; `*` is any. */
function allowedAgents({ agents }: OpenClawConfig, agentId: string): ReadonlySet<string> {
  const own = agents?.list?.find(({ id }) => id.toLowerCase() === agentId.toLowerCase())?.subagents?.allowAgents ?? [];
  return new Set(own.map((id) => id.trim().toLowerCase()).filter((id) => id !== ""));
}

/** Why an agent may not have another one work; undefined when it may. */
export function agentRefusal(config: OpenClawConfig, requester: string, target: string, tool = "sessions_spawn"): string | undefined {
  if (target === requester.toLowerCase()) return undefined;
  const allowed = allowedAgents(config, requester);
  if (!allowed.has("*") && !allowed.has(target))
    return `agentId is not allowed for ${tool} (allowed: ${allowed.size === 0 ? "none" : [...allowed].sort().join(", ")})`;
  const isThere = (config.agents?.list ?? []).some(({ id }) => id.toLowerCase() === target);
  return isThere ? undefined : `there is no agent ${JSON.stringify(target)}; see agents_list`;
}

type ModelSetting = string | { readonly primary?: string | undefined } | undefined;

const primaryOf = (setting: ModelSetting): string | undefined => (typeof setting === "string" ? setting : setting?.primary)?.trim() || undefined;

/** What the configuration chooses for children of an agent. */
function chosenFor({ agents }: OpenClawConfig, agentId: string): { readonly model: string | undefined; readonly thinking: string | undefined } {
  const own = agents?.list?.find(({ id }) => id.toLowerCase() === agentId)?.subagents;
  const general = agents?.defaults?.subagents;
  return { model: primaryOf(own?.model) ?? primaryOf(general?.model), thinking: own?.thinking ?? general?.thinking };
}

/** How a limit that the store enforces is reported. */
function limitText(error: AppError): string | undefined {
  const { limit, active, max } = error.details;
  if (limit === "children") return `sessions_spawn has reached max active children for this session (${String(active)}/${String(max)})`;
  if (limit === "total") return `sessions_spawn has reached the overall limit of sub-agents (${String(active)}/${String(max)}); wait until some have finished`;
  if (limit === "failures")
    return `the last ${String(active)} sub-agents of this session failed, so no more are started for ${PAUSE_MS / 60_000} minutes; find out why they fail, or do the work here`;
  if (limit === "chain")
    return `sub-agents have started others ${String(active)} times without a message from a person in between (at most ${String(max)}), so no more are started; report what you have, and continue when a person asks for it`;
  return limit === "killed" ? "this session was stopped and cannot start more sub-agents" : undefined;
}

/** Where in a chain of reports a child begins that this run starts. */
async function chainOf({ store }: SubagentsDeps, { sessionKey, runId }: SpawnRequest["requester"]): Promise<Chain> {
  const reported = /^announce:v1:.*:([^:]+)$/.exec(runId)?.[1];
  if (reported !== undefined) {
    const row = await store.read("subagents.get", { runId: reported });
    const { root, generation } = row ? childOf(row).data.chain : { root: runId, generation: 0 };
    return { root, generation: generation + 1 };
  }
  const [own] = sessionKey.includes(":subagent:") ? await store.read("subagents.list", { childSessionKey: sessionKey }) : [];
  return own ? childOf(own).data.chain : { root: runId, generation: 0 };
}

interface Prepared {
  readonly child: Child;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly budgets: readonly SpawnBudget[];
  readonly model?: { readonly provider: string; readonly id: string };
}

/** Checks everything that does not depend on other children. */
async function prepare(
  deps: SubagentsDeps,
  request: SpawnRequest,
  keys: Pick<Child, "runId" | "childSessionKey">,
  agentId: string,
): Promise<Prepared | SpawnResult> {
  const { requester, task, label, origin, timeoutSeconds = 0, cleanup = "keep" } = request;
  const config = deps.config.current;
  const { maxDepth, maxChildren } = limitsOf(config);
  const row = await deps.store.read("sessions.get", { key: requester.sessionKey });
  const depth = row?.entry.spawnDepth ?? requester.sessionKey.split(":subagent:").length - 1;
  if (depth >= maxDepth) return forbidden(`sessions_spawn is not allowed at this depth (current depth: ${depth}, max: ${maxDepth})`);
  const refused = agentRefusal(config, requester.agentId, agentId);
  if (refused !== undefined) {
    const active = (await deps.store.read("subagents.list", { requesterSessionKey: requester.sessionKey, unfinished: true })).length;
    return forbidden(active >= maxChildren ? `sessions_spawn has reached max active children for this session (${active}/${maxChildren})` : refused);
  }
  if (isSessionSandboxed(config, requester.agentId, requester.sessionKey) && !isSessionSandboxed(config, agentId, keys.childSessionKey))
    return forbidden(`the agent ${agentId} is not sandboxed, but this session is: it cannot start sub-agents outside the sandbox`);
  const chosen = chosenFor(config, agentId);
  const level = (request.thinking?.trim() || chosen.thinking?.trim())?.toLowerCase();
  const thinking = THINKING_LEVELS.find((one) => one === level);
  if (level !== undefined && thinking === undefined)
    return { status: "error", error: `Invalid thinking level ${JSON.stringify(level)}: use one of ${THINKING_LEVELS.join(", ")}` };
  const ref = request.model?.trim() || chosen.model;
  let model: Prepared["model"];
  try {
    if (ref !== undefined) model = await deps.model(agentId, ref);
  } catch (error) {
    return { status: "error", error: messageOf(error) };
  }
  const budgets = await deps.budgets({ agentId, senderId: origin.senderId, provider: model?.provider, requesterSessionKey: requester.sessionKey });
  if (typeof budgets === "string") return forbidden(budgets);
  const data: ChildData = {
    task,
    ...(label === undefined ? {} : { label }),
    agentId,
    depth: depth + 1,
    maxDepth,
    ...(model ? { model: `${model.provider}/${model.id}` } : {}),
    cleanup,
    runTimeoutSeconds: Math.min(MAX_SECONDS, Math.max(0, Math.floor(timeoutSeconds))),
    parentRunId: requester.runId,
    requesterOrigin: origin,
    chain: await chainOf(deps, requester),
  };
  const now = deps.clock.now();
  const times = { createdAt: now, startedAt: null, endedAt: null, archiveAt: null };
  const child: Child = { ...keys, ...times, requesterSessionKey: requester.sessionKey, state: "queued", outcome: null, announced: false, data };
  const entry = {
    spawnedBy: requester.sessionKey,
    spawnDepth: depth + 1,
    ...(label === undefined ? {} : { label }),
    ...(model ? { providerOverride: model.provider, modelOverride: model.id } : {}),
    ...(thinking === undefined ? {} : { thinkingLevel: thinking }),
  };
  return { child, entry, budgets, ...(model ? { model } : {}) };
}

function hookEvent({ childSessionKey, data: { agentId, label, requesterOrigin } }: Child): SubagentSpawningEvent {
  const { channel, accountId, reply } = requesterOrigin;
  const to = reply === undefined ? {} : { to: reply.to, ...(reply.threadId === undefined ? {} : { threadId: reply.threadId }) };
  const requester = { ...(channel === undefined ? {} : { channel }), ...(accountId === undefined ? {} : { accountId }), ...to };
  return { childSessionKey, agentId, ...(label === undefined ? {} : { label }), mode: "run", requester, threadRequested: false };
}

/** The input as it may be used; a text when it cannot be. */
function checked(request: SpawnRequest): SpawnRequest | string {
  const task = request.task.trim();
  if (task === "") return "task required";
  if (task.length > MAX_TASK) return `the task has ${task.length} characters; at most ${MAX_TASK} are allowed: put the material in a file and refer to it`;
  const label = request.label?.trim() || undefined;
  if (label !== undefined && label.length > MAX_LABEL) return `the label has ${label.length} characters; the limit is ${MAX_LABEL}`;
  if (label !== undefined && !isPrintable(label))
    return `the label ${JSON.stringify(escapeLine(label))} has control or invisible characters; use one line of visible characters`;
  return { ...request, task, label };
}

interface Spawning {
  /** Whether the run that starts the child was stopped in between. */
  isStopped(): boolean;
  /** Called with a new child when it is on disk. */
  started(child: Child): void;
}

/** Starts a child, once for each cause. */
export async function spawnChild(deps: SubagentsDeps, asked: SpawnRequest, { isStopped, started }: Spawning): Promise<SpawnResult> {
  const { store, ids, clock } = deps;
  const request = checked(asked);
  if (typeof request === "string") return { status: "error", error: request };
  const { requester } = request;
  const agentId = (request.agentId?.trim() || requester.agentId).toLowerCase();
  const cause = `spawn:${requester.sessionKey}:${requester.runId}:${request.cause}`;
  const keys = { runId: idOf(cause), childSessionKey: `agent:${agentId}:subagent:${idOf(`session:${cause}`)}` };
  const known = await store.read("subagents.get", { runId: keys.runId });
  if (known) return { status: "accepted", childSessionKey: known.childSessionKey, runId: known.runId, note: NOTE };
  const prepared = await prepare(deps, request, keys, agentId);
  if ("status" in prepared) return prepared;
  const { child, entry, budgets, model } = prepared;
  const hooks = deps.hooks();
  const context = { runId: child.runId, childSessionKey: child.childSessionKey, requesterSessionKey: requester.sessionKey };
  if (hooks?.has("subagent_spawning")) {
    const decided = await hooks.run("subagent_spawning", hookEvent(child), context);
    if (decided?.status === "error") return { status: "error", error: decided.error, childSessionKey: child.childSessionKey };
  }
  const { maxChildren, maxConcurrent } = limitsOf(deps.config.current);
  const { runId, childSessionKey, requesterSessionKey, data } = child;
  const chain = { ...data.chain, maxGenerations: MAX_GENERATIONS, maxChildren: MAX_CHAINED };
  const limits = { children: maxChildren, total: maxConcurrent * WAITING_FACTOR, failures: FAILURES, pauseMs: PAUSE_MS, chain };
  if (isStopped()) return { status: "error", error: "the run that started it was stopped" };
  try {
    await deps.conversation().accept(requestFor(child, runId, taskMessage(child), "subagent"), [
      ["subagents.spawn", { runId, childSessionKey, requesterSessionKey, data, limits, budgets }],
      ["sessions.put", { key: childSessionKey, agentId, version: 0, entry: { sessionId: ids.uuid(), updatedAt: clock.now(), ...entry } }],
    ]);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const limit = error.code === "OVERLOADED" ? (limitText(error) ?? error.message) : undefined;
    if (limit !== undefined) return forbidden(limit);
    return { status: "error", error: error.message, childSessionKey };
  }
  failpoint("subagent.spawned");
  started(child);
  if (hooks?.has("subagent_spawned")) {
    const resolved = model ? { resolvedModel: model.id, resolvedProvider: model.provider } : {};
    void hooks.run("subagent_spawned", { ...hookEvent(child), runId, ...resolved }, context);
  }
  return { status: "accepted", childSessionKey, runId, note: NOTE, ...(model ? { modelApplied: true } : {}) };
}

/** A child as it is in the store. */
export async function readChild({ store }: Pick<SubagentsDeps, "store">, runId: string): Promise<Child | undefined> {
  const row = await store.read("subagents.get", { runId });
  return row && childOf(row);
}
