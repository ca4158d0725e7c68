import type { Steered, TurnEnd, TurnInput } from "../../agent/index.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { createHookLog, type HookLog } from "../../hooks/index.ts";
import { turnLimitMs } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import { inboxIdsOf, sameTurn, textOf, type ClientItem, type LaneItem } from "../lanes/item.ts";
import type { ActiveTurn } from "../lanes/session-lane.ts";
import type { ConversationDeps } from "../ports.ts";
import { createClientAnswer, type ClientAnswer } from "./client-answer.ts";
import { answerDirectly } from "./client-commands.ts";
import { clientFacts, clientMessage } from "./client-message.ts";
import type { RunEvent, RunOutcome } from "./contract.ts";
import { mediaLine, summaryOf } from "./message-text.ts";
import { takenOver } from "./reply-dispatch.ts";
import { logOutcome, outcomeOf } from "./run-log.ts";
import { mergeInto, ORIGINS, type ClientRun } from "./run.ts";
import { closeUnanswered, unsaidOf, type Said } from "./transcript-note.ts";

/** How a run ends for whoever waits for it in a gateway that stops. */
export const STOPPING: RunOutcome = {
  status: "error",
  error: "the gateway is restarting; the run goes on after the restart",
  failure: { kind: "restarting" },
};

export interface ClientTurnContext {
  readonly deps: ConversationDeps;
  readonly emit: (run: { readonly runId: string; readonly sessionKey: string }, event: RunEvent) => void;
  /** Fires when the grace of a stop is over: turns are left for the next start. */
  readonly stopping: AbortSignal;
}

/** A turn that answers one or more runs of clients. */
export interface ClientTurn {
  /** The newest of its runs: the turn has its id, and the others are merged into it. */
  readonly main: ClientRun;
  readonly items: readonly ClientItem[];
  /** Runs of which only a line is left. */
  readonly summarised: readonly ClientItem[];
  /** Items that the model is to be shown at its next step. */
  readonly steering: ClientItem[];
  /** Items that the turn took and has not committed: they are open until it does. */
  readonly taken: Set<ClientItem>;
  over: boolean;
}

/** How the lane speaks with a client's turn while it runs. */
export function activeClientTurn(turn: ClientTurn): ActiveTurn {
  const { main } = turn;
  return {
    steer(item) {
      if (turn.over || main.abort.signal.aborted || item.kind !== "client" || !sameTurn(item, turn.items.at(-1)!)) return false;
      turn.steering.push(item);
      return true;
    },
    interrupt() {
      main.reason ??= "interrupt";
      main.abort.abort();
    },
    unshown(): readonly LaneItem[] {
      const items = [...turn.taken, ...turn.steering.splice(0)];
      turn.taken.clear();
      return items;
    },
  };
}

/** Runs for the model, each ending with the commit that shows it. One that also waits for a turn of its own stays open. */
function steered(turn: ClientTurn): Steered[] {
  return turn.steering.splice(0).flatMap((item): Steered[] => {
    // One that was aborted while it waited is not shown: the lane ends it.
    if (item.run.abort.signal.aborted) {
      turn.taken.add(item);
      return [];
    }
    if (item.queue.mode.value === "steer-backlog") return [{ text: textOf(item), writes: [] }];
    turn.taken.add(item);
    const settle: Write = [
      "inbox.settle",
      { ids: inboxIdsOf(item), outcome: "merged", why: "shown to the turn that was running", turnId: turn.main.row.runId },
    ];
    const committed = (): void => {
      turn.taken.delete(item);
      mergeInto(turn.main, item.run);
    };
    return [{ text: textOf(item), writes: [settle], committed }];
  });
}

function textOfRun({ row: { files = [] }, text }: ClientRun): string {
  return [...(files.length > 0 && text === "" ? [] : [text]), ...files.map(mediaLine)].join("\n\n");
}

/** The messages as the agent gets them. */
function inputOf({ main, items, summarised }: ClientTurn): TurnInput {
  const {
    inboxId: _id,
    timeoutMs: _timeout,
    scopes: _scopes,
    reply: _reply,
    kind: _kind,
    files: _files,
    images: _images,
    decided: _decided,
    owner = false,
    ...request
  } = main.row;
  const runs = items.map(({ run }) => run);
  const images = runs.flatMap(({ row }) => row.images ?? []);
  const many = runs.length > 1 ? [`[${runs.length} messages that came while you were busy]`] : [];
  const message = [...summaryOf(summarised), ...many, ...runs.map(textOfRun)].join("\n\n");
  const thinking = runs.findLast((run) => run.thinking !== undefined)?.thinking ?? main.row.thinking;
  const model = runs.findLast(({ hints }) => hints?.model !== undefined)?.hints?.model;
  return {
    ...request,
    traceId: clientFacts(main.row, "final").traceId!,
    message,
    owner,
    inboxIds: [...summarised, ...items].flatMap(inboxIdsOf),
    resumed: main.resumed,
    ...(images.length === 0 ? {} : { images }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(model === undefined ? {} : { model }),
  };
}

/** Tells how a turn ended to all whose messages it answered. Those that were merged into it were not told the answer while it was written: they get it whole. */
function tellEnd({ main }: ClientTurn, end: TurnEnd, outcome: RunOutcome, shown: string | undefined, { emit }: ClientTurnContext): void {
  const { startedAt, endedAt } = end;
  for (const run of [...main.merged, main]) {
    if (outcome.status === "error") emit(run.row, { stream: "lifecycle", data: { phase: "error", error: outcome.error, startedAt, endedAt } });
    else {
      const aborted = outcome.status === "aborted" ? { aborted: true, ...(main.reason === undefined ? {} : { reason: main.reason }) } : {};
      const whole = run === main || outcome.status !== "ok" ? shown : (shown ?? outcome.text);
      emit(run.row, { stream: "lifecycle", data: { phase: "end", startedAt, endedAt, ...aborted, ...(whole === undefined ? {} : { shown: whole }) } });
    }
  }
}

async function runTurn(turn: ClientTurn, context: ClientTurnContext): Promise<RunOutcome> {
  const { deps, emit, stopping } = context;
  const { main } = turn;
  const { row } = main;
  const expire = (): void => {
    main.reason ??= "timeout";
    main.abort.abort();
  };
  const limitMs = turnLimitMs(deps.config.current, row.timeoutMs);
  using timer = limitMs > 0 ? deps.clock.after(limitMs, expire) : undefined;
  const hookLog = createHookLog(deps.hooks, deps.clock.now);
  hookLog.add([...main.merged, main].flatMap(({ hooks = [] }) => hooks));
  const taken = await takenOverTurn(turn, context, hookLog);
  if (taken) return taken;
  const agents = await deps.agents();
  const answer = createClientAnswer(main, deps, (text) => emit(row, { stream: "assistant", data: { text, delta: text } }));
  let thoughts = "";
  const input = inputOf(turn);
  const end = await agents.turn(hookLog.entries.length === 0 ? input : { ...input, hookLog: hookLog.entries }, {
    emit(event) {
      if (event.stream === "thinking") thoughts += event.data.delta;
      if (!answer.held || event.stream !== "assistant") emit(row, event);
    },
    signal: main.abort.signal,
    origin: () => ORIGINS[main.reason ?? "rpc"],
    stopping,
    steered: () => steered(turn),
    async replies(ended) {
      turn.over = true;
      return answer.finish(ended, thoughts);
    },
    ...(answer.spoken ? { spoken: answer.spoken } : {}),
  });
  timer?.[Symbol.dispose]();
  if (row.reply) deps.delivery.kick();
  if (!end) return STOPPING;
  if (end === "given-up")
    return closeWith(
      turn,
      { status: "error", error: "the run was interrupted too often and was given up", failure: { kind: "interrupted" } },
      "interrupted too often",
      context,
      await unsaidOf(deps, input),
    );
  main.turnEnd = end;
  return ended(turn, end, answer, context);
}

/** Shows the answer, and tells the end. */
function ended(turn: ClientTurn, end: TurnEnd, { parts: whole, reply, held, isShown }: ClientAnswer, context: ClientTurnContext): RunOutcome {
  const { main } = turn;
  const outcome = outcomeOf(end);
  logOutcome(context.deps.log, main.row, outcome);
  const parts = reply?.changed ? reply.texts : whole;
  if (held && !isShown && outcome.status === "ok" && outcome.text !== "" && outcome.silent !== true) {
    const { text } = outcome;
    context.emit(main.row, { stream: "assistant", data: { text, delta: text } });
  }
  const isSilent = held && outcome.status === "ok" && outcome.silent === true;
  tellEnd(turn, end, outcome, end.shown ?? parts?.join("\n\n") ?? (isSilent ? "" : undefined), context);
  reply?.sent();
  const asides = [...main.merged, main].flatMap((run) => run.asides);
  if (outcome.status !== "ok" || (parts === undefined && asides.length === 0)) return outcome;
  return { ...outcome, payloads: [...asides, ...(parts ?? (outcome.silent ? [] : [outcome.text]))] };
}

/** `reply_dispatch`: a plugin may answer in the agent's place. Undefined: the agent answers. What nobody wrote is not offered. */
async function takenOverTurn({ main, items, summarised }: ClientTurn, context: ClientTurnContext, hookLog: HookLog): Promise<RunOutcome | undefined> {
  const { deps } = context;
  const { row } = main;
  if (main.begun || row.kind !== undefined) return undefined;
  const { runId, sessionKey, agentId } = row;
  const last = clientMessage({ ...row, message: main.text }, deps.clock.now());
  const verdict = await takenOver({ runId, sessionKey, agentId, last, signal: main.abort.signal }, deps, hookLog);
  if (!verdict) return undefined;
  const merged = main.merged.map((run) => run.row);
  return answerDirectly(deps, row, { verdict, inboxIds: [...summarised, ...items].flatMap(inboxIdsOf), merged, hooks: hookLog.entries }, context);
}

/** Ends runs without an answer, on disk first. */
async function closeWith(turn: ClientTurn, result: RunOutcome, why: string, { deps, emit }: ClientTurnContext, said?: Said): Promise<RunOutcome> {
  const { main, items, summarised } = turn;
  const endedAt = deps.clock.now();
  const inboxIds = [...summarised, ...items].flatMap(inboxIdsOf);
  await closeUnanswered(deps, { ...main.row, inboxIds, outcome: result.status === "aborted" ? "cancelled" : "failed", why, result }, said);
  const reason = main.reason === undefined ? {} : { reason: main.reason };
  for (const { row } of [...main.merged, main]) {
    if (result.status === "error") emit(row, { stream: "lifecycle", data: { phase: "error", error: result.error, endedAt } });
    else emit(row, { stream: "lifecycle", data: { phase: "end", endedAt, aborted: true, ...reason } });
  }
  return result;
}

/** Ends one run without a turn: it was aborted while it waited, or it went wrong before it came to one. */
export function closeRun(run: ClientRun, failure: string | undefined, context: ClientTurnContext): Promise<RunOutcome> {
  const item = { run, kind: "client" } as ClientItem;
  const turn: ClientTurn = { main: run, items: [item], summarised: [], steering: [], taken: new Set(), over: true };
  if (failure !== undefined) return closeWith(turn, { status: "error", error: failure }, failure, context);
  const abortedBy = ORIGINS[run.reason ?? "rpc"];
  return closeWith(turn, { status: "aborted", abortedBy, text: "", sessionId: "", durationMs: 0 }, `aborted (${abortedBy})`, context);
}

/** Answers clients' messages, and tells how that ended. Never rejects. */
export async function treatTurn(turn: ClientTurn, context: ClientTurnContext): Promise<RunOutcome> {
  const { deps, stopping } = context;
  if (stopping.aborted) return STOPPING;
  try {
    return await runTurn(turn, context);
  } catch (error) {
    const why = messageOf(error);
    deps.log.error("a run failed", { runId: turn.main.row.runId, error });
    const result: RunOutcome = { status: "error", error: why, ...(error instanceof AppError ? { failure: { kind: "error", code: error.code } } : {}) };
    return closeWith(turn, result, why, context).catch((): RunOutcome => result);
  } finally {
    turn.over = true;
  }
}

/** Notes are written and the like, before the session's next turn. */
export async function afterTurn(turn: ClientTurn, { deps, stopping }: ClientTurnContext): Promise<void> {
  const { main } = turn;
  if (main.turnEnd?.status !== "ok" || stopping.aborted) return;
  try {
    await (await deps.agents()).after(inputOf(turn), main.turnEnd, { signal: new AbortController().signal, stopping });
  } catch (error) {
    deps.log.warn(`the upkeep after a turn failed: ${messageOf(error)}`, { sessionKey: main.row.sessionKey });
  }
}
