import type { Clock } from "../../../base/clock.ts";

/** How a run ended. */
export interface EndedRun {
  readonly status: "ok" | "error" | "aborted";
  readonly startedAt?: number;
  readonly endedAt: number;
  readonly error?: string;
}

/** Runs that ended in the last ten minutes. */
export interface EndedRuns {
  add(runId: string, ended: EndedRun): void;
  get(runId: string): EndedRun | undefined;
  /** Told when a run ends. */
  onEnd(listener: (runId: string, ended: EndedRun) => void): Disposable;
}

const KEEP_MS = 10 * 60_000;
const MAX = 1000;

export function createEndedRuns(clock: Pick<Clock, "now">): EndedRuns {
  /** Oldest first. */
  const runs = new Map<string, EndedRun>();
  const listeners = new Set<(runId: string, ended: EndedRun) => void>();
  return {
    add(runId, ended) {
      runs.delete(runId);
      runs.set(runId, ended);
      for (const [id, { endedAt }] of runs) {
        if (runs.size <= MAX && clock.now() - endedAt < KEEP_MS) break;
        runs.delete(id);
      }
      for (const listener of listeners) listener(runId, ended);
    },
    get: (runId) => runs.get(runId),
    onEnd(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
