import { lazy } from "../base/lazy.ts";
import { createOpenSessions, type OpenSession } from "../sessions/index.ts";
import type { AbortReason, Responder } from "./contract.ts";
import type { Group, Inbound } from "./inbound.ts";
import { createIntake, type Intake } from "./intake/accept.ts";
import { createItems, type CreateItem, type Item, createOpenItems, type AbortTarget, type OpenItems } from "./items.ts";
import { createSessionLanes, type SessionLanes } from "./lanes.ts";
import { createAttempts } from "./intake/attempts.ts";
import { createExamination, type Examination } from "./intake/examine.ts";
import type { ConversationContext, ConversationDeps } from "./ports.ts";
import { createBacklog, type Backlog } from "./turns/backlog.ts";
import { chatListener } from "./turns/chat-listener.ts";
import { clientListener } from "./turns/client-listener.ts";
import { createClientRuns, type ClientRuns } from "./turns/client-runs.ts";
import { heartbeatListener } from "./turns/heartbeat-listener.ts";
import { createLiveReplies, type LiveEnd, type LiveReply } from "./turns/live-replies.ts";
import { createResumption } from "./turns/resume.ts";
import { cancelItem, runTurn, STOPPING } from "./turns/turn.ts";
import { whenAborted } from "../base/when-aborted.ts";

type Judged = Parameters<Intake["acceptJudged"]>;

/** Takes messages, puts them on disk, has them answered one after the other in each session, and sends the answers. */
export interface Conversation
  extends Responder, Pick<Intake, "inbound" | "acceptJudged">, Pick<OpenItems, "chatOf" | "addressOf" | "isForClient">, AsyncDisposable {
  /** `acceptJudged` for a caller that takes the replies by itself; resolves when it was handed them. */
  dispatch(asked: Judged[0], verdict: Judged[1], context: Judged[2], reply: LiveReply): Promise<LiveEnd>;
  /** Resumes what was unfinished when the previous process exited; until then messages wait. Call it when listeners are in place. */
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

interface Draining {
  readonly deps: ConversationDeps;
  readonly intake: Pick<Intake, "close">;
  readonly runs: Pick<ClientRuns, "close">;
  readonly examination: Pick<Examination, "idle">;
  readonly lanes: Pick<SessionLanes, "stop">;
  readonly lives: { close(): void };
  readonly backlog: Pick<Backlog, "close">;
  readonly stopping: AbortController;
}

async function drainAll({ deps, intake, runs, examination, lanes, lives, backlog, stopping }: Draining, graceMs: number): Promise<void> {
  intake.close();
  backlog.close();
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
  readonly open: Pick<OpenItems, "abort" | "firstExamined">;
  readonly backlog: Pick<Backlog, "end">;
  drop(items: readonly Item[], why: string): Promise<number>;
}

/** Ends what runs, and what waits; `dropped` resolves when the latter has ended. */
function endRuns({ lanes, open, backlog, drop }: Ending, target: AbortTarget, reason: AbortReason) {
  const { runId: named, sessionKey } = target;
  const why = reason === "stop" ? "stopped by a command" : "the session was reset";
  const held = lanes.clear(sessionKey, ({ id }) => named === undefined || id === named);
  // A command that resets the session reaches nothing that came after it.
  const before = reason === "stop" ? Infinity : open.firstExamined(sessionKey);
  const left = backlog.end({ sessionKey, runId: named, before }, why);
  const { waiting, runIds, turns } = open.abort(target, reason);
  const dropped = Promise.all([drop(held, why), left.ended]).then(([ofLane, onDisk]) => ofLane + onDisk + waiting);
  return { runIds: [...runIds, ...left.runIds], turns: turns + left.runIds.length, dropped };
}

/** Whether an item is looked at before older messages of its session that wait for their turns: a command is. */
function isCommand({ pace, text, request, last }: Item, { commands }: Pick<ConversationDeps, "commands">): boolean {
  if (pace !== "usual") return true;
  if (request && request.scopes === undefined) return false;
  const botUsername = last.event.mention?.botUsername;
  return commands.isControl(text, botUsername === undefined ? {} : { botUsername });
}

interface BeginningDeps {
  readonly context: ConversationContext;
  readonly open: OpenItems;
  readonly createItem: CreateItem;
  readonly examination: Examination;
  enqueue(item: Item): void;
}

/** How inputs on disk are taken up: new ones, and those that a previous process left. Those of a session keep their order. */
function createBeginning({ context, open, createItem, examination, enqueue }: BeginningDeps) {
  const { deps } = context;
  /** Open inputs that this process accepted, until the resumption is over, and those that the resumption found: none is taken up twice. */
  const [accepted, found] = [new Set<number>(), new Set<number>()];
  let isResumed = false;
  const resumed = Promise.withResolvers<void>();

  function examine(item: Item): void {
    open.add(item);
    examination.add(item);
  }

  function begin(inbound: Inbound): void {
    if (!isResumed) accepted.add(inbound.id);
    if (found.has(inbound.id)) return inbound.live?.ended(inbound.id, undefined);
    const item = createItem([inbound]);
    if (backlog.has(inbound.sessionKey) && !overtakes(item)) backlog.add([inbound], true);
    else examine(item);
  }

  const overtakes = (item: Item): boolean => isCommand(item, deps);
  /** False: the input is accepted here, or was found before. */
  const claim = (inboxId: number): boolean => !accepted.has(inboxId) && !found.has(inboxId) && found.add(inboxId).has(inboxId);
  const putOff = (messages: Group): void => backlog.add(messages, false);
  const resumption = createResumption({ deps, open, createItem, examination, enqueue, claim, overtakes, putOff });

  const backlog = createBacklog({
    store: deps.store,
    clock: deps.clock,
    log: deps.log.subsystem("conversation"),
    open,
    begin: async (messages, isNew) => (isNew ? examine(createItem(messages)) : resumption.begin(messages)),
    async cancel(messages, why) {
      const item = createItem(messages);
      open.add(item);
      await cancelItem(item, why, context, open);
    },
  });

  async function resume(): Promise<number> {
    using _held = backlog.hold();
    try {
      return await resumption.resumeAll();
    } finally {
      isResumed = true;
      accepted.clear();
      resumed.resolve();
    }
  }

  return { begin, backlog, resume, resumed: resumed.promise };
}

export function createConversation(deps: ConversationDeps): Conversation {
  const events = createListeners<Parameters<ConversationContext["emit"]>>();
  const aborts = createListeners<[target: AbortTarget, reason: AbortReason]>();
  const stopping = new AbortController();
  const lives = createLiveReplies(deps);
  const context = { deps, emit: events.emit, stopping: stopping.signal, loadReply: lazy(() => import("./reply/index.ts")) };
  const open = createOpenItems((sessionKey) => backlog.advance(sessionKey));
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
  const { begin, backlog, resume, resumed } = createBeginning({ context, open, createItem, examination, enqueue: lanes.add });
  const runs = createClientRuns({ deps, open, backlog, begin, resumed });
  const running = (): number => open.size + backlog.size + runs.accepting.size;
  const intake = createIntake(deps, { accepted: begin, open: running });

  function end(target: AbortTarget, reason: AbortReason): ReturnType<typeof endRuns> {
    const ended = endRuns({ lanes, open, backlog, drop }, target, reason);
    aborts.emit(target, reason);
    return ended;
  }

  let drained: Promise<void> | undefined;
  const drain = (graceMs: number): Promise<void> => (drained ??= drainAll({ deps, intake, runs, examination, lanes, lives, backlog, stopping }, graceMs));

  return {
    inbound: intake.inbound,
    acceptJudged: intake.acceptJudged,
    dispatch: (asked, verdict, context, reply) => lives.taking(reply, (live) => intake.acceptJudged(asked, verdict, context, live)),
    accept: runs.accept,
    outcome: runs.outcome,
    abort: (target, reason) => end(target, reason).runIds,
    steer: ({ sessionKey, runId }) => lanes.steer(sessionKey, ({ id }) => id === runId),
    stopCommand: examination.stopCommand,
    async stop(sessionKey) {
      const { runIds, turns, dropped } = end({ sessionKey }, "stop");
      return { runIds, turns, dropped: await dropped };
    },
    interrupt: lanes.interrupt,
    isBusy: (sessionKey) => lanes.isBusy(sessionKey) || open.clientsIn(sessionKey) > 0 || backlog.depth(sessionKey) > 0,
    onAbort: aborts.on,
    depth: (sessionKey) => lanes.depth(sessionKey) + backlog.depth(sessionKey),
    chatOf: open.chatOf,
    addressOf: open.addressOf,
    isForClient: open.isForClient,
    onEvent: events.on,
    resume,
    running,
    exclusively: lanes.exclusively,
    withoutSlot: lanes.withoutSlot,
    drain,
    [Symbol.asyncDispose]: () => drain(deps.graceMs ?? 10_000),
  };
}
