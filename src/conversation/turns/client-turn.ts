import type { TurnEnd, TurnInput } from "../../agent/index.ts";
import { messageOf } from "../../base/errors.ts";
import type { Write } from "../../store/index.ts";
import type { ConversationDeps } from "../ports.ts";
import type { RunEvent, RunOutcome } from "./contract.ts";
import { mediaLine } from "./message-text.ts";
import { closeTurn, outcomeOf } from "./run-log.ts";
import { ORIGINS, type ClientRun } from "./run.ts";

export const STOPPING = "the gateway is stopping; the run goes on after the restart";

export interface ClientTurnContext {
  readonly deps: ConversationDeps;
  readonly emit: (run: { readonly runId: string; readonly sessionKey: string }, event: RunEvent) => void;
  /** Fires when the grace of a stop is over: turns are left for the next start. */
  readonly stopping: AbortSignal;
}

/** The message as the agent gets it. */
function inputOf({ row, resumed }: ClientRun): TurnInput {
  const { inboxId, timeoutMs: _timeout, scopes: _scopes, reply: _reply, kind: _kind, owner = false, files = [], ...request } = row;
  const message = [...(files.length > 0 && request.message === "" ? [] : [request.message]), ...files.map(mediaLine)].join("\n\n");
  return { ...request, message, owner, inboxIds: [inboxId], resumed };
}

async function runTurn(run: ClientRun, context: ClientTurnContext): Promise<RunOutcome> {
  const { deps, emit, stopping } = context;
  const { row } = run;
  const expire = (): void => {
    run.reason ??= "timeout";
    run.abort.abort();
  };
  using timer = row.timeoutMs ? deps.clock.after(row.timeoutMs, expire) : { [Symbol.dispose]: () => {} };
  const agents = await deps.agents();
  const end = await agents.turn(inputOf(run), {
    emit: (event) => emit(row, event),
    signal: run.abort.signal,
    origin: () => ORIGINS[run.reason ?? "rpc"],
    stopping,
    ...(row.reply ? { replies: (ended: TurnEnd) => repliesOf(run, ended, deps) } : {}),
  });
  timer[Symbol.dispose]();
  if (row.reply) deps.delivery.kick();
  if (!end) return { status: "error", error: STOPPING };
  if (end === "given-up")
    return closeWith(run, { status: "error", error: "the run was interrupted too often and was given up" }, "interrupted too often", context);
  run.turnEnd = end;
  const outcome = outcomeOf(end);
  const { startedAt, endedAt } = end;
  if (outcome.status === "error") emit(row, { stream: "lifecycle", data: { phase: "error", error: outcome.error, startedAt, endedAt } });
  else emit(row, { stream: "lifecycle", data: { phase: "end", startedAt, endedAt, ...(outcome.status === "aborted" ? { aborted: true } : {}) } });
  return outcome;
}

/** The answer as it is sent to a channel, when the client asked for that. */
async function repliesOf({ row }: ClientRun, end: TurnEnd, deps: ConversationDeps): Promise<readonly Write[]> {
  const { reply: address, sessionKey, agentId, runId } = row;
  if (!address) return [];
  const { openReplyStream } = await import("../reply/index.ts");
  const { clock, random, log, config } = deps;
  const stream = openReplyStream({
    plugin: undefined,
    address,
    cfg: config.current,
    agentId,
    sessionKey,
    levels: () => ({ verbose: "off", reasoning: "off", usage: "off" }),
    wasMentioned: true,
    isHeartbeat: false,
    clock,
    random,
    log,
    say: async () => {},
    spoken: [],
    prefixFacts: {},
    localRoots: deps.mediaRoots?.(agentId) ?? [],
  });
  const { payloads } = await stream.finish(end);
  return (await deps.delivery.prepare(address, payloads, { kind: "final", sessionKey, agentId, runId })).writes;
}

/** Ends a run without an answer, on disk first. */
async function closeWith({ row }: ClientRun, result: RunOutcome, why: string, { deps, emit }: ClientTurnContext): Promise<RunOutcome> {
  const endedAt = deps.clock.now();
  await closeTurn(deps, { ...row, inboxIds: [row.inboxId], outcome: result.status === "aborted" ? "cancelled" : "failed", why, result });
  if (result.status === "error") emit(row, { stream: "lifecycle", data: { phase: "error", error: result.error, endedAt } });
  else emit(row, { stream: "lifecycle", data: { phase: "end", endedAt, aborted: true } });
  return result;
}

/** Answers a client's message, and tells how that ended. Never rejects. */
export async function treatRun(run: ClientRun, context: ClientTurnContext): Promise<RunOutcome> {
  const { deps, stopping } = context;
  if (stopping.aborted) return { status: "error", error: STOPPING };
  try {
    if (run.abort.signal.aborted) {
      return await closeWith(run, { status: "aborted", text: "", sessionId: "", durationMs: 0 }, `aborted (${ORIGINS[run.reason ?? "rpc"]})`, context);
    }
    return await runTurn(run, context);
  } catch (error) {
    const why = messageOf(error);
    deps.log.error("a run failed", { runId: run.row.runId, error });
    return closeWith(run, { status: "error", error: why }, why, context).catch((): RunOutcome => ({ status: "error", error: why }));
  }
}

/** Notes are written and the like, before the session's next turn. */
export async function afterRun(run: ClientRun, { deps, stopping }: ClientTurnContext): Promise<void> {
  if (run.turnEnd?.status !== "ok" || stopping.aborted) return;
  try {
    await (await deps.agents()).after(inputOf(run), run.turnEnd, { signal: new AbortController().signal, stopping });
  } catch (error) {
    deps.log.warn(`the upkeep after a turn failed: ${messageOf(error)}`, { sessionKey: run.row.sessionKey });
  }
}
