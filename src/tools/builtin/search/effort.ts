import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../../base/clock.ts";
import type { FileToolsDeps } from "../files/paths.ts";

export interface SearchToolsDeps extends FileToolsDeps {
  readonly clock: Clock;
  readonly patience?: Partial<Patience>;
}

/** Milliseconds after which a search ends with what it has. */
export interface Patience {
  /** The whole call. */
  readonly totalMs: number;
  /** The pattern on one block of lines. */
  readonly blockMs: number;
}

const PATIENCE: Patience = { totalMs: 30_000, blockMs: 2000 };
/** Work is done in pieces of this many milliseconds, so that others have their turn. */
const TURN_MS = 8;

export function patienceOf({ patience }: SearchToolsDeps): Patience {
  return { ...PATIENCE, ...patience };
}

/** What one call may cost. */
export interface Effort {
  readonly signal: AbortSignal;
  /** False when the time is used up. Lets others run now and then; throws when the call was stopped. */
  goOn(): Promise<boolean>;
  /** Why the search ended early, in words; the first one counts. */
  stop(why: string): void;
  readonly stopped: string | undefined;
}

export function createEffort(clock: Clock, signal: AbortSignal, totalMs: number): Effort {
  const started = clock.monotonic();
  let turn = started;
  let stopped: string | undefined;
  return {
    signal,
    async goOn() {
      const now = clock.monotonic();
      if (now - turn >= TURN_MS) {
        await setImmediate();
        turn = clock.monotonic();
      }
      signal.throwIfAborted();
      if (now - started >= totalMs) stopped ??= `Stopped after ${totalMs / 1000} s: choose a smaller folder`;
      return stopped === undefined;
    },
    stop(why) {
      stopped ??= why;
    },
    get stopped() {
      return stopped;
    },
  };
}
