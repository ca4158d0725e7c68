import { HealthSchema } from "../health.ts";
import { method } from "../method.ts";
import {
  amount,
  anything,
  choice,
  closed,
  count,
  done,
  effect,
  filled,
  flag,
  ignored,
  list,
  maybe,
  moment,
  none,
  number,
  open,
  orNull,
  text,
  texts,
} from "../pieces.ts";
import { presenceFields, PresenceSchema } from "../presence.ts";
import { HeartbeatEventSchema } from "../run-events.ts";
import { SessionRowSchema } from "../session-row.ts";

const recent = list(SessionRowSchema);

const rests = list(
  closed({
    agentId: filled({ description: "The agent that had the failures." }),
    id: filled({ description: "An auth profile, or where the key comes from: env:<NAME>, config:<path>." }),
    provider: maybe(text()),
    modelId: maybe(text({ description: "Absent: all models." })),
    kind: filled({ description: "auth, billing, rate_limit, format; timeout, overloaded and network have a cooldown of at most a minute." }),
    until: moment(),
    reason: maybe(text({ description: "The provider's last error." })),
  }),
);

const Status = open({
  linkChannel: maybe(anything()),
  heartbeat: closed({
    defaultAgentId: text(),
    agents: list(closed({ agentId: filled(), enabled: flag(), every: text(), everyMs: orNull(number()) })),
  }),
  channelSummary: texts(),
  queuedSystemEvents: texts(),
  sessions: closed({
    paths: texts(),
    count: amount(),
    defaults: closed({ model: orNull(text()), contextTokens: orNull(number()) }),
    recent,
    byAgent: list(closed({ agentId: filled(), path: text(), count: amount(), recent })),
  }),
});

/** The gateway itself: how it is, who is there, what it logs. */
export const systemMethods = {
  health: method({
    access: "operator.read",
    params: closed({ probe: maybe(flag()) }),
    result: HealthSchema,
    effect: false,
    module: "gateway",
    summary: "Returns the health of the gateway, its channels and agents. Checked once a minute unless `probe` is set.",
  }),
  status: method({
    access: "operator.read",
    params: ignored(),
    result: Status,
    effect: false,
    module: "gateway",
    summary: "Returns an overview of sessions, heartbeats and channels. Without `operator.admin` paths, defaults and recent sessions are left out.",
  }),
  "logs.tail": method({
    access: "operator.read",
    params: closed({
      cursor: maybe(amount({ description: "Byte offset to continue from." })),
      limit: maybe(count({ maximum: 5000, default: 500 })),
      maxBytes: maybe(count({ maximum: 1_000_000, default: 250_000 })),
    }),
    result: closed({ file: text(), cursor: amount(), size: amount(), lines: texts(), truncated: maybe(flag()), reset: maybe(flag()) }),
    effect: false,
    module: "gateway",
    summary: "Returns lines of the log file from a byte offset.",
  }),
  "models.list": method({
    access: "operator.read",
    params: none(),
    result: closed({
      models: list(
        closed({
          id: filled(),
          name: filled(),
          provider: filled(),
          contextWindow: maybe(count()),
          reasoning: maybe(flag()),
          input: maybe(texts()),
          hasKey: maybe(flag({ description: "Its provider can be used: there is a credential, or it needs none." })),
        }),
      ),
    }),
    effect: false,
    module: "models",
    summary: "Lists the models that may be chosen.",
  }),
  "models.rests.list": method({
    access: "operator.read",
    params: closed({ agentId: maybe(filled()), provider: maybe(filled()) }),
    result: closed({ rests }),
    effect: false,
    module: "models",
    summary: "Lists credentials in cooldown after failures: which, for which model, why and until when.",
  }),
  "models.rests.clear": method({
    access: "operator.admin",
    params: effect({ agentId: maybe(filled()), provider: maybe(filled()), id: maybe(filled()) }),
    result: closed({ cleared: rests }),
    effect: true,
    module: "models",
    summary: "Ends cooldowns: the next call tries the credential again.",
  }),
  "system-presence": method({
    access: "operator.read",
    params: ignored(),
    result: list(PresenceSchema),
    effect: false,
    module: "gateway",
    summary: "Lists clients that are connected or were recently, newest first.",
  }),
  "system-event": method({
    access: "operator.admin",
    params: effect({ ...presenceFields, text: filled(), ts: maybe(moment()) }),
    result: done({}),
    effect: true,
    module: "gateway",
    summary: "Updates the caller's presence and queues a text for the main session.",
  }),
  "last-heartbeat": method({
    access: "operator.read",
    params: ignored(),
    result: orNull(HeartbeatEventSchema),
    effect: false,
    module: "automation",
    summary: "Returns the newest heartbeat event.",
  }),
  "hooks.status": method({
    access: "operator.read",
    params: ignored(),
    result: closed({ hooks: list(closed({ name: text(), file: maybe(text()), error: maybe(text({ description: "Why it is not called." })) })) }),
    effect: false,
    module: "automation",
    summary: "Lists the hooks from files and whether they loaded.",
  }),
  "set-heartbeats": method({
    access: "operator.admin",
    params: effect({ enabled: flag() }),
    result: closed({ ok: flag(), enabled: flag() }),
    effect: true,
    module: "automation",
    summary: "Enables or disables heartbeats until the next start.",
  }),
  wake: method({
    access: "operator.write",
    params: effect({ mode: choice(["now", "next-heartbeat"]), text: filled() }),
    // `waits`: why it is not acted on at once.
    result: closed({ ok: flag(), waits: maybe(choice(["disabled", "quiet-hours"])) }),
    effect: true,
    module: "automation",
    summary: "Queues a system event for the main session, and wakes it at once or at its next heartbeat.",
  }),
};
