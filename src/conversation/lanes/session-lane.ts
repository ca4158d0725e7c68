import type { Clock } from "../../base/clock.ts";
import type { QueueMode } from "../../sessions/index.ts";
import { isLate } from "../inbound.ts";
import { sameTurn, type Item } from "../item.ts";

/** What one turn treats: items that it answers, and some of which only a line is left. */
export interface Batch {
  readonly items: readonly [Item, ...Item[]];
  /** Dropped for want of room; they end with the turn. Of the same kind as the items. */
  readonly summarised: readonly Item[];
}

/** The turn that runs. */
export interface ActiveTurn {
  /** Shows an item to the model at its next step. False: it cannot, because the turn is over or answers someone else. */
  steer(item: Item): boolean;
  interrupt(): void;
  /** Items that were to be shown and were not. */
  unshown(): readonly Item[];
}

export interface SessionLaneDeps {
  readonly clock: Pick<Clock, "after" | "monotonic">;
  /** Begins a turn; resolves when the session's next may begin. It must not reject. */
  start(batch: Batch): void;
  /** Ends items that will not be treated. */
  drop(items: readonly Item[], why: string): void;
}

/** The messages of one session while a turn runs: what becomes of them is what its queue mode says. */
export interface SessionLane {
  add(item: Item): void;
  /** The turn that was begun runs. */
  began(turn: ActiveTurn): void;
  /** It is over: the next may begin. */
  ended(): void;
  /** Ends the turn that runs; what waits stays. */
  interrupt(): void;
  /** Gives what waits and forgets it; only what fits, when that is given. */
  clear(fits?: (item: Item) => boolean): readonly Item[];
  readonly depth: number;
  readonly isIdle: boolean;
}

/**
 * How an item is queued. A client waits for the answer to each of its messages, so they are answered one by one unless a mode was chosen: then it
 * applies as it does to channels. Callers whose text is only text (HTTP, other sessions) always get an answer of their own.
 */
function modeOf({ queue, request }: Item): QueueMode {
  const { value, source } = queue.mode;
  if (!request) return value;
  // What the gateway itself reports interrupts nothing.
  if (request.kind !== undefined || source === "default") return "followup";
  return request.scopes !== undefined || value === "interrupt" ? value : "followup";
}

/** Whether the quiet time and the cap of the queue apply. */
const isQueued = ({ queue, request }: Item): boolean => !request || (queue.mode.source !== "default" && request.scopes !== undefined);

/** What waited on the platform is merged, and nothing of it is dropped: the cap does not apply. */
const isBacklog = ({ messages, request }: Item): boolean => !request && messages.every(({ event, receivedAt }) => isLate(event, receivedAt));

/** What waits in a lane, inside of its cap. */
interface Held {
  items: Item[];
  /** Of which only a line is left. */
  summarised: Item[];
}

/** Keeps the queue inside its cap. False: the item itself has to go. */
function makeRoom(held: Held, item: Item, drop: SessionLaneDeps["drop"]): boolean {
  const waiting = held.items.filter((one) => isQueued(one) && !isBacklog(one));
  const cap = item.queue.cap.value;
  if (waiting.length < cap) return true;
  if (item.queue.drop.value === "new") {
    drop([item], `the queue is full (${cap}) and keeps what came first`);
    return false;
  }
  const oldest = waiting[0]!;
  held.items = held.items.filter((one) => one !== oldest);
  if (item.queue.drop.value === "old") drop([oldest], `the queue is full (${cap}) and keeps what came last`);
  else held.summarised.push(oldest);
  return true;
}

/** The first item, and with it those that can be answered together. */
function takeBatch(held: Held): Batch | undefined {
  const [first] = held.items;
  if (!first) return undefined;
  // A turn that a previous process began goes on with the messages it began with.
  const isCollecting = modeOf(first) === "collect" && !first.hasBegun;
  const together = isCollecting ? held.items.findIndex((item) => item !== first && (item.hasBegun || !sameTurn(item, first))) : 1;
  const items = held.items.splice(0, together === -1 ? held.items.length : together);
  const summarised = isQueued(first) ? held.summarised.filter(({ request }) => (request === undefined) === (first.request === undefined)) : [];
  held.summarised = held.summarised.filter((item) => !summarised.includes(item));
  return { items: items as [Item, ...Item[]], summarised };
}

export function createSessionLane({ clock, start, drop }: SessionLaneDeps): SessionLane {
  let held: Held = { items: [], summarised: [] };
  let busy = false;
  let active: ActiveTurn | undefined;
  let timer: Disposable | undefined;
  let quietFrom = 0;

  function begin(batch: Batch): void {
    busy = true;
    start(batch);
  }

  function rest(): void {
    timer?.[Symbol.dispose]();
    timer = undefined;
  }

  function next(): void {
    rest();
    const [first] = held.items;
    if (busy || !first) return;
    const wait = !isQueued(first) ? 0 : quietFrom + first.queue.debounceMs.value - clock.monotonic();
    if (wait > 0) timer = clock.after(wait, next);
    else begin(takeBatch(held)!);
  }

  function hold(item: Item): void {
    if (isQueued(item) && !isBacklog(item) && !makeRoom(held, item, drop)) return;
    held.items.push(item);
    quietFrom = clock.monotonic();
    if (!busy) next();
  }

  function interrupt(item: Item): void {
    drop([...held.items, ...held.summarised], "a newer message came");
    held = { items: [item], summarised: [] };
    active?.interrupt();
    if (!busy) next();
  }

  return {
    add(item) {
      if (!busy && held.items.length === 0) return begin({ items: [item], summarised: [] });
      const mode = modeOf(item);
      if (mode === "interrupt") return interrupt(item);
      const steered = (mode === "steer" || mode === "steer-backlog") && active?.steer(item) === true;
      if (!steered || mode === "steer-backlog") hold(item);
    },
    began(turn) {
      active = turn;
    },
    ended() {
      busy = false;
      // What the model did not come to see is answered next, before what came later.
      held.items.unshift(...(active?.unshown().filter((item) => !held.items.includes(item)) ?? []));
      active = undefined;
      next();
    },
    interrupt: () => active?.interrupt(),
    clear(fits = () => true) {
      rest();
      const all = [...held.summarised, ...held.items].filter(fits);
      held = { items: held.items.filter((item) => !all.includes(item)), summarised: held.summarised.filter((item) => !all.includes(item)) };
      if (!busy) next();
      return all;
    },
    get depth() {
      return held.items.length + held.summarised.length;
    },
    get isIdle() {
      return !busy && held.items.length === 0 && held.summarised.length === 0;
    },
  };
}
