import { AppError, messageOf } from "../../base/errors.ts";
import { agentOfKey } from "../../protocol/index.ts";
import type { ReplyAddress } from "../address.ts";
import { queueSettings } from "../../sessions/index.ts";
import type { ClientItem } from "../lanes/item.ts";
import type { ConversationDeps } from "../ports.ts";
import { answerCommand, clientVerdict } from "./client-commands.ts";
import { afterRun, STOPPING, treatRun, type ClientTurnContext } from "./client-turn.ts";
import type { AcceptedRun, Responder, RunOutcome, RunRequest } from "./contract.ts";
import { acceptRun, endedRun, otherPayload, type AcceptedRow } from "./run-log.ts";
import { newClientRun, type AbortReason, type ClientRun } from "./run.ts";

/** The runs that clients of the gateway ask for. */
export interface ClientDesk extends Pick<Responder, "accept" | "outcome"> {
  /** Takes up a run of the process before this one. */
  resume(row: AcceptedRow): void;
  /** Answers a run to its end. Never rejects. */
  run(run: ClientRun): Promise<void>;
  /** It will not run in this process: whoever waits is told. */
  leave(run: ClientRun): void;
  abort(meant: (row: AcceptedRow) => boolean, reason: AbortReason): readonly string[];
  has(runId: string): boolean;
  /** Where a run's answer is sent, too. */
  addressOf(runId: string): ReplyAddress | undefined;
  /** Nothing is taken any more; resolves when what was being taken is on disk. */
  close(): Promise<void>;
  /** Runs that are being accepted, wait or run. */
  readonly size: number;
}

/** Runs that may wait or run, in one session and in all. */
const MAX_PER_SESSION = 100;
const MAX_RUNS = 5000;

/** Refuses before anything is accepted when too much waits. */
function checkRoom(runs: ReadonlyMap<string, ClientRun>, sessionKey: string): void {
  let waiting = 0;
  for (const run of runs.values()) if (run.row.sessionKey === sessionKey) waiting += 1;
  if (waiting < MAX_PER_SESSION && runs.size < MAX_RUNS) return;
  throw new AppError("OVERLOADED", `${waiting} messages wait in ${sessionKey}, ${runs.size} in all; send it again when one was answered`, {
    details: { retryAfterMs: 1000 },
  });
}

/** Waits for the end of a run, or until nobody waits for it any more. */
function untilAborted(run: ClientRun, signal: AbortSignal): Promise<RunOutcome> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = (): void => reject(new AppError("CANCELLED", `nobody waits for run ${run.row.runId} any more`));
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return Promise.race([run.ended, promise]).finally(() => signal.removeEventListener("abort", cancel));
}

/** Waits for the plugins. False when the gateway ends first. */
async function arePluginsThere({ untilPlugins }: ConversationDeps): Promise<boolean> {
  try {
    await untilPlugins?.();
    return true;
  } catch {
    return false;
  }
}

export function createClientDesk(deps: ConversationDeps, context: ClientTurnContext, enqueue: (item: ClientItem) => void): ClientDesk {
  /** Runs that wait or run, by id. */
  const runs = new Map<string, ClientRun>();
  const accepting = new Map<string, Promise<unknown>>();
  let closed = false;

  function wait(run: ClientRun): void {
    const { sessionKey, agentId, channel } = run.row;
    runs.set(run.row.runId, run);
    enqueue({ kind: "client", sessionKey, agentId, queue: queueSettings(deps.config.current, undefined, channel), run });
  }

  function end(run: ClientRun, outcome: RunOutcome): void {
    runs.delete(run.row.runId);
    run.end(outcome);
  }

  const leave = (run: ClientRun): void => end(run, { status: "error", error: STOPPING });

  /** A command is answered at once; everything else waits for its turn. */
  async function begin(row: AcceptedRow): Promise<void> {
    const run = newClientRun(row, false);
    runs.set(row.runId, run);
    if (!(await arePluginsThere(deps))) return leave(run);
    try {
      const verdict = await clientVerdict(deps, row);
      if (verdict?.kind === "answered") return end(run, await answerCommand(deps, row, verdict, context));
      wait(verdict && verdict.text !== row.message ? Object.assign(run, { row: { ...row, message: verdict.text } }) : run);
    } catch (error) {
      deps.log.error(`a client's command could not be answered: ${messageOf(error)}`, { runId: row.runId, error });
      wait(run);
    }
  }

  async function acceptNew(request: RunRequest): Promise<AcceptedRun> {
    const agentId = agentOfKey(request.sessionKey, { defaultAgentId: deps.defaultAgentId() });
    const { row, duplicate, settled } = await acceptRun(deps, request, agentId);
    if (!duplicate) void begin(row);
    const ended = settled ? await endedRun(deps, request.runId) : undefined;
    return { runId: request.runId, duplicate, ...(ended ? { ended } : {}) };
  }

  return {
    async accept(request) {
      if (closed) throw new AppError("UNAVAILABLE", "the gateway is stopping; send it again after the restart");
      // A twin that arrives while the first is being written waits for it: the store then knows which came first.
      await accepting.get(request.runId)?.catch(() => {});
      const known = runs.get(request.runId);
      if (known) {
        if (known.said !== request.message || known.row.sessionKey !== request.sessionKey) throw otherPayload(request.runId);
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
    resume: (row) => wait(newClientRun(row, true)),
    async run(run) {
      end(run, await treatRun(run, context));
      await afterRun(run, context);
    },
    leave,
    abort(meant, reason) {
      const reached = [...runs.values()].filter((run) => meant(run.row) && !run.abort.signal.aborted);
      for (const run of reached) {
        run.reason = reason;
        run.abort.abort();
      }
      return reached.map(({ row }) => row.runId);
    },
    has: (runId) => runs.has(runId) || accepting.has(runId),
    addressOf: (runId) => runs.get(runId)?.row.reply,
    async close() {
      closed = true;
      await Promise.allSettled(accepting.values());
    },
    get size() {
      return runs.size + accepting.size;
    },
  };
}
