import type { Static, TSchema } from "typebox";
import { ApprovalRequestedSchema, ApprovalResolvedSchema, PluginApprovalRequestedSchema, PluginApprovalResolvedSchema } from "./approval.ts";
import type { Audience, Droppable, EventFacts } from "./audience.ts";
import { HealthSchema } from "./health.ts";
import type { Frozen } from "./method.ts";
import { DevicePairRequestSchema, DevicePairResolvedSchema, NodePairRequestSchema, NodePairResolvedSchema } from "./pairing.ts";
import { canvasFields } from "./canvas.ts";
import { amount, anything, choice, closed, either, filled, flag, list, map, maybe, moment, orNull, text, texts } from "./pieces.ts";
import { PresenceSchema, UpdateAvailableSchema } from "./presence.ts";
import { AgentDeltaSchema, AgentEventSchema, ChatEventSchema, cronEventFields, HeartbeatEventSchema, SubagentEventSchema } from "./run-events.ts";

export interface EventSpec<P extends TSchema = TSchema> extends EventFacts {
  readonly payload: P;
}

function event<const P extends TSchema>(payload: P, audience: Audience, droppable: Droppable, summary: string): EventSpec<P> {
  return { payload, audience, droppable, summary };
}

/** All events by name. Loads the schema library: what runs reads `catalog.ts` instead. */
export const DECLARED_EVENTS = {
  "connect.challenge": event(
    closed({ nonce: filled(), ts: moment() }),
    "socket",
    "never",
    "The first frame of every connection: the challenge that a device signs.",
  ),
  tick: event(closed({ ts: moment() }), "all", "always", "Keep-alive."),
  health: event(HealthSchema, "readers", "never", "The result of a new health check."),
  presence: event(closed({ presence: list(PresenceSchema) }), "readers", "always", "A client left or updated its presence."),
  shutdown: event(
    closed({ reason: text(), restartExpectedMs: orNull(amount()) }),
    "all",
    "never",
    "The gateway stops or restarts; the connection is closed with 1012 next.",
  ),
  chat: event(ChatEventSchema, "readers", "delta", "Messages of a run in the conversation."),
  agent: event(
    either(AgentEventSchema, AgentDeltaSchema),
    "readers",
    "never",
    "What happens inside a run. Tool events go only to clients with the cap `tool-events` that take part in it. Texts come as `delta` and `at` to clients with the cap `text-deltas`.",
  ),
  "chat.changed": event(
    closed({
      sessionKey: filled(),
      sessionId: maybe(text()),
      began: maybe(moment()),
      fork: maybe(amount()),
      last: amount(),
      pending: amount(),
      runs: amount(),
    }),
    "socket",
    "always",
    "A session that this connection watches has new entries, messages or runs: `chat.page` returns them.",
  ),
  heartbeat: event(HeartbeatEventSchema, "readers", "always", "The outcome of a heartbeat."),
  cron: event(closed(cronEventFields), "readers", "always", "A cron job changed, started or finished."),
  subagent: event(SubagentEventSchema, "readers", "always", "A sub-agent changed: `subagents.list` returns its state."),
  "skills.install.progress": event(
    closed({ name: filled(), installId: filled(), step: amount(), steps: amount(), command: text(), text: maybe(text()) }),
    "socket",
    "always",
    "Progress of this connection's `skills.install`: what runs, and the newest line of its output.",
  ),
  "device.pair.requested": event(DevicePairRequestSchema, "operator.pairing", "always", "A device requests pairing."),
  "device.pair.resolved": event(DevicePairResolvedSchema, "operator.pairing", "always", "A device request was decided."),
  "node.pair.requested": event(NodePairRequestSchema, "operator.pairing", "always", "A node requests pairing."),
  "node.pair.resolved": event(NodePairResolvedSchema, "operator.pairing", "always", "A node request was decided."),
  "exec.approval.requested": event(ApprovalRequestedSchema, "operator.approvals", "always", "A command waits for approval."),
  "exec.approval.resolved": event(
    ApprovalResolvedSchema,
    "operator.approvals",
    "always",
    "A command was approved or denied, or the request was withdrawn. Not sent when a request to run a command expires.",
  ),
  "plugin.approval.requested": event(PluginApprovalRequestedSchema, "operator.approvals", "always", "A plugin asks for approval of a tool call."),
  "plugin.approval.resolved": event(PluginApprovalResolvedSchema, "operator.approvals", "always", "The request is closed: decided, expired or withdrawn."),
  "node.invoke.request": event(
    closed({
      id: filled(),
      nodeId: filled(),
      command: filled(),
      paramsJSON: maybe(orNull(text())),
      timeoutMs: maybe(amount()),
      idempotencyKey: maybe(filled()),
      progress: maybe(flag({ description: "The caller wants `node.invoke.progress`." })),
    }),
    "node",
    "never",
    "Requests a command from a node.",
  ),
  "node.invoke.cancel": event(
    closed({ id: filled(), nodeId: filled(), reason: choice(["timeout", "caller-gone", "cancelled"]) }),
    "node",
    "never",
    "The caller no longer waits for the command: the node may end it.",
  ),
  "node.invoke.progress": event(
    closed({ idempotencyKey: filled(), nodeId: filled(), seq: amount(), chunk: text() }),
    "socket",
    "always",
    "Text of a command that this connection runs on a node with `progress`. A piece may be missing; the response is complete.",
  ),
  "canvas.changed": event(
    closed({ sessionKey: filled(), ...canvasFields, reset: flag({ description: "Earlier surfaces were removed." }) }),
    "socket",
    "never",
    "The canvas of a session that this connection shows has changed; `messages` are the new ones.",
  ),
  "canvas.request": event(
    closed({ id: filled(), sessionKey: filled(), command: choice(["eval", "snapshot"]), params: map(anything()) }),
    "socket",
    "never",
    "Asks the page to run a script in the canvas or take a screenshot; it answers with `canvas.result`.",
  ),
  "talk.mode": event(closed({ enabled: flag(), phase: orNull(text()), ts: moment() }), "all", "always", "Talk mode was turned on or off."),
  "voicewake.changed": event(closed({ triggers: texts() }), "all", "always", "The wake words changed."),
  "update.available": event(closed({ updateAvailable: orNull(UpdateAvailableSchema) }), "all", "always", "A newer version is available, or no longer is."),
} as const;

export type DeclaredEvents = typeof DECLARED_EVENTS;
/** What happens inside a run, with texts that are whole each time. */
export type AgentEvent = Frozen<Static<typeof AgentEventSchema>>;
/** The next part of a text that a run says. */
export type AgentDelta = Frozen<Static<typeof AgentDeltaSchema>>;
export type PayloadOf<S> = S extends EventSpec<infer P> ? Frozen<Static<P>> : never;
