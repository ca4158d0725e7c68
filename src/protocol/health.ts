import type { Static } from "typebox";
import type { Frozen } from "./method.ts";
import { amount, choice, closed, filled, flag, free, list, literal, map, maybe, moment, number, open, orNull, text, texts } from "./pieces.ts";

/** The newest sessions of a store, for an overview. */
const RecentSessionSchema = closed({ key: filled(), updatedAt: orNull(moment()), age: orNull(number()) });
const SessionCountSchema = closed({ path: text(), count: amount(), recent: list(RecentSessionSchema) });

/** How often an agent runs without a message. */
const HeartbeatSchema = closed({
  enabled: flag(),
  every: text(),
  everyMs: orNull(number()),
  prompt: text(),
  target: text(),
  ackMaxChars: number(),
});

const AgentHealthSchema = closed({
  agentId: filled(),
  name: maybe(text()),
  isDefault: flag(),
  heartbeat: HeartbeatSchema,
  sessions: SessionCountSchema,
});

/** Result of `health`, payload of the `health` event, and part of the snapshot in `hello-ok`. OpenClaw adds fields. */
export const HealthSchema = open({
  ok: literal(true),
  ts: moment(),
  durationMs: number(),
  channels: map(open({ configured: maybe(flag()), accounts: maybe(free()) })),
  channelOrder: texts(),
  channelLabels: map(text()),
  heartbeatSeconds: number(),
  defaultAgentId: text(),
  agents: list(AgentHealthSchema),
  sessions: SessionCountSchema,
  status: maybe(
    choice(["starting", "ok", "degraded", "failed"], {
      description: "OpenClaw's own field, in results of `health`. `degraded`: it works, but needs attention.",
    }),
  ),
  problems: maybe(texts({ description: "One sentence for each, for callers with `operator.admin`." })),
});

export type Health = Frozen<Static<typeof HealthSchema>>;
