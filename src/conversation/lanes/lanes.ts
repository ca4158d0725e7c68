import type { Clock } from "../../base/clock.ts";
import type { OpenSession, OpenSessions } from "../../sessions/index.ts";
import type { Item } from "../item.ts";
import { createSerial } from "./order.ts";
import { createSessionLane, type ActiveTurn, type Batch, type SessionLane } from "./session-lane.ts";

/** A number of places that work has to wait for, first come first served. */
interface GlobalLane {
  /** Resolves with the place; give it back when the work is over. */
  enter(): Promise<Disposable>;
  readonly running: number;
  readonly waiting: number;
}

/** The number is asked each time: it may change while the gateway runs. */
function createGlobalLane(places: () => number): GlobalLane {
  const queue: (() => void)[] = [];
  let running = 0;

  function admit(): void {
    while (queue.length > 0 && running < Math.max(1, places())) {
      running += 1;
      queue.shift()!();
    }
  }

  return {
    enter() {
      const { promise, resolve } = Promise.withResolvers<Disposable>();
      let left = false;
      const leave = (): void => {
        if (left) return;
        left = true;
        running -= 1;
        admit();
      };
      queue.push(() => resolve({ [Symbol.dispose]: leave }));
      admit();
      return promise;
    },
    get running() {
      return running;
    },
    get waiting() {
      return queue.length;
    },
  };
}

export interface LanesDeps {
  readonly clock: Clock;
  /** What lanes hold of their sessions from turn to turn. */
  readonly sessions: OpenSessions;
  /** Turns that may run at once, over all sessions. */
  readonly places: () => number;
  /** No turn begins before this resolves; undefined when it has. Rejects when no turn will begin any more. */
  readonly gate?: (() => Promise<void> | undefined) | undefined;
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
  /** Ends the turn that runs in a session; what waits stays. */
  interrupt(sessionKey: string): void;
  /** False: what is added begins at once. */
  isBusy(sessionKey: string): boolean;
  depth(sessionKey: string): number;
  /** Does something in a session while no turn of it runs; turns that come wait for it. */
  exclusively<T>(sessionKey: string, work: (session: OpenSession) => Promise<T>): Promise<T>;
  /** Nothing new begins: what waits stays on disk. Resolves when what runs is over. */
  stop(): Promise<void>;
  readonly running: number;
}

export function createSessionLanes(deps: LanesDeps): SessionLanes {
  const serial = createSerial();
  const main = createGlobalLane(deps.places);
  const lanes = new Map<string, SessionLane>();
  let stopped = false;

  function laneOf(sessionKey: string): SessionLane {
    const known = lanes.get(sessionKey);
    if (known) return known;
    const lane: SessionLane = createSessionLane({
      clock: deps.clock,
      drop: deps.drop,
      start(batch) {
        serial.queue(sessionKey, async () => {
          const gate = deps.gate?.();
          const isOpen = gate
            ? await gate.then(
                () => true,
                () => false,
              )
            : true;
          using _place = await main.enter();
          if (stopped || !isOpen) return deps.leave(batch.items);
          await deps.run(batch, lane.began, deps.sessions.get(sessionKey));
          lane.ended();
          if (lane.isIdle) lanes.delete(sessionKey);
        });
      },
    });
    lanes.set(sessionKey, lane);
    return lane;
  }

  return {
    add: (item) => (stopped ? deps.leave([item]) : laneOf(item.sessionKey).add(item)),
    clear: (sessionKey, fits) => lanes.get(sessionKey)?.clear(fits) ?? [],
    interrupt: (sessionKey) => lanes.get(sessionKey)?.interrupt(),
    isBusy: (sessionKey) => lanes.get(sessionKey)?.isIdle === false,
    depth: (sessionKey) => lanes.get(sessionKey)?.depth ?? 0,
    exclusively: (sessionKey, work) => serial.exclusively(sessionKey, () => work(deps.sessions.get(sessionKey))),
    stop() {
      stopped = true;
      for (const lane of lanes.values()) deps.leave(lane.clear());
      return serial.idle();
    },
    get running() {
      return main.running;
    },
  };
}
