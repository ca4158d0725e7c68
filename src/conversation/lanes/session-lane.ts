import type { Clock } from "../../base/clock.ts";
import type { QueueMode } from "../../sessions/index.ts";
import { sameAddress, type ChannelItem, type LaneItem } from "./item.ts";

/** What one turn treats: items that it answers, and some of which only a line is left. */
export interface Batch {
  readonly items: readonly [LaneItem, ...LaneItem[]];
  /** Dropped for want of room; they end with the turn. */
  readonly summarised: readonly ChannelItem[];
}

/** The turn that runs. */
export interface ActiveTurn {
  /** Shows an item to the model at its next step. False: it cannot any more. */
  steer(item: ChannelItem): boolean;
  interrupt(): void;
  /** Items that were to be shown and were not. */
  unshown(): readonly ChannelItem[];
}

export interface SessionLaneDeps {
  readonly clock: Pick<Clock, "after" | "monotonic">;
  /** Begins a turn; resolves when the session's next may begin. It must not reject. */
  start(batch: Batch): void;
  /** Ends items that will not be treated. */
  drop(items: readonly LaneItem[], why: string): void;
}

/** The messages of one session while a turn runs: what becomes of them is what its queue mode says. */
export interface SessionLane {
  add(item: LaneItem): void;
  /** The turn that was begun runs. */
  began(turn: ActiveTurn): void;
  /** It is over: the next may begin. */
  ended(): void;
  /** Gives what waits and forgets it. */
  clear(): readonly LaneItem[];
  readonly depth: number;
  readonly isIdle: boolean;
}

/** A client waits for the answer to each of its messages, so that they are not put together; where a mode was chosen by name it holds. */
function modeOf(item: LaneItem): QueueMode {
  const { value, source } = item.queue.mode;
  if (item.kind === "channel") return value;
  // What the gateway itself has to tell does not break in on anybody.
  if (item.run.row.kind !== undefined) return "followup";
  return source !== "default" && (value === "interrupt" || value === "followup") ? value : "followup";
}

/** What waits in a lane, inside of its cap. */
interface Held {
  items: LaneItem[];
  /** Of which only a line is left. */
  summarised: ChannelItem[];
}

/** Keeps the queue inside its cap. False: the item itself has to go. */
function makeRoom(held: Held, item: ChannelItem, drop: SessionLaneDeps["drop"]): boolean {
  const waiting = held.items.filter((one) => one.kind === "channel");
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
  const collects = first.kind === "channel" && modeOf(first) === "collect";
  const together = collects ? held.items.findIndex((item) => item.kind !== "channel" || !sameAddress(item, first)) : 1;
  const items = held.items.splice(0, together === -1 ? held.items.length : together);
  const summarised = first.kind === "channel" ? held.summarised : [];
  if (first.kind === "channel") held.summarised = [];
  return { items: items as [LaneItem, ...LaneItem[]], summarised };
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
    const wait = first.kind === "client" ? 0 : quietFrom + first.queue.debounceMs.value - clock.monotonic();
    if (wait > 0) timer = clock.after(wait, next);
    else begin(takeBatch(held)!);
  }

  function hold(item: LaneItem): void {
    if (item.kind === "channel" && !makeRoom(held, item, drop)) return;
    held.items.push(item);
    quietFrom = clock.monotonic();
    if (!busy) next();
  }

  function interrupt(item: LaneItem): void {
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
      const steered = item.kind === "channel" && (mode === "steer" || mode === "steer-backlog") && active?.steer(item) === true;
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
    clear() {
      rest();
      const all = [...held.summarised, ...held.items];
      held = { items: [], summarised: [] };
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
