import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { AcceptedRun, Responder, RunEvent, RunOutcome, RunRequest } from "../../gateway/index.ts";
import type { AnswerEnd, Answerer, Question } from "./answer.ts";
import type { FinishedTurn } from "./entries.ts";
import {
  acceptRun,
  beginTurn,
  closeRun,
  endedRun,
  finishTurn,
  otherPayload,
  unfinishedRuns,
  type AcceptedRow,
  type RunLogDeps,
  type TurnPlace,
} from "./run-log.ts";

export interface ResponderDeps extends RunLogDeps {
  readonly log: Logger;
  readonly answerer: Answerer;
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
}

type AbortReason = "rpc" | "stop" | "timeout";

interface Run {
  readonly row: AcceptedRow;
  readonly abort: AbortController;
  readonly ended: Promise<RunOutcome>;
  readonly end: (outcome: RunOutcome) => void;
  reason?: AbortReason;
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

function newRun(row: AcceptedRow): Run {
  const { promise, resolve } = Promise.withResolvers<RunOutcome>();
  return { row, abort: new AbortController(), ended: promise, end: resolve };
}

/** Has the answer said piece by piece. Undefined when the gateway stopped meanwhile: the turn is left for the next start. */
async function say(run: Run, place: TurnPlace, { deps, emit, stopping }: Context): Promise<{ readonly text: string; readonly end: AnswerEnd } | undefined> {
  const { row } = run;
  const interrupted = AbortSignal.any([run.abort.signal, stopping]);
  const question: Question = { ...row, ...place, signal: interrupted };
  let text = "";
  for await (const event of deps.answerer.answer(question)) {
    if (stopping.aborted) return undefined;
    if (event.type === "end") return { text, end: event.end };
    if (event.type === "discard") text = "";
    else {
      text += event.delta;
      emit(run, { stream: "assistant", data: { text, delta: event.delta } });
    }
  }
  if (stopping.aborted) return undefined;
  throw new AppError("INTERNAL", "an answer ended without saying how");
}

async function runTurn(run: Run, place: TurnPlace, context: Context): Promise<RunOutcome> {
  const { deps, emit } = context;
  const { row } = run;
  const startedAt = deps.clock.now();
  const expire = (): void => {
    run.reason ??= "timeout";
    run.abort.abort();
  };
  using timer = row.timeoutMs ? deps.clock.after(row.timeoutMs, expire) : { [Symbol.dispose]: () => {} };
  emit(run, { stream: "lifecycle", data: { phase: "start", startedAt } });
  const said = await say(run, place, context);
  timer[Symbol.dispose]();
  if (!said) return { status: "error", error: STOPPING };
  const { text, end } = said;
  const endedAt = deps.clock.now();
  const aborted = end.status === "aborted";
  const turn: FinishedTurn = { runId: row.runId, said: row.message, text, end, origin: ORIGINS[run.reason ?? "rpc"], startedAt, endedAt };
  const outcome = outcomeOf(end, text, place, endedAt - startedAt);
  await finishTurn(deps, row, place, turn, outcome);
  if (outcome.status === "error") emit(run, { stream: "lifecycle", data: { phase: "error", error: outcome.error, startedAt, endedAt } });
  else emit(run, { stream: "lifecycle", data: { phase: "end", startedAt, endedAt, ...(aborted ? { aborted } : {}) } });
  return outcome;
}

function outcomeOf({ status, error }: AnswerEnd, text: string, { sessionId }: TurnPlace, durationMs: number): RunOutcome {
  return status === "failed" ? { status: "error", error: error ?? "the model failed" } : { status, text, sessionId, durationMs };
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
    const place = await beginTurn(deps, run.row);
    if (!place) return await closeWith(run, { status: "error", error: "the run was interrupted too often and was given up" }, "interrupted too often", context);
    return await runTurn(run, place, context);
  } catch (error) {
    const why = messageOf(error);
    deps.log.error("a run failed", { runId: run.row.runId, error });
    return closeWith(run, { status: "error", error: why }, why, context).catch((): RunOutcome => ({ status: "error", error: why }));
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
  const lanes = new Map<string, Promise<void>>();
  const stop = new AbortController();
  let closed = false;
  const emit: Context["emit"] = ({ row }, event) => {
    for (const listener of listeners) listener({ runId: row.runId, sessionKey: row.sessionKey }, event);
  };
  const context: Context = { deps, emit, stopping: stop.signal };

  function enqueue(row: AcceptedRow): void {
    if (runs.has(row.runId)) return;
    const run = newRun(row);
    runs.set(row.runId, run);
    const before = lanes.get(row.sessionKey) ?? Promise.resolve();
    const lane = before.then(async () => {
      const outcome = await treat(run, context);
      runs.delete(row.runId);
      run.end(outcome);
      if (lanes.get(row.sessionKey) === lane) lanes.delete(row.sessionKey);
    });
    lanes.set(row.sessionKey, lane);
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
      for (const row of rows) enqueue(row);
      return rows.length;
    },
    running: () => runs.size + accepting.size,
    async [Symbol.asyncDispose]() {
      closed = true;
      await Promise.allSettled(accepting.values());
      const timer = deps.clock.after(deps.graceMs ?? 10_000, () => stop.abort());
      await Promise.all(lanes.values());
      timer[Symbol.dispose]();
      stop.abort();
    },
  };
}
