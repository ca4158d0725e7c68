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
  "connect.challenge": event(closed({ nonce: filled(), ts: moment() }), "socket", "never", "The first frame of every connection: what a device has to sign."),
  tick: event(closed({ ts: moment() }), "all", "always", "A sign of life."),
  health: event(HealthSchema, "readers", "never", "The gateway was looked at again."),
  presence: event(closed({ presence: list(PresenceSchema) }), "readers", "always", "A client left or reported news about itself."),
  shutdown: event(
    closed({ reason: text(), restartExpectedMs: orNull(amount()) }),
    "all",
    "never",
    "The gateway stops or restarts; the connection is closed with 1012 next.",
  ),
  chat: event(ChatEventSchema, "readers", "delta", "What a run says in the conversation."),
  agent: event(
    either(AgentEventSchema, AgentDeltaSchema),
    "readers",
    "never",
    "What happens inside a run. Tool events go only to clients with the cap `tool-events` that take part in it. Texts come as `delta` and `at` to clients with the cap `text-deltas`.",
  ),
  "chat.changed": event(
    closed({ sessionKey: filled(), sessionId: maybe(text()), began: maybe(moment()), last: amount(), pending: amount(), runs: amount() }),
    "socket",
    "always",
    "A session that this connection watches has new entries, messages or runs: `chat.page` tells which.",
  ),
  heartbeat: event(HeartbeatEventSchema, "readers", "always", "How a heartbeat went."),
  cron: event(closed(cronEventFields), "readers", "always", "Something happened to a cron job."),
  subagent: event(SubagentEventSchema, "readers", "always", "Something happened to a sub-agent: `subagents.list` tells how it is."),
  "skills.install.progress": event(
    closed({ name: filled(), installId: filled(), step: amount(), steps: amount(), command: text(), text: maybe(text()) }),
    "socket",
    "always",
    "How far the `skills.install` of this connection is: what runs, and the newest line of its output.",
  ),
  "device.pair.requested": event(DevicePairRequestSchema, "operator.pairing", "always", "A device asks to be let in."),
  "device.pair.resolved": event(DevicePairResolvedSchema, "operator.pairing", "always", "A device request was decided."),
  "node.pair.requested": event(NodePairRequestSchema, "operator.pairing", "always", "A node asks to be paired."),
  "node.pair.resolved": event(NodePairResolvedSchema, "operator.pairing", "always", "A node request was decided."),
  "exec.approval.requested": event(ApprovalRequestedSchema, "operator.approvals", "always", "A command waits for approval."),
  "exec.approval.resolved": event(
    ApprovalResolvedSchema,
    "operator.approvals",
    "always",
    "A command was approved or denied, or the request was withdrawn. Not sent when a request to run a command expires.",
  ),
  "plugin.approval.requested": event(PluginApprovalRequestedSchema, "operator.approvals", "always", "A plugin asks for approval of a tool call."),
  "plugin.approval.resolved": event(
    PluginApprovalResolvedSchema,
    "operator.approvals",
    "always",
    "That question is closed: decided, out of time or withdrawn.",
  ),
  "node.invoke.request": event(
    closed({
      id: filled(),
      nodeId: filled(),
      command: filled(),
      paramsJSON: maybe(orNull(text())),
      timeoutMs: maybe(amount()),
      idempotencyKey: maybe(filled()),
    }),
    "node",
    "never",
    "A node is asked to run a command.",
  ),
  "node.invoke.cancel": event(
    closed({ id: filled(), nodeId: filled(), reason: choice(["timeout", "caller-gone"]) }),
    "node",
    "never",
    "Nobody waits for the answer to a command any more: the node may end it.",
  ),
  "canvas.changed": event(
    closed({ sessionKey: filled(), ...canvasFields, reset: flag({ description: "Surfaces of before are gone." }) }),
    "socket",
    "never",
    "The canvas of a session that this connection shows has changed; `messages` are the new ones.",
  ),
  "canvas.request": event(
    closed({ id: filled(), sessionKey: filled(), command: choice(["eval", "snapshot"]), params: map(anything()) }),
    "socket",
    "never",
    "The page is asked to run a script in the canvas, or to take its picture: `canvas.result` answers.",
  ),
  "talk.mode": event(closed({ enabled: flag(), phase: orNull(text()), ts: moment() }), "all", "always", "Talking was turned on or off."),
  "voicewake.changed": event(closed({ triggers: texts() }), "all", "always", "The words that wake the gateway changed."),
  "update.available": event(closed({ updateAvailable: orNull(UpdateAvailableSchema) }), "all", "always", "There is a newer version, or no longer."),
} as const;

export type DeclaredEvents = typeof DECLARED_EVENTS;
/** What happens inside a run, with texts that are whole each time. */
export type AgentEvent = Frozen<Static<typeof AgentEventSchema>>;
/** The next part of a text that a run says. */
export type AgentDelta = Frozen<Static<typeof AgentDeltaSchema>>;
export type PayloadOf<S> = S extends EventSpec<infer P> ? Frozen<Static<P>> : never;
