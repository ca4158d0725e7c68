import { createOpenSessions, type OpenSession } from "../sessions/index.ts";
import type { AbortReason, Responder } from "./contract.ts";
import type { Inbound } from "./inbound.ts";
import { createIntake, type Intake } from "./intake/accept.ts";
import { createItems, type Item, createOpenItems, type AbortTarget, type OpenItems } from "./items.ts";
import { createSessionLanes, type SessionLanes } from "./lanes.ts";
import { createAttempts } from "./intake/attempts.ts";
import { createExamination, type Examination } from "./intake/examine.ts";
import type { ConversationContext, ConversationDeps } from "./ports.ts";
import { chatListener } from "./turns/chat-listener.ts";
import { clientListener } from "./turns/client-listener.ts";
import { createClientRuns, type ClientRuns } from "./turns/client-runs.ts";
import { heartbeatListener } from "./turns/heartbeat-listener.ts";
import { createLiveReplies, type LiveEnd, type LiveReply } from "./turns/live-replies.ts";
import { resumeAll } from "./turns/resume.ts";
import { cancelItem, runTurn, STOPPING } from "./turns/turn.ts";

type Judged = Parameters<Intake["acceptJudged"]>;

/** Takes messages, puts them on disk, has them answered one after the other in each session, and sends the answers. */
export interface Conversation extends Responder, Pick<Intake, "inbound" | "acceptJudged">, Pick<OpenItems, "chatOf" | "addressOf">, AsyncDisposable {
  /** `acceptJudged` for a caller that takes the replies by itself; resolves when it was handed them. */
  dispatch(asked: Judged[0], verdict: Judged[1], context: Judged[2], reply: LiveReply): Promise<LiveEnd>;
  /** Resumes what was unfinished when the previous process exited. Call it when listeners are in place. */
  resume(): Promise<number>;
  /** Messages that are being accepted, wait or are answered. */
  running(): number;
  /** Stops a session: what runs is aborted, commands of plugins included, what waits is cancelled. `turns`: how many of the ids are turns of a model. */
  stop(sessionKey: string): Promise<{ readonly runIds: readonly string[]; readonly turns: number; readonly dropped: number }>;
  /** Ends the turn that runs in a session; what waits there stays. */
  interrupt(sessionKey: string): void;
  /** Whether a turn runs or waits in a session. */
  isBusy(sessionKey: string): boolean;
  /** Called when runs are aborted: with all of a session, or one. */
  onAbort(listener: (target: AbortTarget, reason: AbortReason) => void): Disposable;
  /** Messages that wait in a session. */
  depth(sessionKey: string): number;
  /** Does something in a session while no turn of it runs; turns that come wait for it. */
  exclusively<T>(sessionKey: string, work: (session: OpenSession) => Promise<T>): Promise<T>;
  /** Does something that the turn of a session waits for, while others have its place among those that may run. */
  withoutSlot: SessionLanes["withoutSlot"];
  /**
   * Takes nothing new and begins no turn; resolves when those that run have ended, or were left for the next start because the grace was over. Callers
   * that wait for a run that is left get an outcome that says so. Disposing does the same, with the usual grace.
   */
  drain(graceMs: number): Promise<void>;
}

/** Those who are called with what happens, in order. */
function createListeners<A extends readonly unknown[]>(): { emit(...happened: A): void; on(listener: (...happened: A) => void): Disposable } {
  const listeners = new Set<(...happened: A) => void>();
  return {
    emit(...happened) {
      for (const listener of listeners) listener(...happened);
    },
    on(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

function whenAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

interface Draining {
  readonly deps: ConversationDeps;
  readonly intake: Pick<Intake, "close">;
  readonly runs: Pick<ClientRuns, "close">;
  readonly examination: Pick<Examination, "idle">;
  readonly lanes: Pick<SessionLanes, "stop">;
  readonly lives: { close(): void };
  readonly stopping: AbortController;
}

async function drainAll({ deps, intake, runs, examination, lanes, lives, stopping }: Draining, graceMs: number): Promise<void> {
  intake.close();
  await runs.close();
  const timer = deps.clock.after(graceMs, () => stopping.abort());
  await Promise.all([lanes.stop(), Promise.race([examination.idle(), whenAborted(stopping.signal)])]);
  timer[Symbol.dispose]();
  stopping.abort();
  lives.close();
}

const LISTENERS = { client: clientListener, chat: chatListener, heartbeat: heartbeatListener };

interface Ending {
  readonly lanes: Pick<SessionLanes, "clear">;
  readonly open: Pick<OpenItems, "abort">;
  drop(items: readonly Item[], why: string): Promise<number>;
}

/** Ends what runs, and what waits; `dropped` resolves when the latter has ended. */
function endRuns({ lanes, open, drop }: Ending, target: AbortTarget, reason: AbortReason) {
  const { runId: named } = target;
  const held = lanes.clear(target.sessionKey, ({ id }) => named === undefined || id === named);
  const { waiting, ...reached } = open.abort(target, reason);
  const why = reason === "stop" ? "stopped by a command" : "the session was reset";
  return { ...reached, dropped: drop(held, why).then((count) => count + waiting) };
}

export function createConversation(deps: ConversationDeps): Conversation {
  const events = createListeners<Parameters<ConversationContext["emit"]>>();
  const aborts = createListeners<[target: AbortTarget, reason: AbortReason]>();
  const stopping = new AbortController();
  const lives = createLiveReplies(deps);
  const context = { deps, emit: events.emit, stopping: stopping.signal };
  const open = createOpenItems();
  const createItem = createItems(deps, LISTENERS);
  const leave = (item: Item): void => open.end(item, STOPPING);

  async function drop(items: readonly Item[], why: string): Promise<number> {
    for (const item of items) await cancelItem(item, why, context, open);
    return items.length;
  }

  const lanes = createSessionLanes({
    clock: deps.clock,
    sessions: createOpenSessions(deps),
    config: deps.config,
    untilPlugins: deps.untilPlugins,
    run: (batch, began, session) => runTurn(batch, began, { ...context, session }, open),
    drop: (items, why) => void drop(items, why),
    leave: (items) => items.forEach(leave),
  });

  const examination = createExamination({ context, open, createItem, enqueue: lanes.add, leave, attempts: createAttempts(deps) });
  /** Open inputs that this process accepted, until the resumption is over, and those that the resumption found: none is taken up twice. */
  const [accepted, found] = [new Set<number>(), new Set<number>()];
  let isResumed = false;

  function begin(inbound: Inbound): void {
    if (!isResumed) accepted.add(inbound.id);
    if (found.has(inbound.id)) return inbound.live?.ended(inbound.id, undefined);
    const item = createItem([inbound]);
    open.add(item);
    examination.add(item);
  }

  const runs = createClientRuns(deps, open, begin);
  const running = (): number => open.size + runs.accepting.size;
  const intake = createIntake(deps, { accepted: begin, open: running });

  function end(target: AbortTarget, reason: AbortReason): ReturnType<typeof endRuns> {
    const ended = endRuns({ lanes, open, drop }, target, reason);
    aborts.emit(target, reason);
    return ended;
  }

  /** False: the input is accepted here, or was found before. */
  const claim = (inboxId: number): boolean => !accepted.has(inboxId) && !found.has(inboxId) && found.add(inboxId).has(inboxId);

  let drained: Promise<void> | undefined;
  const drain = (graceMs: number): Promise<void> => (drained ??= drainAll({ deps, intake, runs, examination, lanes, lives, stopping }, graceMs));

  return {
    inbound: intake.inbound,
    acceptJudged: intake.acceptJudged,
    dispatch: (asked, verdict, context, reply) => lives.taking(reply, (live) => intake.acceptJudged(asked, verdict, context, live)),
    accept: runs.accept,
    outcome: runs.outcome,
    abort: (target, reason) => end(target, reason).runIds,
    stopCommand: examination.stopCommand,
    async stop(sessionKey) {
      const { runIds, turns, dropped } = end({ sessionKey }, "stop");
      return { runIds, turns, dropped: await dropped };
    },
    interrupt: lanes.interrupt,
    isBusy: (sessionKey) => lanes.isBusy(sessionKey) || open.clientsIn(sessionKey) > 0,
    onAbort: aborts.on,
    depth: lanes.depth,
    chatOf: open.chatOf,
    addressOf: open.addressOf,
    onEvent: events.on,
    async resume() {
      try {
        return await resumeAll({ deps, open, createItem, examination, enqueue: lanes.add, claim });
      } finally {
        isResumed = true;
        accepted.clear();
      }
    },
    running,
    exclusively: lanes.exclusively,
    withoutSlot: lanes.withoutSlot,
    drain,
    [Symbol.asyncDispose]: () => drain(deps.graceMs ?? 10_000),
  };
}
