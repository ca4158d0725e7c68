import { AppError } from "../base/errors.ts";
import type { ReplyAddress } from "./address.ts";
import type { AbortReason, RunOutcome } from "./contract.ts";
import { inboxIdsOf, lastMessage, type Item } from "./item.ts";

/** Items from their acceptance to their end. */
export interface OpenItems {
  add(item: Item): void;
  /** One item takes the place of several. */
  replace(items: readonly Item[], joined: Item): void;
  /** It is at its end, and those that were merged into it; `hasTurn`: in a turn of its id. */
  end(item: Item, outcome: RunOutcome, hasTurn?: boolean): void;
  get(id: string): Item | undefined;
  /** Items of clients in a session. */
  clientsIn(sessionKey: string): number;
  /** With an id, or as a stop, also items that have not come to a lane. */
  abort(target: AbortTarget, reason: AbortReason): { readonly runIds: readonly string[]; readonly turns: number; readonly waiting: number };
  /** The chat that a turn answers; undefined for turns of clients. */
  chatOf(runId: string): { readonly address: ReplyAddress; readonly messageId: string } | undefined;
  /** Where a turn's answer is sent; undefined when only clients see it. */
  addressOf(runId: string): ReplyAddress | undefined;
  /** Messages in all. */
  readonly size: number;
}

export interface AbortTarget {
  readonly sessionKey: string;
  readonly runId?: string;
}

/** Waits for the end of an item, or until the caller gives up. */
export function outcomeOf({ id, outcome }: Item, signal: AbortSignal | undefined): Promise<RunOutcome> {
  if (!signal) return outcome.promise;
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = (): void => reject(new AppError("CANCELLED", `run ${id} is no longer waited for`));
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return Promise.race([outcome.promise, promise]).finally(() => signal.removeEventListener("abort", cancel));
}

const isInLane = ({ phase }: Item): boolean => phase === "queued" || phase === "running";

/** Of a channel's messages only those whose turn or command runs have an id that others know. */
const hasKnownId = ({ request, phase, into }: Item): boolean => request !== undefined || phase === "long" || (phase === "running" && !into);

/**
 * What ends the turns of a session does not reach an item before its lane: it may be the command that does so, and would wait for itself. A stop reaches
 * every item but other stops.
 */
const isReached = (item: Item, reason: AbortReason): boolean => isInLane(item) || (reason === "stop" && item.pace !== "stop" && item.phase !== "received");

/** `ended` is called with inputs that are at their end, and the turn that they were in. */
export function createOpenItems(ended: (inboxIds: readonly number[], runId: string | undefined) => void): OpenItems {
  const items = new Map<string, Item>();
  let size = 0;

  function add(item: Item): void {
    items.set(item.id, item);
    size += item.messages.length;
  }

  function remove(item: Item): void {
    if (items.delete(item.id)) size -= item.messages.length;
  }

  return {
    add,
    replace(parts, joined) {
      for (const part of parts) remove(part);
      add(joined);
    },
    end(item, outcome, hasTurn = false) {
      for (const one of [...item.merged, item]) {
        remove(one);
        one.outcome.resolve(outcome);
        if (!one.request) ended(inboxIdsOf(one), hasTurn ? item.id : undefined);
      }
    },
    get: (id) => items.get(id),
    clientsIn(sessionKey) {
      let count = 0;
      for (const item of items.values()) if (item.request && item.sessionKey === sessionKey) count += 1;
      return count;
    },
    abort({ sessionKey, runId }, reason) {
      const named = runId === undefined ? items.values().toArray() : [items.get(runId)];
      const reached = named.filter(
        (item): item is Item =>
          item?.sessionKey === sessionKey && (runId !== undefined || isReached(item, reason)) && !(item.into ?? item).abort.signal.aborted,
      );
      for (const item of reached) {
        const target = item.into ?? item;
        target.reason = reason;
        target.abort.abort();
      }
      const known = reached.filter(hasKnownId);
      return {
        runIds: known.map(({ id }) => id),
        turns: known.filter(isInLane).length,
        waiting: reached.filter((item) => !hasKnownId(item) && !isInLane(item)).length,
      };
    },
    chatOf(runId) {
      const item = items.get(runId);
      if (!item || item.request) return undefined;
      const { address, event } = lastMessage(item);
      return { address, messageId: event.id };
    },
    addressOf(runId) {
      const item = items.get(runId);
      return item?.request ? item.request.reply : item && lastMessage(item).address;
    },
    get size() {
      return size;
    },
  };
}
