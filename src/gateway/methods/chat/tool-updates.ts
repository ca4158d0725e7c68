import type { Clock } from "../../../base/clock.ts";
import type { ToolEvent } from "../../ports.ts";

type Update = Extract<ToolEvent, { phase: "update" }>;

/** At least between two updates of one call. */
const EVERY_MS = 150;

interface Call {
  at: number;
  /** The newest, when it came too soon. */
  held?: Update | undefined;
  timer?: Disposable | undefined;
}

/** Updates of tools at a bounded rate. Each says how its call stands now, so that only the newest counts; a result ends them. */
export interface ToolUpdates extends Disposable {
  push(update: Update): void;
  /** The call has its result. */
  end(toolCallId: string): void;
}

export function createToolUpdates(clock: Pick<Clock, "monotonic" | "after">, tell: (update: Update) => void): ToolUpdates {
  const calls = new Map<string, Call>();

  function send(call: Call, update: Update): void {
    call.at = clock.monotonic();
    call.held = undefined;
    tell(update);
  }

  return {
    push(update) {
      let call = calls.get(update.toolCallId);
      if (!call) calls.set(update.toolCallId, (call = { at: Number.NEGATIVE_INFINITY }));
      const known = call;
      const waitMs = known.at + EVERY_MS - clock.monotonic();
      if (waitMs <= 0 && !known.timer) return send(known, update);
      known.held = update;
      known.timer ??= clock.after(waitMs, () => {
        known.timer = undefined;
        if (known.held) send(known, known.held);
      });
    },
    end(toolCallId) {
      calls.get(toolCallId)?.timer?.[Symbol.dispose]();
      calls.delete(toolCallId);
    },
    [Symbol.dispose]() {
      for (const { timer } of calls.values()) timer?.[Symbol.dispose]();
      calls.clear();
    },
  };
}
