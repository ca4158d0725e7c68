import { messageOf } from "../base/errors.ts";
import type { ReplyAddress } from "./address.ts";
import { createIntake, type Intake } from "./intake/accept.ts";
import { createDispatch, type Dispatch } from "./intake/dispatch.ts";
import { inboxIdsOf, type ChannelItem, type LaneItem } from "./lanes/item.ts";
import { createLiveReplies, type LiveEnd, type LiveReply } from "./live/live-replies.ts";
import { createSessionLanes, type SessionLanes } from "./lanes/lanes.ts";
import type { InboxRow } from "../store/index.ts";
import type { ConversationDeps } from "./ports.ts";
import { createChannelDesk, type ChannelDesk } from "./turns/channel-desk.ts";
import type { ChannelTurnContext } from "./turns/channel-turn.ts";
import { createClientDesk, type ClientDesk } from "./turns/client-desk.ts";
import type { ClientTurnContext } from "./turns/client-turn.ts";
import type { Responder } from "./turns/contract.ts";
import { createSecondLooks } from "./intake/second-looks.ts";
import { resumedChannels } from "./turns/resumed.ts";
import { closeOrphans, runOfRow } from "./turns/run-log.ts";
import type { AbortReason, ClientRun } from "./turns/run.ts";

type Judged = Parameters<Intake["acceptJudged"]>;

/** Takes messages, puts them on disk, has them answered one after the other in each session, and sends the answers. */
export interface Conversation extends Responder, Pick<Intake, "inbound" | "acceptJudged">, AsyncDisposable {
  /** `acceptJudged` for whoever takes the replies by itself; resolves when it was handed them. */
  dispatch(asked: Judged[0], verdict: Judged[1], context: Judged[2], reply: LiveReply): Promise<LiveEnd>;
  /** Takes up again what had no end when the process before this one ended. Call it when listeners are in place. */
  resume(): Promise<number>;
  /** Messages that are being accepted, wait or are answered. */
  running(): number;
  /** Stops a session: what runs is aborted, commands of plugins included, what waits is cancelled. `turns`: how many of the ids are turns of a model. */
  stop(sessionKey: string): Promise<{ readonly runIds: readonly string[]; readonly turns: number; readonly dropped: number }>;
  /** Ends the turn that runs in a session; what waits there stays. */
  interrupt(sessionKey: string): void;
  /** Messages that wait in a session. */
  depth(sessionKey: string): number;
  /** The chat that a turn answers; undefined for turns of clients. */
  chatOf: ChannelDesk["chatOf"];
  /** Where a turn's answer is sent; undefined when only clients see it. */
  addressOf(runId: string): ReplyAddress | undefined;
  /** Does something in a session while no turn of it runs; turns that come wait for it. */
  exclusively<T>(sessionKey: string, work: () => Promise<T>): Promise<T>;
  /**
   * Takes nothing new and begins no turn; resolves when those that run have ended, or were left for the next start because the grace was over. Whoever
   * waits for a run that is left is told so. Disposing does the same, with the usual grace.
   */
  drain(graceMs: number): Promise<void>;
}

/** Open inputs that are read at once: there may be as many as came while nothing was answered. */
const PAGE = 200;
const MAX_CONCURRENT = 4;

/** Inputs without an end, some at a time. */
async function* openRows({ store }: Pick<ConversationDeps, "store">, state: "claimed" | "pending"): AsyncGenerator<readonly InboxRow[]> {
  for (let after = 0; ;) {
    const rows = await store.read("inbox.open", { state, after, limit: PAGE });
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

/** Turns that open inputs belong to, or would. */
async function turnsOf(deps: Pick<ConversationDeps, "store">): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for (const state of ["claimed", "pending"] as const) {
    for await (const rows of openRows(deps, state)) {
      for (const row of rows) {
        if (row.turnId !== null) known.add(row.turnId);
        const run = runOfRow(row);
        if (run) known.add(run.row.runId);
      }
    }
  }
  return known;
}

/** Everything without an end goes where it was, or where it begins: what was in a turn first, all of a turn together, then what waits, page by page. */
async function resumeAll(
  deps: ConversationDeps,
  clients: Pick<ClientDesk, "has" | "resume">,
  {
    enqueue,
    add,
    resume,
    claim,
  }: { readonly enqueue: (item: ChannelItem) => void; readonly claim: (inboxId: number) => boolean } & Pick<Dispatch, "add" | "resume">,
): Promise<number> {
  async function resumeRows(rows: readonly InboxRow[]): Promise<number> {
    const asked = rows.flatMap((row) => runOfRow(row) ?? []).filter(({ row }) => !clients.has(row.runId));
    for (const [turnId, group] of Map.groupBy(asked, ({ row, turnId }) => turnId ?? row.runId)) {
      const own = group.map(({ row }) => row).toSorted((a, b) => Number(a.runId === turnId) - Number(b.runId === turnId));
      clients.resume(own, group[0]!.turnId);
    }
    const left = rows.filter(({ id }) => claim(id));
    const { items, unprompted, fresh } = await resumedChannels(left, deps);
    for (const item of items) enqueue(item);
    for (const { messages, turnId } of unprompted) resume(messages, turnId);
    for (const inbound of fresh) add(inbound);
    return asked.length + items.length + unprompted.length + fresh.length;
  }

  const known = await turnsOf(deps);
  await closeOrphans(deps, (turnId) => known.has(turnId) || clients.has(turnId));
  // Read before any is resumed: a turn's inputs go together, and one that begins now claims others.
  const claimed = await Array.fromAsync(openRows(deps, "claimed"));
  // What begins meanwhile may claim or end what waits: a page is read when the one before it was taken up.
  let resumed = await resumeRows(claimed.flat());
  for await (const rows of openRows(deps, "pending")) resumed += await resumeRows(rows);
  return resumed;
}

/** Which of the open inputs are this process's own, and which the process before it left: none is taken up twice. */
function createClaims() {
  const own = new Set<number>();
  const left = new Set<number>();
  let isResumed = false;
  return {
    /** Accepted here. False when it was taken up as one that was left. */
    own(inboxId: number): boolean {
      if (!isResumed) own.add(inboxId);
      return !left.has(inboxId);
    },
    left(inboxId: number): boolean {
      if (own.has(inboxId)) return false;
      left.add(inboxId);
      return true;
    },
    resumed(): void {
      isResumed = true;
      own.clear();
    },
  };
}

/** Ends messages that nobody will answer. */
async function dropItems(
  { store, log }: ConversationDeps,
  items: readonly LaneItem[],
  why: string,
  ended: { client(run: ClientRun): void; channel(item: ChannelItem): void },
) {
  for (const item of items) {
    if (item.kind === "client") {
      ended.client(item.run);
      continue;
    }
    await store
      .write("inbox.settle", { ids: inboxIdsOf(item), outcome: "cancelled", why })
      .catch((error: unknown) => log.error(`the end of a message could not be written: ${messageOf(error)}`, { error }));
    ended.channel(item);
  }
}

/** Those who are told what happens in runs. */
function createListeners(): Pick<Responder, "onEvent"> & Pick<ClientTurnContext, "emit"> {
  const listeners = new Set<Parameters<Responder["onEvent"]>[0]>();
  return {
    emit({ runId, sessionKey }, event) {
      for (const listener of listeners) listener({ runId, sessionKey }, event);
    },
    onEvent(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

/** Also of a turn that answers a chat: it is waited for while it runs. */
async function outcomeOf(
  runId: string,
  signal: AbortSignal | undefined,
  clients: Pick<ClientDesk, "outcome">,
  channels: Pick<ChannelDesk, "ended">,
): ReturnType<ClientDesk["outcome"]> {
  if (signal?.aborted !== true) await channels.ended(runId);
  return clients.outcome(runId, signal);
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

interface Ended {
  readonly runIds: readonly string[];
  readonly turns: number;
  /** Resolves when what waited has ended. */
  readonly dropped: Promise<number>;
}

const ended = (parts: readonly Pick<Ended, "runIds" | "turns">[], dropped: Promise<number>): Ended => ({
  runIds: parts.flatMap(({ runIds }) => runIds),
  turns: parts.reduce((sum, { turns }) => sum + turns, 0),
  dropped,
});

async function settledEnd({ dropped, ...ended }: Ended): ReturnType<Conversation["stop"]> {
  return { ...ended, dropped: await dropped };
}

interface Draining {
  readonly deps: ConversationDeps;
  readonly intake: Pick<Intake, "close">;
  readonly clients: Pick<ClientDesk, "close" | "idle">;
  readonly lanes: Pick<SessionLanes, "stop">;
  readonly lives: { close(): void };
  readonly stopping: AbortController;
}

async function drainAll({ deps, intake, clients, lanes, lives, stopping }: Draining, graceMs: number): Promise<void> {
  intake.close();
  await clients.close();
  const timer = deps.clock.after(graceMs, () => stopping.abort());
  await Promise.all([lanes.stop(), Promise.race([clients.idle(), aborted(stopping.signal)])]);
  timer[Symbol.dispose]();
  stopping.abort();
  lives.close();
}

export function createConversation(deps: ConversationDeps): Conversation {
  const { config } = deps;
  const { onEvent, emit } = createListeners();
  const stopping = new AbortController();
  /** Messages of channels in the lanes. */
  let waiting = 0;

  const lives = createLiveReplies(deps);
  const context: ClientTurnContext & ChannelTurnContext = { deps, emit, stopping: stopping.signal, lives };
  const channels = createChannelDesk(context);
  const lanes: SessionLanes = createSessionLanes({
    clock: deps.clock,
    places: () => config.current.agents?.defaults?.maxConcurrent ?? MAX_CONCURRENT,
    gate: deps.untilPlugins,
    async run(batch, began) {
      const [first] = batch.items;
      if (first.kind === "client") return clients.run(batch, began);
      const merged = await channels.run(batch, began);
      waiting -= merged + [...batch.items, ...batch.summarised].flatMap(inboxIdsOf).length;
    },
    drop: (items, why) => void drop(items, why),
    leave(items) {
      for (const item of items) if (item.kind === "client") clients.leave(item.run);
    },
  });
  const looks = createSecondLooks(deps);
  const clients: ClientDesk = createClientDesk(deps, context, lanes, looks);
  const enqueue = (item: ChannelItem): void => {
    waiting += item.messages.length;
    lanes.add(item);
  };
  const dispatch = createDispatch(deps, lives, enqueue, looks);
  const claims = createClaims();
  const running = (): number => clients.size + dispatch.pending + waiting;
  const intake = createIntake(deps, { accepted: (inbound) => claims.own(inbound.id) && dispatch.add(inbound), open: running });

  const drop = (items: readonly LaneItem[], why: string): Promise<void> =>
    dropItems(deps, items, why, {
      client: (run) => void clients.cancel(run, "interrupt"),
      channel(item) {
        waiting -= item.messages.length;
        lives.ended(inboxIdsOf(item));
      },
    });

  function end(target: { readonly sessionKey: string; readonly runId?: string }, reason: AbortReason): Ended {
    const { runId: named } = target;
    const meant = (run: { sessionKey: string; runId: string }): boolean => run.sessionKey === target.sessionKey && (named === undefined || run.runId === named);
    const held = lanes.clear(target.sessionKey, (item) => named === undefined || (item.kind === "client" && item.run.row.runId === named));
    const own = clients.abort(meant, reason, named !== undefined);
    const turns = channels.abort(meant, reason);
    const before = reason === "stop" && named === undefined ? dispatch.stop(target.sessionKey) : { runIds: [], waiting: 0 };
    const why = reason === "stop" ? "stopped by a command" : "the session was reset";
    return ended(
      [own, { runIds: turns, turns: turns.length }, { ...before, turns: 0 }],
      drop(held, why).then(() => held.length + before.waiting),
    );
  }

  let drained: Promise<void> | undefined;
  const drain = (graceMs: number): Promise<void> => drainAll({ deps, intake, clients, lanes, lives, stopping }, graceMs);

  return {
    inbound: intake.inbound,
    acceptJudged: intake.acceptJudged,
    dispatch: (asked, verdict, context, reply) => lives.taking(reply, (began) => intake.acceptJudged(asked, verdict, context, began)),
    accept: clients.accept,
    outcome: (runId, signal) => outcomeOf(runId, signal, clients, channels),
    abort: (target, reason) => end(target, reason).runIds,
    stopCommand: clients.stopCommand,
    stop: async (sessionKey) => settledEnd(end({ sessionKey }, "stop")),
    interrupt: lanes.interrupt,
    depth: lanes.depth,
    chatOf: channels.chatOf,
    addressOf: (runId) => channels.chatOf(runId)?.address ?? clients.addressOf(runId),
    onEvent,
    resume: () => resumeAll(deps, clients, { enqueue, add: dispatch.addAgain, resume: dispatch.resume, claim: claims.left }).finally(claims.resumed),
    running,
    exclusively: lanes.exclusively,
    drain: (graceMs) => (drained ??= drain(graceMs)),
    [Symbol.asyncDispose]: () => (drained ??= drain(deps.graceMs ?? 10_000)),
  };
}
