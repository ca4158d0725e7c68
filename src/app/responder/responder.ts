import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { AcceptedRun, Responder, RunEvent, RunOutcome, RunRequest } from "../../gateway/index.ts";
import type { Agents, TurnEnd, TurnInput } from "../../agent/index.ts";
import { createLanes } from "./lanes.ts";
import { acceptRun, closeOrphans, closeRun, endedRun, otherPayload, outcomeOf, unfinishedRuns, type AcceptedRow, type RunLogDeps } from "./run-log.ts";

export interface ResponderDeps extends RunLogDeps {
  readonly log: Logger;
  /** Opened when the first message is answered. */
  readonly agents: () => Promise<Pick<Agents, "turn" | "after">>;
  /** Answers for keys that name no agent. */
  readonly defaultAgentId: () => string;
  /** How long running turns may go on when the gateway stops. Default 10 s. */
  readonly graceMs?: number;
}

/** Takes messages, puts them on disk, has them answered one after the other in each session, and puts the answers on disk. */
export interface RunResponder extends Responder, AsyncDisposable {
  /** Takes up again what had no end when the process before this one ended. Call it when listeners are in place. */
  resume(): Promise<number>;
  /** Runs that are being accepted, wait or run. */
  running(): number;
  /** Does something in a session while no turn of it runs; turns that come wait for it. */
  exclusively<T>(sessionKey: string, work: () => Promise<T>): Promise<T>;
}

type AbortReason = "rpc" | "stop" | "timeout";

interface Run {
  readonly row: AcceptedRow;
  /** It was accepted by a process before this one. */
  readonly resumed: boolean;
  readonly abort: AbortController;
  readonly ended: Promise<RunOutcome>;
  readonly end: (outcome: RunOutcome) => void;
  reason?: AbortReason;
  /** Once the turn is over. */
  turnEnd?: TurnEnd;
}

interface Context {
  readonly deps: ResponderDeps;
  readonly emit: (run: Run, event: RunEvent) => void;
  /** Fires when the grace of a stop is over: turns are left for the next start. */
  readonly stopping: AbortSignal;
}

const ORIGINS = { rpc: "rpc", stop: "stop-command", timeout: "timeout" } as const;
/** Runs that may wait or run, in one session and in all. */
const MAX_PER_SESSION = 100;
const MAX_RUNS = 5000;
const STOPPING = "the gateway is stopping; the run goes on after the restart";

function newRun(row: AcceptedRow, resumed: boolean): Run {
  const { promise, resolve } = Promise.withResolvers<RunOutcome>();
  return { row, resumed, abort: new AbortController(), ended: promise, end: resolve };
}

/** The message as the agent gets it. */
function inputOf({ row, resumed }: Run): TurnInput {
  const { inboxId, timeoutMs: _timeout, owner = false, ...request } = row;
  return { ...request, owner, inboxIds: [inboxId], resumed };
}

async function runTurn(run: Run, context: Context): Promise<RunOutcome> {
  const { deps, emit, stopping } = context;
  const { row } = run;
  const expire = (): void => {
    run.reason ??= "timeout";
    run.abort.abort();
  };
  using timer = row.timeoutMs ? deps.clock.after(row.timeoutMs, expire) : { [Symbol.dispose]: () => {} };
  const agents = await deps.agents();
  const end = await agents.turn(inputOf(run), {
    emit: (event) => emit(run, event),
    signal: run.abort.signal,
    origin: () => ORIGINS[run.reason ?? "rpc"],
    stopping,
  });
  timer[Symbol.dispose]();
  if (!end) return { status: "error", error: STOPPING };
  if (end === "given-up")
    return closeWith(run, { status: "error", error: "the run was interrupted too often and was given up" }, "interrupted too often", context);
  run.turnEnd = end;
  const outcome = outcomeOf(end);
  const { startedAt, endedAt } = end;
  if (outcome.status === "error") emit(run, { stream: "lifecycle", data: { phase: "error", error: outcome.error, startedAt, endedAt } });
  else emit(run, { stream: "lifecycle", data: { phase: "end", startedAt, endedAt, ...(outcome.status === "aborted" ? { aborted: true } : {}) } });
  return outcome;
}

/** Ends a run without an answer, on disk first. */
async function closeWith(run: Run, outcome: RunOutcome, why: string, { deps, emit }: Context): Promise<RunOutcome> {
  const endedAt = deps.clock.now();
  await closeRun(deps, run.row, outcome.status === "aborted" ? "cancelled" : "failed", why, outcome);
  if (outcome.status === "error") emit(run, { stream: "lifecycle", data: { phase: "error", error: outcome.error, endedAt } });
  else emit(run, { stream: "lifecycle", data: { phase: "end", endedAt, aborted: true } });
  return outcome;
}

async function treat(run: Run, context: Context): Promise<RunOutcome> {
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
async function afterwards(run: Run, { deps, stopping }: Context): Promise<void> {
  if (run.turnEnd?.status !== "ok" || stopping.aborted) return;
  try {
    await (await deps.agents()).after(inputOf(run), run.turnEnd, { signal: new AbortController().signal, stopping });
  } catch (error) {
    deps.log.warn(`the upkeep after a turn failed: ${messageOf(error)}`, { sessionKey: run.row.sessionKey });
  }
}

/** Refuses before anything is accepted when too much waits. */
function checkRoom(runs: ReadonlyMap<string, Run>, sessionKey: string): void {
  const waiting = [...runs.values()].filter((run) => run.row.sessionKey === sessionKey).length;
  if (waiting < MAX_PER_SESSION && runs.size < MAX_RUNS) return;
  throw new AppError("OVERLOADED", `${waiting} messages wait in ${sessionKey}, ${runs.size} in all; send it again when one was answered`, {
    details: { retryAfterMs: 1000 },
  });
}

/** Waits for the end of a run, or until nobody waits for it any more. */
function untilAborted(run: Run, signal: AbortSignal): Promise<RunOutcome> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = (): void => reject(new AppError("CANCELLED", `nobody waits for run ${run.row.runId} any more`));
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return Promise.race([run.ended, promise]).finally(() => signal.removeEventListener("abort", cancel));
}

/** Fills the gateway's port: one turn per session at a time, sessions side by side. */
export function createResponder(deps: ResponderDeps): RunResponder {
  const listeners = new Set<Parameters<Responder["onEvent"]>[0]>();
  /** Runs that wait or run, by id. */
  const runs = new Map<string, Run>();
  const accepting = new Map<string, Promise<unknown>>();
  const lanes = createLanes();
  const stop = new AbortController();
  let closed = false;
  const emit: Context["emit"] = ({ row }, event) => {
    for (const listener of listeners) listener({ runId: row.runId, sessionKey: row.sessionKey }, event);
  };
  const context: Context = { deps, emit, stopping: stop.signal };

  function enqueue(row: AcceptedRow, resumed = false): void {
    if (runs.has(row.runId)) return;
    const run = newRun(row, resumed);
    runs.set(row.runId, run);
    lanes.queue(row.sessionKey, async () => {
      const outcome = await treat(run, context);
      runs.delete(row.runId);
      run.end(outcome);
      await afterwards(run, context);
    });
  }

  async function acceptNew(request: RunRequest): Promise<AcceptedRun> {
    const agentId = /^agent:([^:]+):/.exec(request.sessionKey)?.[1] ?? deps.defaultAgentId();
    const { row, duplicate, settled } = await acceptRun(deps, request, agentId);
    if (!duplicate) enqueue(row);
    const ended = settled ? await endedRun(deps, request.runId) : undefined;
    return { runId: request.runId, duplicate, ...(ended ? { ended } : {}) };
  }

  return {
    async accept(request) {
      if (closed) throw new AppError("UNAVAILABLE", "the gateway is stopping; send it again after the restart");
      // A twin that arrives while the first is being written waits for it: the store then knows which came first.
      await accepting.get(request.runId)?.catch(() => {});
      const running = runs.get(request.runId);
      if (running) {
        if (running.row.message !== request.message || running.row.sessionKey !== request.sessionKey) throw otherPayload(request.runId);
        return { runId: request.runId, duplicate: true };
      }
      checkRoom(runs, request.sessionKey);
      const accepted = acceptNew(request);
      accepting.set(request.runId, accepted);
      return accepted.finally(() => accepting.get(request.runId) === accepted && accepting.delete(request.runId));
    },
    async outcome(runId, signal) {
      await accepting.get(runId)?.catch(() => {});
      const run = runs.get(runId);
      if (!run) return endedRun(deps, runId);
      return signal ? untilAborted(run, signal) : run.ended;
    },
    abort({ sessionKey, runId }, reason) {
      const reached = [...runs.values()].filter((run) => run.row.sessionKey === sessionKey && (runId === undefined || run.row.runId === runId));
      const stopped = reached.filter((run) => !run.abort.signal.aborted);
      for (const run of stopped) {
        run.reason = reason;
        run.abort.abort();
      }
      return stopped.map((run) => run.row.runId);
    },
    onEvent(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async resume() {
      const rows = (await unfinishedRuns(deps)).filter((row) => !runs.has(row.runId));
      await closeOrphans(deps, new Set(rows.map(({ runId }) => runId)));
      for (const row of rows) enqueue(row, true);
      return rows.length;
    },
    running: () => runs.size + accepting.size,
    exclusively: lanes.exclusively,
    async [Symbol.asyncDispose]() {
      closed = true;
      await Promise.allSettled(accepting.values());
      const timer = deps.clock.after(deps.graceMs ?? 10_000, () => stop.abort());
      await lanes.idle();
      timer[Symbol.dispose]();
      stop.abort();
    },
  };
}
