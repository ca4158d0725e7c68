import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { hookLogEntries, hookTrace, type HookOutcome, type Hooks, type HookTraceRecord, type ToolPolicies } from "../../hooks/index.ts";
import type { ImageFitter } from "../../media/index.ts";
import type { ImageContent, ToolSchema } from "../../protocol/index.ts";
import { toolName } from "../catalog.ts";
import { decidePolicy, type PolicyVerdict } from "../policy/decide.ts";
import { policyLayers, type LayerFacts } from "../policy/layers.ts";
import { isOwnerOnly, distinctTools } from "../policy/names.ts";
import { failedOutcome, type Tool, type ToolContext, type ToolOutcome } from "../tool.ts";
import type { Taint } from "../untrusted/taint.ts";
import type { AskApproval } from "./approval.ts";
import { checkArguments } from "./arguments.ts";
import { boundedOutcome } from "./bounds.ts";

/** Facts about a session that policy needs and the caller does not know. */
export type PolicyFacts = Pick<LayerFacts, "group" | "sandboxed" | "subagent">;

export interface BrokerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: () => OpenClawConfig;
  /** Every tool there is for this caller, before policy. Factories of plugins run here. */
  readonly tools: (context: ToolContext) => readonly Tool[] | Promise<readonly Tool[]>;
  readonly facts: (context: ToolContext) => PolicyFacts | Promise<PolicyFacts>;
  readonly hooks: Pick<Hooks, "has" | "run">;
  readonly policies?: Pick<ToolPolicies, "evaluate">;
  readonly askApproval: AskApproval;
  /** Why nobody can be asked about a call; what a tool or the gateway itself asks about is then refused at once. */
  readonly unasked?: ((context: ToolContext) => string | undefined) | undefined;
  /** No toolbox is given out before this resolves; undefined when it has. */
  readonly ready?: (() => Promise<void> | undefined) | undefined;
  /** Why no tool may run at all, if so: what guards tool calls is not there. Asked at every call. */
  readonly refusal?: (() => string | undefined) | undefined;
  /** Has the operator asked before data leaves a session that has seen both private data and text of strangers. */
  readonly taint?: Pick<Taint, "evaluate" | "observe">;
  /** Masks registered secrets in what tools give. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Makes the images of results small enough for models. */
  readonly fitImages?: ImageFitter | undefined;
  /** Looks for calls that repeat without getting anywhere; a text blocks the call. */
  readonly loopGuard?: (call: { readonly name: string; readonly params: unknown; readonly context: ToolContext }) => string | undefined;
  /** Receives how each call ended that the loop guard let pass, with the arguments that the guard saw. Must not throw. */
  readonly onOutcome?: (call: { readonly name: string; readonly params: unknown; readonly context: ToolContext; readonly outcome: ToolOutcome }) => void;
}

/** The tools of one run: chosen once, used in all its calls. */
export interface Toolbox {
  readonly schemas: readonly ToolSchema[];
  /** Why each tool is there or not. */
  readonly verdicts: readonly PolicyVerdict[];
  isIdempotent(name: string): boolean;
  /** Whether calls of this tool may run beside others. */
  isParallel(name: string): boolean;
  /** Carries out a call. Never rejects; the result is bounded. Calls that are made at the same time are decided about one after the other, in their order. */
  run(call: BrokerCall): Promise<ToolOutcome>;
}

export interface BrokerCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly update?: (partial: ToolOutcome) => void;
}

/** The only place where a tool runs. */
export interface Broker {
  open(context: ToolContext): Promise<Toolbox>;
}

/** Different warnings that are held, so that a mistake in a list is reported once and not with every turn. */
const MAX_WARNED = 500;
/** Different choices of tools that are held. */
const MAX_CHOICES = 64;

export function createBroker(deps: BrokerDeps): Broker {
  const warned = new Set<string>();
  const warn = (text: string): void => {
    if (warned.has(text)) return;
    if (warned.size >= MAX_WARNED) warned.clear();
    warned.add(text);
    deps.log.warn(text);
  };
  const choices = new Map<string, Choice>();

  /** Chosen once for the same tools, configuration and facts: callers may go by the identity of what they get. */
  async function choose(context: ToolContext): Promise<Choice> {
    const all = await deps.tools(context);
    const config = deps.config();
    const { agentId, provider, modelId, owner } = context;
    const facts = await deps.facts(context);
    const name = JSON.stringify([agentId, provider, modelId, owner, facts]);
    const known = choices.get(name);
    if (known?.config === config && sameTools(known, all)) return known;
    const layers = policyLayers({ config, agentId, provider, modelId, ...facts });
    const choice = { ...decide(distinctTools(all, warn), { layers, owner, warn }), config, all: [...all], parameters: all.map((tool) => tool.parameters) };
    if (choices.size >= MAX_CHOICES) choices.clear();
    choices.set(name, choice);
    return choice;
  }

  return {
    async open(context) {
      const waiting = deps.ready?.();
      if (waiting) await waiting;
      const { schemas, verdicts, offered } = await choose(context);
      const refused = deps.refusal?.();
      const queue: GateQueue = { last: Promise.resolve() };
      const own: ToolContext = { ...context, offered: new Set(offered.keys()) };
      return {
        schemas,
        verdicts: refused === undefined ? verdicts : verdicts.map((verdict) => refusedBy(verdict, refused)),
        isIdempotent: (name) => offered.get(toolName(name))?.idempotent ?? false,
        isParallel: (name) => offered.get(toolName(name))?.executionMode === "parallel",
        run: (call) => safely(deps, own, offered.get(toolName(call.name)), { ...call, queue }),
      };
    },
  };
}

/** What a policy allows is refused all the same while a guard is missing. */
function refusedBy(verdict: PolicyVerdict, why: string): PolicyVerdict {
  return verdict.allowed ? { tool: verdict.tool, allowed: false, layer: "plugins", why } : verdict;
}

interface Offer {
  readonly verdicts: readonly PolicyVerdict[];
  readonly offered: ReadonlyMap<string, Tool>;
  readonly schemas: readonly ToolSchema[];
}

interface Choice extends Offer {
  readonly config: OpenClawConfig;
  readonly all: readonly Tool[];
  /** Of each tool as it was then. */
  readonly parameters: readonly Tool["parameters"][];
}

/** The same tools with the same schemas: a plugin's tool may change its own. */
function sameTools({ all, parameters }: Choice, tools: readonly Tool[]): boolean {
  if (all.length !== tools.length) return false;
  for (const [index, tool] of tools.entries()) if (tool !== all[index] || tool.parameters !== parameters[index]) return false;
  return true;
}

function decide(all: readonly Tool[], rules: Parameters<typeof decidePolicy>[1]): Offer {
  const verdicts = decidePolicy(all, rules);
  const allowed = new Set(verdicts.filter((verdict) => verdict.allowed).map((verdict) => verdict.tool));
  const offered = new Map(all.filter((tool) => allowed.has(tool.name)).map((tool) => [toolName(tool.name), tool]));
  return { verdicts, offered, schemas: [...offered.values()].map(({ name, description, parameters }) => ({ name, description, parameters })) };
}

const GONE = "the run was stopped";

/** Longest part of a name that no tool has, as it is shown to the model. */
const UNKNOWN_NAME_CHARS = 200;

/** What goes wrong around a tool is the result of its call, and no other's: a schema nobody can read, a plugin that throws when it is asked. */
async function safely(deps: BrokerDeps, context: ToolContext, tool: Tool | undefined, call: QueuedCall): Promise<ToolOutcome> {
  if (!tool) return failedOutcome(`Tool ${clip(call.name, UNKNOWN_NAME_CHARS)} not found`);
  const { promise: settled, resolve: decided } = Promise.withResolvers<void>();
  const before = call.queue.last;
  call.queue.last = settled;
  try {
    await before;
    return await carryOut(deps, context, tool, { ...call, decided });
  } catch (error) {
    deps.log.warn(`a call of ${tool.name} failed in the broker: ${messageOf(error)}`, { sessionKey: context.sessionKey, error });
    return failedOutcome(`The call to ${tool.name} failed: ${messageOf(error)}`);
  } finally {
    decided();
  }
}

/**
 * Guards, hooks and questions see the calls of a run in the model's order, also when they run side by side: what one decides may depend on the last.
 * `last` resolves when the latest call is decided about.
 */
interface GateQueue {
  last: Promise<void>;
}

interface QueuedCall extends BrokerCall {
  readonly queue: GateQueue;
}

interface GatedCall extends BrokerCall {
  /** To be called when it is certain whether the call is made. */
  readonly decided: () => void;
}

/** Arguments → guard → trusted policies → hooks → approval → the tool itself → hooks. */
async function carryOut(deps: BrokerDeps, context: ToolContext, tool: Tool, call: GatedCall): Promise<ToolOutcome> {
  if (call.signal.aborted) return failedOutcome(GONE);
  if (isOwnerOnly(tool) && !context.owner) return failedOutcome("Tool restricted to owner senders.");
  const refused = deps.refusal?.();
  if (refused !== undefined) return failedOutcome(refused, { status: "refused", code: "UNAVAILABLE", tool: tool.name, error: refused });
  const checked = checkArguments(tool.name, tool.parameters, prepared(tool, call.arguments));
  if (!checked.ok) return failedOutcome(checked.text);
  const stuck = deps.loopGuard?.({ name: tool.name, params: checked.params, context });
  if (stuck !== undefined) return failedOutcome(stuck);
  const outcome = await gatedRun(deps, context, tool, { ...call, arguments: checked.params });
  deps.onOutcome?.({ name: tool.name, params: checked.params, context, outcome });
  return outcome;
}

/** What the tool itself makes of arguments; as they came when that is no object. */
function prepared({ prepareArguments }: Tool, raw: BrokerCall["arguments"]): BrokerCall["arguments"] {
  const made = prepareArguments?.(raw);
  return isRecord(made) ? made : raw;
}

async function gatedRun(deps: BrokerDeps, context: ToolContext, tool: Tool, call: GatedCall): Promise<ToolOutcome> {
  const gated = await gate(deps, context, tool, call);
  if (!gated.ok) return failedOutcome(gated.text);
  // Before it runs, so that the next call is judged by it even when both run at the same time.
  deps.taint?.observe(context.sessionKey, tool.name);
  call.decided();
  const started = deps.clock.monotonic();
  const outcome = await runTool(deps, tool, context, { ...call, arguments: gated.params });
  reportCall(deps, context, tool, { id: call.id, params: gated.params, outcome, durationMs: deps.clock.monotonic() - started });
  return outcome;
}

type Gated = { readonly ok: true; readonly params: Readonly<Record<string, unknown>> } | { readonly ok: false; readonly text: string };

/** What plugins and the operator say about a call. What they change is checked again. */
async function gate(deps: BrokerDeps, context: ToolContext, tool: Tool, call: BrokerCall): Promise<Gated> {
  let params = call.arguments;
  const ctx = hookContext(context, tool, call.id);
  const trace: HookTraceRecord[] = [];
  const options = context.hookLog ? { signal: call.signal, trace } : { signal: call.signal };
  const asks: ((event: ReturnType<typeof hookEvent>) => HookOutcome<"before_tool_call"> | undefined | Promise<HookOutcome<"before_tool_call"> | undefined>)[] =
    [];
  const { policies, hooks, taint } = deps;
  if (policies) asks.push((event) => policies.evaluate(event, ctx, options));
  if (hooks.has("before_tool_call")) asks.push((event) => hooks.run("before_tool_call", event, ctx, options));
  if (taint) asks.push((event) => taint.evaluate(event, ctx));
  for (const ask of asks) {
    const derivedPaths = await tool.paths?.(params, context);
    const answer = await ask({ ...hookEvent(context, tool, call.id, params), ...(derivedPaths ? { derivedPaths: [...derivedPaths] } : {}) });
    context.hookLog?.add(hookLogEntries(trace.splice(0), answer, deps.clock.now()));
    if (!answer) continue;
    if (answer.block) return { ok: false, text: answer.blockReason ?? "Tool call blocked by plugin hook" };
    if (answer.params) {
      const checked = checkArguments(tool.name, tool.parameters, { ...params, ...answer.params });
      if (!checked.ok)
        return {
          ok: false,
          text: `A plugin${answer.decidedBy === undefined ? "" : ` (${answer.decidedBy})`} changed the arguments so that they are no longer valid. ${checked.text}`,
        };
      ({ params } = checked);
    }
    const refusal = answer.requireApproval && (await approve(deps, context, tool, call, answer.requireApproval));
    if (refusal !== undefined) return { ok: false, text: refusal };
  }
  // Last: what is asked is what will run.
  const question = await tool.asks?.(params, context);
  const refusal = question && (await approve(deps, context, tool, call, { ...question, allowedDecisions: ["allow-once", "deny"] }));
  if (refusal !== undefined) return { ok: false, text: refusal };
  return { ok: true, params };
}

type ApprovalWish = NonNullable<HookOutcome<"before_tool_call">["requireApproval"]>;

/** Undefined when the call may go on. */
async function approve(deps: BrokerDeps, context: ToolContext, tool: Tool, call: BrokerCall, wish: ApprovalWish): Promise<string | undefined> {
  const { onResolution, timeoutBehavior = "deny", ...question } = wish;
  // A plugin says itself what holds when nobody answers.
  const nobody = question.pluginId === undefined ? deps.unasked?.(context) : undefined;
  if (nobody !== undefined) return `${wish.title.replace(/[^.?!]$/, "$&.")} Not done: ${nobody}`;
  const decision = await deps.askApproval({ ...question, toolName: tool.name, toolCallId: call.id, context }, call.signal);
  try {
    await onResolution?.(decision);
  } catch (error) {
    deps.log.warn(`the plugin ${wish.pluginId ?? "?"} failed to handle an approval decision: ${messageOf(error)}`, { tool: tool.name });
  }
  if (decision === "allow-once" || decision === "allow-always" || (decision === "timeout" && timeoutBehavior === "allow")) return undefined;
  if (decision === "timeout") return `Not approved in time: ${wish.title}`;
  return decision === "cancelled" ? `The approval request was withdrawn: ${wish.title}` : `Denied by the operator: ${wish.title}`;
}

/** A tool may throw, hang, or go on after it was stopped: the call ends in any case. */
async function runTool(
  { clock, log, fitImages, redact = (text) => text }: BrokerDeps,
  tool: Tool,
  context: ToolContext,
  call: BrokerCall,
): Promise<ToolOutcome> {
  const late = new AbortController();
  const signal = AbortSignal.any([call.signal, late.signal]);
  const ended = Promise.withResolvers<ToolOutcome>();
  const onAbort = (): void => ended.resolve(failedOutcome(late.signal.aborted ? `${tool.name} took longer than ${tool.timeoutMs} ms and was stopped` : GONE));
  if (signal.aborted) return failedOutcome(GONE);
  signal.addEventListener("abort", onAbort, { once: true });
  using _timer = tool.timeoutMs === undefined ? undefined : clock.after(tool.timeoutMs, () => late.abort());
  let over = false;
  const update = (partial: ToolOutcome): void => {
    if (over || signal.aborted) return;
    try {
      call.update?.(boundedOutcome(tool.name, partial, redact));
    } catch (error) {
      // The watcher failed, not the tool.
      log.debug(`progress of ${tool.name} could not be delivered: ${messageOf(error)}`, { sessionKey: context.sessionKey });
    }
  };
  const run = async (): Promise<ToolOutcome> =>
    boundedOutcome(tool.name, await withFittingImages(await tool.run({ id: call.id, params: call.arguments, signal, update, context }), fitImages), redact);
  run().then(ended.resolve, (error: unknown) => {
    if (signal.aborted) return;
    log.debug(`${tool.name} failed: ${messageOf(error)}`, { sessionKey: context.sessionKey });
    const details = { status: "error", tool: tool.name, error: redact(messageOf(error)) };
    ended.resolve(failedOutcome(JSON.stringify(details, null, 2), details));
  });
  const outcome = await ended.promise;
  over = true;
  signal.removeEventListener("abort", onAbort);
  return outcome;
}

/** A tool of a plugin may return anything: only a list of parts is looked at. */
async function withFittingImages(outcome: ToolOutcome, fit: ImageFitter | undefined): Promise<ToolOutcome> {
  const made: unknown = outcome;
  const content = isRecord(made) ? made["content"] : undefined;
  if (!fit || !Array.isArray(content)) return outcome;
  const isImage = (part: unknown): part is ImageContent =>
    isRecord(part) && part["type"] === "image" && typeof part["data"] === "string" && typeof part["mimeType"] === "string";
  if (!content.some(isImage)) return outcome;
  const parts = await Promise.all(content.map(async (part: ToolOutcome["content"][number]) => (isImage(part) ? await fit([part]) : [part])));
  return { ...outcome, content: parts.flat() };
}

interface EndedCall {
  readonly id: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly outcome: ToolOutcome;
  readonly durationMs: number;
}

function reportCall({ hooks }: BrokerDeps, context: ToolContext, tool: Tool, { id, params, outcome, durationMs }: EndedCall): void {
  if (!hooks.has("after_tool_call")) return;
  const text = outcome.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const result = outcome.isError ? { error: text } : { result: outcome };
  void hooks.run("after_tool_call", { ...hookEvent(context, tool, id, params), ...result, durationMs: Math.round(durationMs) }, hookContext(context, tool, id));
}

function hookEvent({ runId }: ToolContext, tool: Tool, toolCallId: string, params: Readonly<Record<string, unknown>>) {
  return { toolName: tool.name, params: { ...params }, runId, toolCallId };
}

function hookContext(context: ToolContext, tool: Tool, toolCallId: string) {
  const { agentId, sessionKey, sessionId, runId, jobId, channel, accountId, senderId, owner, trace } = context;
  return {
    toolName: tool.name,
    agentId,
    sessionKey,
    sessionId,
    runId,
    toolCallId,
    ...(jobId === undefined ? {} : { jobId }),
    ...(channel === undefined ? {} : { messageProvider: channel, channelId: channel }),
    requester: {
      ...(channel === undefined ? {} : { channel }),
      ...(accountId === undefined ? {} : { accountId }),
      ...(senderId === undefined ? {} : { senderId }),
      senderIsOwner: owner,
    },
    ...(trace === undefined ? {} : { trace: hookTrace(trace.traceId, `tool ${toolCallId}`, trace.span) }),
  };
}
