import type { ReplyAddress } from "../address.ts";
import type { ChannelItem } from "../lanes/item.ts";
import type { ActiveTurn, Batch } from "../lanes/session-lane.ts";
import { activeTurn, endLives, treatChannelRun, type ChannelRun, type ChannelTurnContext } from "./channel-turn.ts";
import type { AbortReason } from "./run.ts";

/** Turns that answer channels. */
export interface ChannelDesk {
  /** Resolves to how many messages it took in while it ran. */
  run(batch: Batch, began: (turn: ActiveTurn) => void): Promise<number>;
  abort(meant: (run: ChannelRun) => boolean, reason: AbortReason): readonly string[];
  /** Resolves when a turn has ended; undefined when none of that id runs. */
  ended(runId: string): Promise<unknown> | undefined;
  /** The chat that a turn answers. */
  chatOf(runId: string): { readonly address: ReplyAddress; readonly messageId: string } | undefined;
}

export function createChannelDesk(context: ChannelTurnContext): ChannelDesk {
  const runs = new Map<string, ChannelRun>();
  const ends = new Map<string, PromiseWithResolvers<void>>();
  return {
    async run({ items, summarised }, began) {
      const own = items as unknown as readonly [ChannelItem, ...ChannelItem[]];
      const { sessionKey, agentId, resumedTurn } = own[0];
      const runId = resumedTurn ?? context.deps.ids.uuid();
      const resumed = resumedTurn !== undefined;
      const run: ChannelRun = {
        runId,
        sessionKey,
        agentId,
        items: own,
        summarised: summarised.filter((item) => item.kind === "channel"),
        resumed,
        abort: new AbortController(),
        steering: [],
        taken: new Set(),
        merged: [],
        shown: { texts: [], isChanged: false, before: undefined, isAllOut: false },
        over: false,
      };
      runs.set(runId, run);
      const end = Promise.withResolvers<void>();
      ends.set(runId, end);
      began(activeTurn(run));
      await treatChannelRun(run, context);
      runs.delete(runId);
      ends.delete(runId);
      end.resolve();
      endLives(run, context);
      return run.merged.length;
    },
    ended: (runId) => ends.get(runId)?.promise,
    chatOf(runId) {
      const last = runs.get(runId)?.items.at(-1)?.messages.at(-1);
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
