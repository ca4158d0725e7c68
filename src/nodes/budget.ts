import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";

/** Events that begin turns are few; the others report. Per minute, and as many at once. */
const PER_MINUTE = { turns: 30, others: 240 };
const TURNS: ReadonlySet<string> = new Set(["voice.transcript", "agent.request", "exec.started", "exec.denied", "exec.finished"]);
const MOST_NODES = 2000;

interface Budget {
  credit: number;
  at: number;
}

/** How many events each node may send. It holds over reconnects. */
export interface Budgets {
  /** Throws `OVERLOADED` when there is nothing left. */
  take(nodeId: string, event: string): void;
}

/** `what` names the events in the error. */
export function createBudgets(clock: Pick<Clock, "monotonic">, { what = "events of this node", perMinute = PER_MINUTE } = {}): Budgets {
  const budgets = new Map<string, Budget>();
  return {
    take(nodeId, event) {
      const kind = TURNS.has(event) ? "turns" : "others";
      const most = perMinute[kind];
      const key = `${kind}:${nodeId}`;
      const now = clock.monotonic();
      const { credit, at } = budgets.get(key) ?? { credit: most, at: now };
      const left = Math.min(most, credit + ((now - at) * most) / 60_000);
      budgets.delete(key);
      for (const oldest of budgets.keys()) {
        if (budgets.size < MOST_NODES) break;
        budgets.delete(oldest);
      }
      budgets.set(key, { credit: left < 1 ? left : left - 1, at: now });
      if (left >= 1) return;
      const retryAfterMs = Math.ceil(((1 - left) * 60_000) / most);
      throw new AppError("OVERLOADED", `too many ${what} (${most} per minute); retry after ${Math.ceil(retryAfterMs / 1000)} s`, {
        details: { retryAfterMs },
      });
    },
  };
}
