/** Each session has one lane, in which one turn runs at a time. */
import type { Clock } from "../base/clock.ts";
import type { QueueMode, OpenSession, OpenSessions } from "../sessions/index.ts";
import { isLate } from "./inbound.ts";
import { sameTurn, type Item } from "./items.ts";
import type { ConversationDeps } from "./ports.ts";
import { createSlots, type Slots } from "./slots.ts";

/** Work that goes on one after the other under one name, and side by side under different ones. */
interface Serial {
  /** Runs it when what was queued under the name before is over. It must not reject. */
  queue(name: string, work: () => Promise<void>): void;
  /** The same for work whose end is waited for. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is queued any more. */
  idle(): Promise<void>;
}

export function createSerial(): Serial {
  const lanes = new Map<string, Promise<void>>();

  function queue(name: string, work: () => Promise<void>): void {
    const before = lanes.get(name) ?? Promise.resolve();
    const lane = before.then(work).finally(() => lanes.get(name) === lane && lanes.delete(name));
    lanes.set(name, lane);
  }

  return {
    queue,
    exclusively: (name, work) =>
      new Promise((resolve, reject) => {
        queue(name, () => work().then(resolve, reject));
      }),
    async idle() {
      while (lanes.size > 0) await Promise.all(lanes.values());
    },
  };
}

/** What one turn treats: items that it answers, and some of which only a line is left. */
export interface Batch {
  readonly items: readonly [Item, ...Item[]];
  /** Dropped because the queue was full; they end with the turn. Of the same kind as the items. */
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

interface SessionLaneDeps {
  readonly clock: Pick<Clock, "after" | "monotonic">;
  /** Begins a turn; resolves when the session's next may begin. It must not reject. */
  start(batch: Batch): void;
  /** Ends items that will not be treated. */
  drop(items: readonly Item[], why: string): void;
}

/** The messages of one session while a turn runs: what becomes of them is what its queue mode says. */
export interface SessionLane {
  add(item: Item): void;
  /** The turn that was begun is running. */
  began(turn: ActiveTurn): void;
  /** It is over: the next may begin. */
  ended(): void;
  /** Shows a message that waits to the turn that runs. False: none such waits, or the turn does not take it, and it goes on waiting. */
  steer(fits: (item: Item) => boolean): boolean;
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
function makeSpace(held: Held, item: Item, drop: SessionLaneDeps["drop"]): boolean {
  const waiting = held.items.filter((one) => isQueued(one) && !isBacklog(one));
  const cap = item.queue.cap.value;
  if (waiting.length < cap) return true;
  if (item.queue.drop.value === "new") {
    drop([item], `the queue is full (${cap}); newer messages are dropped`);
    return false;
  }
  const [oldest] = waiting;
  if (!oldest) return true;
  held.items = held.items.filter((one) => one !== oldest);
  if (item.queue.drop.value === "old") drop([oldest], `the queue is full (${cap}); older messages are dropped`);
  else held.summarised.push(oldest);
  return true;
}

/** The first item, and with it those that can be answered together. */
function takeBatch(held: Held, first: Item): Batch {
  // A turn that a previous process began goes on with the messages it began with.
  const isCollecting = modeOf(first) === "collect" && !first.hasBegun;
  const together = isCollecting ? held.items.findIndex((item) => item !== first && (item.hasBegun || !sameTurn(item, first))) : 1;
  const others = held.items.splice(0, together === -1 ? held.items.length : together).slice(1);
  const summarised = isQueued(first) ? held.summarised.filter(({ request }) => (request === undefined) === (first.request === undefined)) : [];
  held.summarised = held.summarised.filter((item) => !summarised.includes(item));
  return { items: [first, ...others], summarised };
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
    else begin(takeBatch(held, first));
  }

  function hold(item: Item): void {
    if (isQueued(item) && !isBacklog(item) && !makeSpace(held, item, drop)) return;
    held.items.push(item);
    quietFrom = clock.monotonic();
    if (!busy) next();
  }

  function interrupt(item: Item): void {
    drop([...held.items, ...held.summarised], "replaced by a newer message");
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
    steer(fits) {
      const item = held.items.find(fits);
      if (!item || active?.steer(item) !== true) return false;
      held.items = held.items.filter((one) => one !== item);
      return true;
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

interface LanesDeps {
  readonly clock: Clock;
  /** What lanes hold of their sessions from turn to turn. */
  readonly sessions: OpenSessions;
  /** Says how many turns may run at once, over all sessions. */
  readonly config: ConversationDeps["config"];
  /** No turn begins before this resolves; undefined when it has. Rejects when no turn will begin any more. */
  readonly untilPlugins?: ConversationDeps["untilPlugins"];
  /** Runs a turn to its end. It must not reject. `began` gives the lane a hold of it. */
  run(batch: Batch, began: (turn: ActiveTurn) => void, session: OpenSession): Promise<void>;
  drop(items: readonly Item[], why: string): void;
  /** Items that this process will not come to: they are on disk for the next. */
  leave(items: readonly Item[]): void;
}

/** Each session has one lane, in which one turn runs at a time; over all of them only so many do. */
export interface SessionLanes {
  add(item: Item): void;
  /** Takes back what waits in a session; only what fits, when that is given. */
  clear(sessionKey: string, fits?: (item: Item) => boolean): readonly Item[];
  /** Shows a message that waits in a session to the turn that runs there. */
  steer(sessionKey: string, fits: (item: Item) => boolean): boolean;
  /** Ends the turn that runs in a session; what waits stays. */
  interrupt(sessionKey: string): void;
  /** False: what is added begins at once. */
  isBusy(sessionKey: string): boolean;
  depth(sessionKey: string): number;
  /** Does something in a session while no turn of it runs; turns that come wait for it. */
  exclusively<T>(sessionKey: string, work: (session: OpenSession) => Promise<T>): Promise<T>;
  /** Nothing new begins: what waits stays on disk. Resolves when what runs is over. */
  stop(): Promise<void>;
  readonly withoutSlot: Slots["withoutSlot"];
  readonly running: number;
}

export function createSessionLanes(deps: LanesDeps): SessionLanes {
  const serial = createSerial();
  const lanes = new Map<string, SessionLane>();
  const slots = createSlots(deps.config);
  let stopped = false;

  function laneOf(sessionKey: string): SessionLane {
    const known = lanes.get(sessionKey);
    if (known) return known;
    const lane: SessionLane = createSessionLane({
      clock: deps.clock,
      drop: deps.drop,
      start(batch) {
        serial.queue(sessionKey, async () => {
          const gate = deps.untilPlugins?.();
          const isOpen = gate
            ? await gate.then(
                () => true,
                () => false,
              )
            : true;
          await slots.inSlot(batch.items[0], async () => {
            if (stopped || !isOpen) return deps.leave(batch.items);
            await deps.run(batch, lane.began, deps.sessions.get(sessionKey));
            lane.ended();
            if (lane.isIdle) lanes.delete(sessionKey);
          });
        });
      },
    });
    lanes.set(sessionKey, lane);
    return lane;
  }

  return {
    add(item) {
      item.phase = "queued";
      if (stopped) deps.leave([item]);
      else laneOf(item.sessionKey).add(item);
    },
    clear: (sessionKey, fits) => lanes.get(sessionKey)?.clear(fits) ?? [],
    steer: (sessionKey, fits) => lanes.get(sessionKey)?.steer(fits) ?? false,
    interrupt: (sessionKey) => lanes.get(sessionKey)?.interrupt(),
    isBusy: (sessionKey) => lanes.get(sessionKey)?.isIdle === false,
    depth: (sessionKey) => lanes.get(sessionKey)?.depth ?? 0,
    withoutSlot: slots.withoutSlot,
    exclusively: (sessionKey, work) => serial.exclusively(sessionKey, () => work(deps.sessions.get(sessionKey))),
    stop() {
      stopped = true;
      for (const lane of lanes.values()) deps.leave(lane.clear());
      return serial.idle();
    },
    get running() {
      return slots.running;
    },
  };
}
