import type { Clock } from "../../base/clock.ts";
import type { Deadlines } from "../../base/deadlines.ts";

/** A call with a budget. The links are stored in it, so that starting and ending costs no allocation. */
export interface Budgeted {
  due: number;
  lane: Lane | undefined;
  before: Budgeted | undefined;
  after: Budgeted | undefined;
  /** The budget is used up. Called at most once. */
  expire(): void;
}

/** All calls with the same budget, in the order of their start, which is the order of their end. */
interface Lane {
  readonly ms: number;
  head: Budgeted | undefined;
  tail: Budgeted | undefined;
  armed: boolean;
}

/**
 * Budgets of many calls on shared deadlines. Calls with the same budget end in the order in which they started, so that each length needs one
 * deadline, for the oldest call; a call that ends in time is unlinked without touching a timer.
 */
export interface Budgets {
  /** Starts the budget of a call that started at `now` (monotonic milliseconds). */
  start(call: Budgeted, ms: number, now: number): void;
  end(call: Budgeted): void;
}

export function createBudgets(clock: Clock, deadlines: Deadlines): Budgets {
  const lanes = new Map<number, Lane>();
  let recent: Lane | undefined;

  function laneOf(ms: number): Lane {
    if (recent?.ms === ms) return recent;
    let lane = lanes.get(ms);
    if (!lane) lanes.set(ms, (lane = { ms, head: undefined, tail: undefined, armed: false }));
    return (recent = lane);
  }

  function end(call: Budgeted): void {
    const { lane, before, after } = call;
    if (!lane) return;
    if (before) before.after = after;
    else lane.head = after;
    if (after) after.before = before;
    else lane.tail = before;
    call.lane = call.before = call.after = undefined;
  }

  function arm(lane: Lane, wait: number): void {
    lane.armed = true;
    deadlines.after(wait, () => {
      lane.armed = false;
      const now = clock.monotonic();
      for (let head = lane.head; head && head.due <= now; head = lane.head) {
        end(head);
        head.expire();
      }
      if (lane.head && !lane.armed) arm(lane, lane.head.due - now);
    });
  }

  return {
    start(call, ms, now) {
      const lane = laneOf(ms);
      call.due = now + ms;
      call.lane = lane;
      call.before = lane.tail;
      if (lane.tail) lane.tail.after = call;
      else lane.head = call;
      lane.tail = call;
      if (!lane.armed) arm(lane, ms);
    },
    end,
  };
}
