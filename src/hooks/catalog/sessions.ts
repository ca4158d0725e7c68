import type { SessionHooks, SubagentHooks } from "../events/index.ts";
import type { HookSpec } from "../spec.ts";
import { decide, observe } from "./kinds.ts";

/** The lifecycle of sessions, and subagents. */
export const sessionHooks: Readonly<Record<keyof SessionHooks | keyof SubagentHooks, HookSpec>> = {
  session_start: observe("sessions", "A session begins."),
  session_end: observe("sessions", "A session is over. When the gateway stops or restarts, all sessions together have two seconds."),
  before_compaction: observe("sessions", "Compaction is about to start; all messages are in the transcript."),
  after_compaction: observe("sessions", "Compaction has finished."),
  before_reset: observe("sessions", "A session is about to be reset."),
  subagent_spawning: decide("subagents", "A subagent is about to start; an error prevents it.", {
    fields: {
      status: { type: ["ok", "error"], merge: "last" },
      threadBindingReady: { type: "flag", merge: "any" },
      error: { type: "text", merge: "last", withTerminal: true },
    },
    terminal: [{ field: "status", value: "error" }],
    deprecated: "the host binds threads; use subagent_spawned",
  }),
  subagent_delivery_target: decide("subagents", "Selects where a subagent's result is delivered.", { fields: { origin: { type: "record", merge: "first" } } }),
  subagent_spawned: observe("subagents", "A subagent was started."),
  subagent_progress: observe("subagents", "A subagent's run began or ended.", { newer: true }),
  subagent_ended: observe("subagents", "A subagent is over."),
};
