import { messageOf } from "../base/errors.ts";
import { queueSettings } from "../sessions/index.ts";
import type { InboxRow } from "../store/index.ts";
import type { ReplyAddress } from "./address.ts";
import { createIntake, type Intake } from "./intake/accept.ts";
import { createDispatch } from "./intake/dispatch.ts";
import { inboundOf, type Inbound } from "./intake/inbound-record.ts";
import { inboxIdsOf, type ChannelItem, type LaneItem } from "./lanes/item.ts";
import { createLiveReplies, type LiveEnd, type LiveReply } from "./live/live-replies.ts";
import { createSessionLanes, type SessionLanes } from "./lanes/lanes.ts";
import type { ActiveTurn, Batch } from "./lanes/session-lane.ts";
import type { ConversationDeps } from "./ports.ts";
import { activeTurn, endLives, treatChannelRun, type ChannelRun, type ChannelTurnContext } from "./turns/channel-turn.ts";
import { createClientDesk, type ClientDesk } from "./turns/client-desk.ts";
import type { ClientTurnContext } from "./turns/client-turn.ts";
import type { Responder, RunEvent } from "./turns/contract.ts";
import { closeOrphans, runOfRow } from "./turns/run-log.ts";
import type { AbortReason } from "./turns/run.ts";

type Judged = Parameters<Intake["acceptJudged"]>;

/** Takes messages, puts them on disk, has them answered one after the other in each session, and sends the answers. */
export interface Conversation extends Responder, Pick<Intake, "inbound" | "acceptJudged">, AsyncDisposable {
  /** `acceptJudged` for whoever takes the replies by itself; resolves when it was handed them. */
  dispatch(asked: Judged[0], verdict: Judged[1], context: Judged[2], reply: LiveReply): Promise<LiveEnd>;
  /** Takes up again what had no end when the process before this one ended. Call it when listeners are in place. */
  resume(): Promise<number>;
  /** Messages that are being accepted, wait or are answered. */
  running(): number;
  /** Stops a session: what runs is aborted, what waits is cancelled. */
  stop(sessionKey: string): Promise<{ readonly runIds: readonly string[]; readonly dropped: number }>;
  /** Messages that wait in a session. */
  depth(sessionKey: string): number;
  /** The chat that a turn answers; undefined for turns of clients. */
  chatOf(runId: string): { readonly address: ReplyAddress; readonly messageId: string } | undefined;
  /** Does something in a session while no turn of it runs; turns that come wait for it. */
  exclusively<T>(sessionKey: string, work: () => Promise<T>): Promise<T>;
}

const MOST_ROWS = 100_000;
const MAX_CONCURRENT = 4;

/** Turns that answer channels. */
interface ChannelDesk {
  /** Resolves to how many messages it took in while it ran. */
  run(batch: Batch, began: (turn: ActiveTurn) => void): Promise<number>;
  abort(meant: (run: ChannelRun) => boolean, reason: AbortReason): readonly string[];
  chatOf: Conversation["chatOf"];
}

function createChannelDesk(context: ChannelTurnContext): ChannelDesk {
  const runs = new Map<string, ChannelRun>();
  return {
    async run({ items, summarised }, began) {
      const own = items as unknown as readonly [ChannelItem, ...ChannelItem[]];
      const { sessionKey, agentId, resumedTurn } = own[0];
      const runId = resumedTurn ?? context.deps.ids.uuid();
      const resumed = resumedTurn !== undefined;
      const run: ChannelRun = { runId, sessionKey, agentId, items: own, summarised, resumed, abort: new AbortController(), steering: [], merged: [], over: false };
      runs.set(runId, run);
      began(activeTurn(run));
      await treatChannelRun(run, context);
      runs.delete(runId);
      endLives(run, context);
      return run.merged.length;
    },
    chatOf(runId) {
      const last = runs.get(runId)?.items.at(-1)!.messages.at(-1)!;
      return last && { address: last.address, messageId: last.event.id };
    },
    abort(meant, reason) {
      const reached = [...runs.values()].filter((run) => meant(run) && !run.abort.signal.aborted);
      for (const run of reached) {
        run.reason = reason;
        run.abort.abort();
      }
      return reached.map(({ runId }) => runId);
    },
  };
}

/** Messages of a channel that were in a turn come back as that turn; the others are looked at anew. */
function resumedChannels(rows: readonly InboxRow[], { config }: ConversationDeps): { readonly items: readonly ChannelItem[]; readonly fresh: readonly Inbound[] } {
  const inbounds = rows.flatMap((row) => inboundOf(row) ?? []);
  const claimed = inbounds.filter(({ turnId }) => turnId !== undefined);
  const items = [...Map.groupBy(claimed, ({ turnId }) => turnId!)].map(([resumedTurn, group]): ChannelItem => {
    const messages = group as [Inbound, ...Inbound[]];
    const { sessionKey, agentId, channel } = messages.at(-1)!;
    const text = messages.map((message) => message.text).join("\n");
    return { kind: "channel", sessionKey, agentId, messages, text, queue: queueSettings(config.current, undefined, channel), resumedTurn };
  });
  return { items, fresh: inbounds.filter(({ turnId }) => turnId === undefined) };
}

export function createConversation(deps: ConversationDeps): Conversation {
  const { store, config, log } = deps;
  const listeners = new Set<Parameters<Responder["onEvent"]>[0]>();
  const stopping = new AbortController();
  /** Messages of channels in the lanes. */
  let waiting = 0;

  const emit = ({ runId, sessionKey }: { readonly runId: string; readonly sessionKey: string }, event: RunEvent): void => {
    for (const listener of listeners) listener({ runId, sessionKey }, event);
  };
  const lives = createLiveReplies(deps);
  const context: ClientTurnContext & ChannelTurnContext = { deps, emit, stopping: stopping.signal, lives };
  const channels = createChannelDesk(context);
  const lanes: SessionLanes = createSessionLanes({
    clock: deps.clock,
    places: () => config.current.agents?.defaults?.maxConcurrent ?? MAX_CONCURRENT,
    async run(batch, began) {
      const [first] = batch.items;
      if (first.kind === "client") return clients.run(first.run);
      const merged = await channels.run(batch, began);
      waiting -= merged + [...batch.items, ...batch.summarised].flatMap(inboxIdsOf).length;
    },
    drop: (items, why) => void drop(items, why),
    leave(items) {
      for (const item of items) if (item.kind === "client") clients.leave(item.run);
    },
  });
  const clients: ClientDesk = createClientDesk(deps, context, lanes.add);
  const enqueue = (item: ChannelItem): void => {
    waiting += item.messages.length;
    lanes.add(item);
  };
  const dispatch = createDispatch(deps, lives, enqueue);
  const running = (): number => clients.size + dispatch.pending + waiting;
  const intake = createIntake(deps, { accepted: dispatch.add, open: running });

  /** Ends messages that nobody will answer. */
  async function drop(items: readonly LaneItem[], why: string): Promise<void> {
    for (const item of items) {
      if (item.kind === "client") {
        clients.abort(({ runId }) => runId === item.run.row.runId, "interrupt");
        void clients.run(item.run);
      } else {
        waiting -= item.messages.length;
        await store
          .write("inbox.settle", { ids: inboxIdsOf(item), outcome: "cancelled", why })
          .catch((error: unknown) => log.error(`the end of a message could not be written: ${messageOf(error)}`, { error }));
        lives.ended(inboxIdsOf(item));
      }
    }
  }

  function abort(target: { readonly sessionKey: string; readonly runId?: string }, reason: AbortReason): readonly string[] {
    const meant = ({ sessionKey, runId }: { readonly sessionKey: string; readonly runId: string }): boolean =>
      sessionKey === target.sessionKey && (target.runId === undefined || runId === target.runId);
    return [...clients.abort(meant, reason), ...channels.abort(meant, reason)];
  }

  return {
    inbound: intake.inbound,
    acceptJudged: intake.acceptJudged,
    dispatch: (asked, verdict, context, reply) => lives.taking(reply, (began) => intake.acceptJudged(asked, verdict, context, began)),
    accept: clients.accept,
    outcome: clients.outcome,
    abort,
    async stop(sessionKey) {
      const held = lanes.clear(sessionKey);
      const runIds = abort({ sessionKey }, "stop");
      await drop(held, "stopped by a command");
      return { runIds, dropped: held.length };
    },
    depth: lanes.depth,
    chatOf: channels.chatOf,
    onEvent(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async resume() {
      const rows = await store.read("inbox.open", { limit: MOST_ROWS });
      const asked = rows.flatMap((row) => runOfRow(row) ?? []).filter(({ runId }) => !clients.has(runId));
      const turns = rows.flatMap(({ turnId }) => (turnId === null ? [] : [turnId]));
      await closeOrphans(deps, new Set([...asked.map(({ runId }) => runId), ...turns]));
      for (const row of asked) clients.resume(row);
      const { items, fresh } = resumedChannels(rows, deps);
      for (const item of items) enqueue(item);
      for (const inbound of fresh) dispatch.add(inbound);
      return asked.length + items.length + fresh.length;
    },
    running,
    exclusively: lanes.exclusively,
    async [Symbol.asyncDispose]() {
      intake.close();
      await clients.close();
      const timer = deps.clock.after(deps.graceMs ?? 10_000, () => stopping.abort());
      await lanes.stop();
      timer[Symbol.dispose]();
      stopping.abort();
      lives.close();
    },
  };
}
