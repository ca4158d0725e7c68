import { AppError, messageOf } from "../../base/errors.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import { agentOfKey } from "../../protocol/index.ts";
import type { ReplyAddress } from "../address.ts";
import { queueSettings, sendPolicy } from "../../sessions/index.ts";
import { paceOf } from "../commands/parsing/pace.ts";
import { persistDecided, type Decided } from "../intake/decided.ts";
import type { ClientItem, LaneItem } from "../lanes/item.ts";
import { createOrder } from "../lanes/order.ts";
import type { ActiveTurn, Batch } from "../lanes/session-lane.ts";
import type { ConversationDeps } from "../ports.ts";
import { answerDirectly, clientVerdict, mayBeCommand, sendAsides } from "./client-commands.ts";
import { createClientHooks, tellReceived } from "./client-hooks.ts";
import { activeClientTurn, afterTurn, closeRun, STOPPING, treatTurn, type ClientTurn, type ClientTurnContext } from "./client-turn.ts";
import type { AcceptedRun, Responder, RunOutcome, RunRequest } from "./contract.ts";
import { LOOKED_AT_TOO_OFTEN, type SecondLooks } from "../intake/second-looks.ts";
import { acceptRun, endedRun, otherPayload, wasPrompted, type AcceptedRow } from "./run-log.ts";
import { mergeInto, newClientRun, type AbortReason, type ClientRun } from "./run.ts";

/** The runs that clients of the gateway ask for. */
export interface ClientDesk extends Pick<Responder, "accept" | "outcome"> {
  /** Resumes runs of the previous process that one turn answered: the one it is named after comes last. */
  resume(rows: readonly AcceptedRow[], turnId: string | null): void;
  /** Resolves when no message is being looked at or carried out as a command. */
  idle(): Promise<void>;
  /** Answers a batch of runs to its end. Never rejects. `began` gives the lane a hold of the turn. */
  run(batch: Batch, began: (turn: ActiveTurn) => void): Promise<void>;
  /** Ends a run that will not be answered. */
  cancel(run: ClientRun, reason: AbortReason): Promise<void>;
  /** It will not run in this process: whoever waits is told. */
  leave(run: ClientRun): void;
  /** With `named`, or as a stop, also runs whose message waits to be looked at or is carried out as a command. */
  abort(meant: (row: AcceptedRow) => boolean, reason: AbortReason, named?: boolean): { readonly runIds: readonly string[]; readonly turns: number };
  stopCommand: NonNullable<Responder["stopCommand"]>;
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

/** A command of its own that stops others. */
const isStop = ({ scopes, message }: AcceptedRow): boolean => scopes !== undefined && paceOf(message) === "stop";

/** The part of the lanes that clients' runs are put into. */
interface ClientLanes {
  add(item: LaneItem): void;
  isBusy(sessionKey: string): boolean;
}

/** The message as its command left it: the text for the model, and settings for this run only. */
function applyVerdict(run: ClientRun, { text, thinking, hints }: Pick<Decided, "thinking" | "hints"> & { readonly text: string }): void {
  run.text = text;
  if (thinking !== undefined) run.thinking = thinking;
  if (hints !== undefined) run.hints = hints;
}

/** What is to be found again by the next process, should this one end first. */
function decidedOf({ row, text, thinking, hints, hooks = [] }: ClientRun): Omit<Decided, "last"> {
  return {
    ...(text === row.message ? {} : { text }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(hints === undefined ? {} : { hints }),
    ...(hooks.length === 0 ? {} : { hooks }),
  };
}

function applyDecided(run: ClientRun, decided: Decided): void {
  applyVerdict(run, { ...decided, text: decided.text ?? run.row.message });
  if (decided.hooks) run.hooks = decided.hooks;
}

/**
 * A command is answered at once; a turn that follows one needs a session that may be written to, as any message does. How the run ended, if no turn
 * follows.
 */
async function carryOut(run: ClientRun, deps: ConversationDeps, context: ClientTurnContext, { hooks, tookLong }: CarryOut): Promise<RunOutcome | undefined> {
  const { store, config } = deps;
  const { row } = run;
  const { signal } = run.abort;
  const verdict = await clientVerdict(deps, row, { runId: row.runId, signal, tookLong });
  if (signal.aborted && (verdict?.kind !== "answered" || verdict.outcome === "cancelled")) return closeRun(run, undefined, context);
  if (!verdict) return undefined;
  if (verdict.kind === "answered") return answerDirectly(deps, row, { verdict, hooks }, context);
  applyVerdict(run, verdict);
  if (verdict.text !== row.message) {
    const entry = (await store.read("sessions.get", { key: row.sessionKey }))?.entry;
    const { allowed } = sendPolicy(config.current, row.sessionKey, entry, row.channel);
    if (!allowed) return closeRun(run, "send blocked by session policy", context);
  }
  if (verdict.asides.length > 0) run.asides = await sendAsides(deps, row, verdict.asides, context);
  return undefined;
}

/** Ends a run with its failure, as far as that can be written. */
const closeFailed = (run: ClientRun, why: string, context: ClientTurnContext): Promise<RunOutcome> =>
  closeRun(run, why, context).catch((): RunOutcome => ({ status: "error", error: why }));

interface CarryOut {
  /** What plugins said so far. */
  readonly hooks: readonly HookLogEntry[];
  readonly tookLong: () => void;
}

/**
 * Runs of one session are looked at in the order they came: what follows `/new` belongs to the new session. A stop overtakes all of them, a quick
 * command those that take long.
 */
function createExamination(
  deps: ConversationDeps,
  context: ClientTurnContext,
  { lanes, looks }: { readonly lanes: ClientLanes; readonly looks: SecondLooks },
  end: (run: ClientRun, outcome: RunOutcome) => void,
) {
  const { store, config } = deps;
  const sessions = createOrder();
  const plugins = createClientHooks(deps, context);

  async function enqueue(run: ClientRun): Promise<void> {
    const { sessionKey, agentId, channel } = run.row;
    // How the session queues is asked only when there is something to wait for.
    const entry = lanes.isBusy(sessionKey) ? (await store.read("sessions.get", { key: sessionKey }))?.entry : undefined;
    // The lane did not know of it when it was stopped, and would have it wait for more messages.
    if (run.abort.signal.aborted) return end(run, await closeRun(run, undefined, context));
    run.phase = "turn";
    lanes.add({ kind: "client", sessionKey, agentId, queue: queueSettings(config.current, entry, channel), run });
  }

  /** What becomes of a message that no turn was asked about yet. Nobody wrote what the gateway reports itself: plugins are not asked about it. */
  async function treat(run: ClientRun, tookLong: () => void, isNew: boolean): Promise<void> {
    const isWritten = run.row.kind === undefined;
    const over =
      (isWritten && isNew ? await plugins.claimed(run) : undefined) ??
      (await carryOut(run, deps, context, { hooks: plugins.said(run), tookLong })) ??
      (isWritten ? await plugins.dispatched(run) : undefined);
    if (over) return end(run, over);
    run.hooks = plugins.said(run);
    if (isWritten) persistDecided(deps, [run.row.inboxId], decidedOf(run));
    await enqueue(run);
  }

  /** `prompted`: its turn has begun. `isNew`: no process before this one took it into a turn. */
  async function examine(run: ClientRun, prompted: boolean, tookLong: () => void, isNew = true): Promise<void> {
    try {
      const waiting = deps.untilPlugins?.();
      if (waiting) await waiting;
    } catch {
      // On disk: the next start takes it up.
      return end(run, STOPPING);
    }
    try {
      if (run.abort.signal.aborted) return end(run, await closeRun(run, undefined, context));
      if (run.row.decided) applyDecided(run, run.row.decided);
      if (prompted || run.row.decided) await enqueue(run);
      else await treat(run, tookLong, isNew);
    } catch (error) {
      // A command that failed here must not become a prompt.
      const why = messageOf(error);
      deps.log.error(`a client's message could not be treated: ${why}`, { runId: run.row.runId, error });
      end(run, await closeFailed(run, why, context));
    } finally {
      plugins.forget(run);
    }
  }

  return {
    add(run: ClientRun): void {
      const { scopes, message, sessionKey } = run.row;
      const pace = scopes === undefined ? "usual" : paceOf(message);
      if (pace === "stop") void examine(run, false, () => {});
      else sessions.add(sessionKey, { isQuick: pace === "quick", run: (tookLong) => examine(run, false, tookLong) });
    },
    /** Runs of a turn of the previous process, the newest last: unless the turn has its prompt, the messages are looked at again. */
    resume(group: readonly [...ClientRun[], ClientRun], turnId: string | null): void {
      const main = group.at(-1)!;
      const run = async (tookLong: () => void): Promise<void> => {
        await deps.untilPlugins?.()?.catch(() => {});
        const asks = turnId !== null && (group.length > 1 || mayBeCommand(main.row.message) || deps.hooks.has("before_dispatch"));
        const prompted = asks && (await wasPrompted(deps, turnId).catch(() => false));
        const others = group.filter((run) => run !== main);
        const ids = group.map(({ row }) => row.inboxId);
        if (!prompted && !(await looks.begin(ids).catch(() => true))) {
          for (const run of group) end(run, await closeFailed(run, LOOKED_AT_TOO_OFTEN, context));
          return looks.passed(ids);
        }
        if (prompted) for (const run of others) mergeInto(main, run);
        else {
          if (others.length > 0) await store.write("inbox.release", { ids: others.map(({ row }) => row.inboxId) }).catch(() => {});
          for (const other of others) other.begun = false;
          for (const other of others) await examine(other, false, tookLong, turnId === null);
        }
        await examine(main, prompted, tookLong, turnId === null);
        looks.passed(ids);
      };
      sessions.add(main.row.sessionKey, { isQuick: false, run });
    },
    idle: sessions.idle,
  };
}

/** Runs of a batch as one turn. Those that were aborted while they waited are not in it. */
function turnOf({ items, summarised }: Batch): { readonly turn: ClientTurn | undefined; readonly aborted: readonly ClientRun[] } {
  const isAlive = ({ run }: ClientItem): boolean => !run.abort.signal.aborted;
  const withMerged = (item: LaneItem): readonly ClientItem[] => (item.kind === "client" ? [...item.run.merged.map((run) => ({ ...item, run })), item] : []);
  const [all, lines] = [items, summarised].map((list) => list.flatMap(withMerged));
  const own = all!.filter(isAlive);
  const cut = lines!.filter(isAlive);
  const aborted = [...all!, ...lines!].filter((item) => !isAlive(item)).map(({ run }) => run);
  const main = own.at(-1)?.run;
  // What has only a line left is told with nothing to answer: it ends as it would have been.
  if (!main) return { turn: undefined, aborted: [...aborted, ...cut.map(({ run }) => run)] };
  for (const { run } of [...cut, ...own]) if (run !== main) mergeInto(main, run);
  return { turn: { main, items: own, summarised: cut, steering: [], taken: new Set(), over: false }, aborted };
}

interface BatchEnds {
  cancel(run: ClientRun, reason: AbortReason): Promise<void>;
  end(run: ClientRun, outcome: RunOutcome): void;
}

/** Answers a batch in one turn; all its runs end with it. */
async function answerBatch(batch: Batch, began: (turn: ActiveTurn) => void, context: ClientTurnContext, { cancel, end }: BatchEnds): Promise<void> {
  const { turn, aborted } = turnOf(batch);
  for (const run of aborted) await cancel(run, "interrupt");
  if (!turn) return;
  const { main } = turn;
  // What the gateway itself reports is not interrupted.
  if (main.row.kind === undefined) began(activeClientTurn(turn));
  const outcome = await treatTurn(turn, context);
  for (const run of [...main.merged, main]) end(run, outcome);
  await afterTurn(turn, context);
}

/** Plugins hear of the message; nothing that they do can hold up a stop. */
async function runStopCommand(deps: ConversationDeps, request: Parameters<ClientDesk["stopCommand"]>[0]): Promise<readonly string[] | undefined> {
  const agentId = agentOfKey(request.sessionKey, { defaultAgentId: deps.defaultAgentId() });
  const runId = deps.ids.uuid();
  tellReceived(deps, { ...request, runId, agentId });
  const verdict = await clientVerdict(deps, { ...request, agentId }, { runId, signal: new AbortController().signal });
  return verdict?.kind === "answered" ? (verdict.stopped ?? []) : undefined;
}

export function createClientDesk(deps: ConversationDeps, context: ClientTurnContext, lanes: ClientLanes, looks: SecondLooks): ClientDesk {
  /** Runs that wait or run, by id. */
  const runs = new Map<string, ClientRun>();
  const accepting = new Map<string, Promise<unknown>>();
  let closed = false;

  function end(run: ClientRun, outcome: RunOutcome): void {
    runs.delete(run.row.runId);
    run.end(outcome);
  }

  const examination = createExamination(deps, context, { lanes, looks }, end);

  function begin(run: ClientRun): void {
    runs.set(run.row.runId, run);
    examination.add(run);
  }

  async function acceptNew(request: RunRequest): Promise<AcceptedRun> {
    const agentId = agentOfKey(request.sessionKey, { defaultAgentId: deps.defaultAgentId() });
    const { row, duplicate, settled } = await acceptRun(deps, request, agentId);
    if (!duplicate) begin(newClientRun(row, false));
    const ended = settled ? await endedRun(deps, request.runId) : undefined;
    return { runId: request.runId, duplicate, ...(ended ? { ended } : {}) };
  }

  async function cancel(run: ClientRun, reason: AbortReason): Promise<void> {
    if (!run.abort.signal.aborted) run.reason = reason;
    run.abort.abort();
    end(run, await closeRun(run, undefined, context).catch((error: unknown): RunOutcome => ({ status: "error", error: messageOf(error) })));
  }

  return {
    async accept(request) {
      if (closed) throw new AppError("UNAVAILABLE", "the gateway is stopping; send it again after the restart");
      // A twin that arrives while the first is being written waits for it: the store then knows which came first.
      await accepting.get(request.runId)?.catch(() => {});
      const known = runs.get(request.runId);
      if (known) {
        if (known.row.message !== request.message || known.row.sessionKey !== request.sessionKey) throw otherPayload(request.runId);
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
    resume(rows, turnId) {
      const group = rows.map((row) => newClientRun(row, true, turnId !== null));
      for (const run of group) runs.set(run.row.runId, run);
      examination.resume(group as [ClientRun], turnId);
    },
    idle: examination.idle,
    run: (batch, began) => answerBatch(batch, began, context, { cancel, end }),
    cancel,
    leave(run) {
      for (const one of [...run.merged, run]) end(one, STOPPING);
    },
    abort(meant, reason, named = false) {
      const isReached = ({ phase, row }: ClientRun): boolean => named || phase === "turn" || (reason === "stop" && !isStop(row));
      const reached = [...runs.values()].filter((run) => meant(run.row) && isReached(run) && !(run.into ?? run).abort.signal.aborted);
      for (const run of reached) {
        const target = run.into ?? run;
        target.reason = reason;
        target.abort.abort();
      }
      return { runIds: reached.map(({ row }) => row.runId), turns: reached.filter(({ phase }) => phase === "turn").length };
    },
    stopCommand: (request) => runStopCommand(deps, request),
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
