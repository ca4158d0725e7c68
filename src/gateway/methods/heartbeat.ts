import type { EventPayload, MethodResult } from "../../protocol/index.ts";
import type { HandlersOf } from "./handler.ts";

/** Heartbeats, as the methods need them. */
export interface HeartbeatPort {
  last(): Promise<EventPayload<"heartbeat"> | null>;
  setEnabled(enabled: boolean): void;
  /** What became of the hooks from files. */
  hooks(): MethodResult<"hooks.status">["hooks"];
  /** Queues a line for the main session, on disk, and has it acted on: at once, unless it `waits`, or with the next heartbeat. */
  wakeMain(text: string, mode: "now" | "next-heartbeat"): Promise<{ readonly waits?: "disabled" | "quiet-hours" }>;
}

/** What wakes agents by itself. */
export function heartbeatHandlers(heartbeat: HeartbeatPort) {
  return {
    "last-heartbeat": () => heartbeat.last(),
    "hooks.status": () => ({ hooks: heartbeat.hooks() }),
    "set-heartbeats": ({ enabled }) => {
      heartbeat.setEnabled(enabled);
      return { ok: true, enabled };
    },
    wake: async ({ text, mode }) => ({ ok: true, ...(await heartbeat.wakeMain(text, mode)) }),
  } satisfies HandlersOf<"last-heartbeat" | "hooks.status" | "set-heartbeats" | "wake">;
}
