/** One turn: messages, from wherever they came, are answered by the agent. */
import type { Steered, TurnEnd } from "../../agent/index.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { createHookLog, messageTrace, type HookLog } from "../../hooks/index.ts";
import type { ReplyCounts, ReplyDispatcher, ReplyKind, ReplyPayload } from "../../protocol/index.ts";
import { sumUsage, turnLimitMs, type OpenSession } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import { aborted, closeUnanswered, failed, type Closing } from "../closing.ts";
import type { AbortReason, RunOutcome } from "../contract.ts";
import { messageContext } from "../intake/message-context.ts";
import { endingOf, hasRecording, mergeInto, ORIGINS, sameTurn, type DirectAnswer, type Item, type OpenItems, type Turn } from "../items.ts";
import type { ActiveTurn, Batch } from "../lanes.ts";
import type { ConversationContext } from "../ports.ts";
import { wasPrompted } from "./resume.ts";

/** How a run ends for its caller in a gateway that stops. */
export const STOPPING: RunOutcome = {
  status: "error",
  error: "the gateway is restarting; the run continues after the restart",
  failure: { kind: "restarting" },
};

const GAVE_UP: Closing = {
  why: "interrupted too often",
  result: { status: "error", error: "the run was interrupted too often and was abandoned", failure: { kind: "interrupted" } },
  notice: "This could not be finished after several attempts. Please send it again.",
};
const FAILED = "Something went wrong while answering. Please try again.";

interface LaneContext extends ConversationContext {
  /** The session, as its lane holds it. */
  readonly session: OpenSession;
}

function abort({ main }: Turn, reason: AbortReason): void {
  main.reason ??= reason;
  main.abort.abort();
}

/** Everyone who wrote these is an owner. */
const isOwners = (items: readonly Item[]): boolean => items.every(({ messages }) => messages.every(({ access }) => access.owner));

/** Whether files came with it whose content is read when a turn begins: the turn that runs cannot be shown them. */
const hasUnread = ({ messages, isSpoken }: Item): boolean =>
  !isSpoken && messages.some(({ request, event }) => ((request ? request.files : event.media)?.length ?? 0) > 0);

/** Items for the model, each ending with the commit that shows it. One that also waits for a turn of its own stays open. */
function steered(turn: Turn): Steered[] {
  return turn.steering.splice(0).flatMap((item): Steered[] => {
    const { text, hooks } = item;
    // One that was aborted while it waited is not shown: the lane ends it.
    if (item.abort.aborted) {
      turn.taken.add(item);
      return [];
    }
    const images = item.messages.flatMap(({ request }) => request?.images ?? []);
    if (item.queue.mode.value === "steer-backlog") return [{ text, images, writes: [] }];
    turn.taken.add(item);
    const settle: Write = ["inbox.settle", { ids: item.inboxIds, outcome: "merged", why: "shown to the turn that was running", turnId: turn.main.id, hooks }];
    const committed = (): void => {
      turn.taken.delete(item);
      mergeInto(turn.main, item);
    };
    return [{ text, images, writes: [settle], committed }];
  });
}

/** Items with those that were merged into them. One that was aborted while it waited goes to `stopped`. */
function takeAlive(items: readonly Item[], stopped: Item[]): readonly Item[] {
  const alive: Item[] = [];
  for (const item of items) {
    if (item.abort.aborted) stopped.push(item);
    else alive.push(...item.merged, item);
  }
  return alive;
}

/** Items of a batch as one turn. Those that were aborted while they waited are not in it, nor is what has only a line left when nothing else is. */
function turnOf({ items, summarised }: Batch): { readonly turn: (Turn & ActiveTurn) | undefined; readonly unanswered: readonly Item[] } {
  const stopped: Item[] = [];
  const [own, cut] = [takeAlive(items, stopped), takeAlive(summarised, stopped)];
  const [first, ...others] = own;
  if (!first) return { turn: undefined, unanswered: [...stopped, ...cut] };
  const main = own.at(-1) ?? first;
  for (const item of [...cut, ...own]) if (item !== main) mergeInto(main, item);
  main.phase = "running";
  const inputs = [...cut, ...own].flatMap(({ inboxIds }) => inboxIds);
  const turn: Turn & ActiveTurn = {
    main,
    items: [first, ...others],
    summarised: cut,
    inputs,
    isBegun: true,
    steering: [],
    taken: new Set(),
    isOver: false,
    steer(item) {
      if (turn.isOver || main.abort.aborted || !sameTurn(item, main) || hasUnread(item)) return false;
      // A turn of the owner has the owner's tools: what others write while it runs gets a turn of its own.
      if (isOwners(turn.items) && !isOwners([item])) return false;
      turn.steering.push(item);
      return true;
    },
    interrupt: () => abort(turn, "interrupt"),
    unshown() {
      const unshown = [...turn.taken, ...turn.steering.splice(0)];
      turn.taken.clear();
      return unshown;
    },
  };
  return { turn, unanswered: stopped };
}

/** Collects what a plugin says in the agent's place; it is sent once the plugin is done. */
function replyCollector(): { readonly dispatcher: ReplyDispatcher; readonly payloads: readonly ReplyPayload[] } {
  const payloads: ReplyPayload[] = [];
  const counts: ReplyCounts = { tool: 0, block: 0, final: 0 };
  const add =
    (kind: ReplyKind) =>
    (payload: ReplyPayload): boolean => {
      payloads.push(payload);
      counts[kind] += 1;
      return true;
    };
  return {
    payloads,
    dispatcher: {
      sendToolResult: add("tool"),
      sendBlockReply: add("block"),
      sendFinalReply: add("final"),
      waitForIdle: async () => {},
      getQueuedCounts: () => ({ ...counts }),
      markComplete: () => {},
    },
  };
}

/** `reply_dispatch`: a plugin may answer in the agent's place. Undefined: the agent answers. */
async function takenOver({ main }: Turn, { deps, loadReply }: ConversationContext, hookLog: HookLog): Promise<DirectAnswer | undefined> {
  const { dispatcher, payloads } = replyCollector();
  const { last } = main;
  const event = {
    ctx: { ...messageContext(main.request ? { ...last, text: main.text } : last) },
    runId: main.id,
    sessionKey: main.sessionKey,
    sendPolicy: "allow" as const,
    dispatchKind: "agent",
    isHeartbeat: main.request?.kind === "heartbeat",
    inboundAudio: hasRecording(main),
    originatingChannel: last.address.channel,
    originatingTo: last.address.to,
  };
  const report =
    (name: string) =>
    (...facts: unknown[]): void =>
      deps.log.debug(`a plugin called ${name} in reply_dispatch`, { runId: main.id, sessionKey: main.sessionKey, facts });
  const hookContext = {
    cfg: structuredClone(deps.config.current),
    dispatcher,
    abortSignal: main.abort.signal,
    recordProcessed: report("recordProcessed"),
    markIdle: report("markIdle"),
    trace: messageTrace(last.traceId).trace,
  };
  const taken = await hookLog.hooks.run("reply_dispatch", event, hookContext);
  if (!taken?.handled) return undefined;
  const { shapePayload } = await loadReply();
  const shape = { localRoots: deps.mediaRoots?.(main.agentId) ?? [], currentId: last.event.id };
  const reply = payloads.flatMap((payload) => shapePayload(payload, shape) ?? []);
  const why = `handled by ${taken.decidedBy ?? "a plugin"}`;
  return { reply, outcome: reply.length === 0 ? "silent" : "answered", why, hooks: hookLog.entries };
}

/** The end of a turn as the gateway reports it. */
export function outcomeOf(end: TurnEnd): RunOutcome {
  if (end.status === "failed") return { status: "error", error: end.error ?? "the model failed", ...(end.failure ? { failure: end.failure } : {}) };
  const { sessionId, startedAt, endedAt, provider, model, stopReason, calls, usage, shown } = end;
  // Of an answer that plugins withheld nothing is shown, as of one that is silent by itself.
  const silent = end.silent === true || shown === "";
  const last = usage.at(-1);
  const status =
    end.status === "aborted" ? { status: "aborted" as const, ...(end.abortedBy === undefined ? {} : { abortedBy: end.abortedBy }) } : { status: "ok" as const };
  return {
    ...status,
    text: end.silent ? "NO_REPLY" : (shown ?? end.text),
    sessionId,
    durationMs: endedAt - startedAt,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(last ? { usage: sumUsage(usage), lastCallUsage: sumUsage([last]) } : {}),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(calls === undefined ? {} : { calls }),
    ...(silent ? { silent } : {}),
  };
}

/** A turn that failed or ran out of time gets a log line. */
function logUnanswered(log: Logger, { id: runId, sessionKey }: Item, outcome: RunOutcome): void {
  if (outcome.status === "error") {
    const { error, failure } = outcome;
    log.warn(`a turn failed: ${error}`, { runId, sessionKey, ...(failure ? { failure: failure.kind } : {}) });
  } else if (outcome.status === "aborted" && outcome.abortedBy === "timeout") log.warn("a turn hit the time limit and was stopped", { runId, sessionKey });
}

/** Aborts the turn when its time is over, or when its listener does not want the answer any more. */
function abortFromOutside(turn: Turn, { deps }: ConversationContext): Disposable {
  const { main } = turn;
  const limitMs = turnLimitMs(deps.config.current, main.request?.timeoutMs);
  const timer = limitMs > 0 ? deps.clock.after(limitMs, () => abort(turn, "timeout")) : undefined;
  const signal = main.last.live?.reply.signal;
  const stop = (): void => abort(turn, "stop");
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  return {
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
      signal?.removeEventListener("abort", stop);
    },
  };
}

interface Answered {
  readonly outcome: RunOutcome;
  /** Upkeep before the session's next turn; undefined when the agent did not answer. */
  readonly upkeep?: () => Promise<void>;
}

async function answer(turn: Turn, context: LaneContext): Promise<Answered> {
  const { deps, stopping, session } = context;
  const { main } = turn;
  const { listener, abort, sessionKey } = main;
  using outside = abortFromOutside(turn, context);
  const entry = (await deps.store.read("sessions.get", { key: sessionKey }))?.entry;
  const input = await listener.input(turn, entry, context);
  const hookLog = createHookLog(deps.hooks, deps.clock.now);
  hookLog.add([...turn.summarised, ...turn.items].flatMap(({ hooks }) => hooks));
  // What no one wrote is not offered to plugins, nor is a turn that goes on.
  if (deps.hooks.has("reply_dispatch") && !main.hasBegun && main.request?.kind === undefined) {
    const direct = await takenOver(turn, context, hookLog);
    if (direct) return { outcome: await listener.answer(turn, { ...direct, unsaid: input }, context) };
  }
  let stream = await listener.open(turn, entry, context);
  const agents = await deps.agents();
  const end = await agents.turn(hookLog.entries.length === 0 ? input : { ...input, hookLog: hookLog.entries }, {
    emit: (event) => stream.event(event),
    session,
    signal: abort.signal,
    origin: () => ORIGINS[main.reason ?? "rpc"],
    stopping,
    steered: () => (turn.steering.length === 0 ? [] : steered(turn)),
    replies(ended) {
      turn.isOver = true;
      return stream.finish(ended);
    },
    spoken: async (text) => stream.spoken?.(text),
    async again() {
      await stream.abandon();
      turn.isOver = false;
      main.hasBegun = true;
      stream = await listener.open(turn, entry, context);
    },
  });
  outside[Symbol.dispose]();
  if (!end || end === "given-up") await stream.abandon();
  if (!end) return { outcome: STOPPING };
  if (end === "given-up") {
    const isPrompted = await wasPrompted(deps, main.id).catch(() => true);
    return { outcome: await closeUnanswered(turn, { ...GAVE_UP, unsaid: isPrompted ? undefined : input }, context) };
  }
  const outcome = outcomeOf(end);
  if (outcome.status !== "ok") logUnanswered(deps.log, main, outcome);
  const settled = stream.settled(end, outcome);
  if (end.status !== "ok") return { outcome: settled };
  return { outcome: settled, upkeep: () => agents.after(input, end, { session, signal: new AbortController().signal, stopping }) };
}

/** Something went wrong on the way: the sender is notified. */
async function fail(turn: Turn, error: unknown, context: ConversationContext): Promise<RunOutcome> {
  const { deps } = context;
  const why = messageOf(error);
  deps.log.error(`a turn failed: ${why}`, { runId: turn.main.id, error });
  const notice = await context.loadReply().then(
    ({ brokenText }) => brokenText(error, deps.redact) ?? FAILED,
    () => FAILED,
  );
  const result: Closing["result"] = { status: "error", error: why, ...(error instanceof AppError ? { failure: { kind: "error", code: error.code } } : {}) };
  try {
    return await closeUnanswered(turn, { why, result, notice }, context);
  } catch (second) {
    deps.log.error(`the outcome of a turn could not be saved: ${messageOf(second)}`, { runId: turn.main.id, error: second });
    return result;
  }
}

/** Ends an item that will not be answered. `why` is for messages of channels. Never rejects. */
export async function cancelItem(item: Item, why: string, context: ConversationContext, open: OpenItems): Promise<void> {
  if (!item.abort.aborted) item.reason = "interrupt";
  item.abort.abort();
  try {
    open.end(item, await closeUnanswered(endingOf(item), aborted(item, why), context));
  } catch (error) {
    context.deps.log.error(`the outcome of a message could not be saved: ${messageOf(error)}`, { error });
    open.end(item, failed(messageOf(error)).result);
  }
}

/** Answers a batch of items in one turn; all of them end with it. Never rejects. `began` gives the lane a hold of the turn. */
export async function runTurn(batch: Batch, began: (turn: ActiveTurn) => void, context: LaneContext, open: OpenItems): Promise<void> {
  const { deps, stopping } = context;
  const { turn, unanswered } = turnOf(batch);
  for (const item of unanswered) await cancelItem(item, "stopped", context, open);
  if (!turn) return;
  const { main } = turn;
  // What the gateway itself reports is not interrupted.
  if (main.request?.kind === undefined || main.request.kind === "regenerate") began(turn);
  if (stopping.aborted) return open.end(main, STOPPING, true);
  const { outcome, upkeep } = await answer(turn, context).catch(async (error: unknown): Promise<Answered> => ({ outcome: await fail(turn, error, context) }));
  turn.isOver = true;
  open.end(main, outcome, true);
  if (!upkeep || stopping.aborted) return;
  await upkeep().catch((error: unknown) => deps.log.warn(`the upkeep after a turn failed: ${messageOf(error)}`, { sessionKey: main.sessionKey }));
}
