import type { Clock } from "../../../src/base/clock.ts";
import { Refusal, type Update } from "./objects.ts";

/** These come only to those who ask for them by name. */
const ONLY_ASKED = new Set(["chat_member", "message_reaction", "message_reaction_count"]);
const OTHER_POLLER = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
const DAY_MS = 86_400_000;

interface Kept {
  readonly update: Update;
  readonly at: number;
  /** Comes once more, though it was confirmed. */
  again: boolean;
}

export interface Poll {
  readonly offset: number | undefined;
  readonly limit: number;
  readonly timeoutMs: number;
  /** Fires when the caller is gone. */
  readonly gone: AbortSignal;
}

/** What waits to be fetched or sent to the bot. */
export interface Updates {
  /** The id; undefined when the bot does not want this kind. */
  put(kind: string, body: object): number | undefined;
  putRaw(update: Omit<Update, "update_id"> & { readonly update_id?: number }): number;
  /** The same update comes once more, whatever was confirmed. */
  again(updateId: number): void;
  poll(poll: Poll): Promise<readonly Update[]>;
  /** Ends the poll that waits. */
  endPoll(why: Refusal): void;
  allow(kinds: readonly string[] | undefined): void;
  readonly allowed: readonly string[] | undefined;
  /** The first that waits, for the webhook. */
  first(): Update | undefined;
  done(updateId: number): void;
  clear(): void;
  readonly count: number;
  /** A poll waits right now. */
  readonly polling: boolean;
  onPut(listener: () => void): void;
}

export function createUpdates(clock: Clock, firstId: number): Updates {
  let kept: Kept[] = [];
  const past = new Map<number, Update>();
  let nextId = firstId;
  let allowed: readonly string[] | undefined;
  let waiting: { wake(): void; refuse(why: Refusal): void } | undefined;
  const listeners: (() => void)[] = [];

  function keep(update: Update, again: boolean): void {
    past.set(update.update_id, update);
    kept.push({ update, at: clock.now(), again });
    kept.sort((a, b) => Number(b.again) - Number(a.again) || a.update.update_id - b.update.update_id);
    waiting?.wake();
    for (const listener of listeners) listener();
  }

  /** What is there for an offset; what lies before it is confirmed by that. */
  function take(offset: number | undefined, limit: number): readonly Update[] {
    kept = kept.filter(({ at }) => at > clock.now() - DAY_MS);
    if (offset !== undefined && offset < 0) kept = kept.slice(offset);
    else if (offset !== undefined) kept = kept.filter(({ update, again }) => again || update.update_id >= offset);
    const given = kept.slice(0, limit);
    const once = new Set(given.filter(({ again }) => again));
    kept = kept.filter((one) => !once.has(one));
    return given.map(({ update }) => update);
  }

  function wait({ offset, limit, timeoutMs, gone }: Poll): Promise<readonly Update[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Update[]>();
    const timer = clock.after(timeoutMs, () => resolve([]));
    const mine = {
      wake: () => void setImmediate(() => waiting === mine && resolve(take(offset, limit))),
      refuse: (why: Refusal) => reject(why),
    };
    const leave = (): void => resolve([]);
    gone.addEventListener("abort", leave, { once: true });
    waiting = mine;
    return promise.finally(() => {
      timer[Symbol.dispose]();
      gone.removeEventListener("abort", leave);
      if (waiting === mine) waiting = undefined;
    });
  }

  return {
    put(kind, body) {
      if (allowed ? !allowed.includes(kind) : ONLY_ASKED.has(kind)) return undefined;
      const update_id = nextId++;
      keep({ update_id, [kind]: body }, false);
      return update_id;
    },
    putRaw(update) {
      const update_id = update.update_id ?? nextId++;
      nextId = Math.max(nextId, update_id + 1);
      keep({ ...update, update_id }, false);
      return update_id;
    },
    again(updateId) {
      const update = past.get(updateId);
      if (!update) throw new Error(`there was no update ${updateId}`);
      keep(update, true);
    },
    async poll(poll) {
      waiting?.refuse(new Refusal(409, OTHER_POLLER));
      const there = take(poll.offset, poll.limit);
      return there.length > 0 || poll.timeoutMs === 0 ? there : wait(poll);
    },
    endPoll: (why) => waiting?.refuse(why),
    allow(kinds) {
      if (kinds) allowed = kinds.length > 0 ? kinds : undefined;
    },
    get allowed() {
      return allowed;
    },
    first: () => kept[0]?.update,
    done(updateId) {
      const at = kept.findIndex(({ update }) => update.update_id === updateId);
      if (at >= 0) kept.splice(at, 1);
    },
    clear() {
      kept = [];
    },
    get count() {
      return kept.length;
    },
    get polling() {
      return waiting !== undefined;
    },
    onPut: (listener) => void listeners.push(listener),
  };
}
