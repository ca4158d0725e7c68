import type { Clock } from "../../src/base/clock.ts";
import type { Responder, RunOutcome } from "../../src/gateway/ports.ts";

/** How one run goes. */
export interface RunScript {
  readonly status: "ok" | "error";
  readonly takesMs: number;
}

interface Running {
  readonly endsAt: number;
  readonly end: () => void;
}

/** An agent whose runs take as long, and end as, a script says. */
export interface ScriptedRuns extends Pick<Responder, "accept" | "outcome"> {
  use(clock: Clock): void;
  /** The runs from here on, in order; the last one repeats. */
  follow(script: readonly RunScript[]): void;
  /** How many have not ended. */
  open(): number;
  nextEnd(): number | undefined;
  /** Resolves with the next one that is accepted. */
  accepted(): Promise<void>;
  endAll(): void;
}

export function scriptedRuns(): ScriptedRuns {
  const outcomes = new Map<string, Promise<RunOutcome>>();
  const running = new Set<Running>();
  let clock: Clock | undefined;
  let script: readonly RunScript[] = [];
  let count = 0;
  let waiting = Promise.withResolvers<void>();
  return {
    use: (used) => void (clock = used),
    follow(next) {
      [script, count] = [next, 0];
    },
    open: () => running.size,
    nextEnd: () => (running.size === 0 ? undefined : Math.min(...[...running].map(({ endsAt }) => endsAt))),
    accepted: () => waiting.promise,
    endAll() {
      for (const { end } of running) end();
    },
    async accept({ runId }) {
      if (!clock) throw new Error("scriptedRuns has no clock");
      const { status, takesMs } = script[Math.min(count++, script.length - 1)]!;
      const { promise, resolve } = Promise.withResolvers<RunOutcome>();
      outcomes.set(runId, promise);
      const one: Running = {
        endsAt: clock.now() + takesMs,
        end() {
          if (!running.delete(one)) return;
          if (status === "error") resolve({ status, error: "the script says so" });
          else resolve({ status, text: "done", sessionId: "s", durationMs: takesMs });
        },
      };
      running.add(one);
      clock.after(takesMs, one.end);
      waiting.resolve();
      waiting = Promise.withResolvers();
      return { runId, duplicate: false };
    },
    outcome: async (runId) => outcomes.get(runId),
  };
}
