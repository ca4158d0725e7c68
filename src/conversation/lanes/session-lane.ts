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
  return source !== "default" && (value === "interrupt" || value === "followup") ? value : "followup";
}

export function createSessionLane({ clock, start, drop }: SessionLaneDeps): SessionLane {
  let held: LaneItem[] = [];
  let summarised: ChannelItem[] = [];
  let busy = false;
  let active: ActiveTurn | undefined;
  let timer: Disposable | undefined;
  let quietFrom = 0;

  function begin(batch: Batch): void {
    busy = true;
    start(batch);
  }

  /** The first item, and with it those that can be answered together. */
  function take(): Batch | undefined {
    const [first] = held;
    if (!first) return undefined;
    const together = first.kind === "channel" && modeOf(first) === "collect" ? held.findIndex((item) => item.kind !== "channel" || !sameAddress(item, first)) : 1;
    const items = held.splice(0, together === -1 ? held.length : together);
    const lines = first.kind === "channel" ? summarised : [];
    if (first.kind === "channel") summarised = [];
    return { items: items as [LaneItem, ...LaneItem[]], summarised: lines };
  }

  function next(): void {
    timer?.[Symbol.dispose]();
    timer = undefined;
    if (busy || held.length === 0) return;
    const first = held[0]!;
    const wait = first.kind === "client" ? 0 : quietFrom + first.queue.debounceMs.value - clock.monotonic();
    if (wait > 0) timer = clock.after(wait, next);
    else begin(take()!);
  }

  /** Keeps the queue inside its cap. False: the item itself has to go. */
  function makeRoom(item: ChannelItem): boolean {
    const waiting = held.filter((one) => one.kind === "channel");
    if (waiting.length < item.queue.cap.value) return true;
    if (item.queue.drop.value === "new") {
      drop([item], `the queue is full (${item.queue.cap.value}) and keeps what came first`);
      return false;
    }
    const oldest = waiting[0]!;
    held = held.filter((one) => one !== oldest);
    if (item.queue.drop.value === "old") drop([oldest], `the queue is full (${item.queue.cap.value}) and keeps what came last`);
    else summarised.push(oldest);
    return true;
  }

  function hold(item: LaneItem): void {
    if (item.kind === "channel" && !makeRoom(item)) return;
    held.push(item);
    quietFrom = clock.monotonic();
    if (!busy) next();
  }

  return {
    add(item) {
      if (!busy && held.length === 0) return begin({ items: [item], summarised: [] });
      const mode = modeOf(item);
      if (mode === "interrupt") {
        drop([...held, ...summarised], "a newer message came");
        [held, summarised] = [[item], []];
        active?.interrupt();
        return void (busy || next());
      }
      const steered = item.kind === "channel" && (mode === "steer" || mode === "steer-backlog") && active?.steer(item) === true;
      if (!steered || mode === "steer-backlog") hold(item);
    },
    began(turn) {
      active = turn;
    },
    ended() {
      busy = false;
      // What the model did not come to see is answered next, before what came later.
      const left = active?.unshown().filter((item) => !held.includes(item)) ?? [];
      held.unshift(...left);
      active = undefined;
      next();
    },
    clear() {
      timer?.[Symbol.dispose]();
      timer = undefined;
      const all = [...summarised, ...held];
      [held, summarised] = [[], []];
      return all;
    },
    get depth() {
      return held.length + summarised.length;
    },
    get isIdle() {
      return !busy && held.length === 0 && summarised.length === 0;
    },
  };
}
