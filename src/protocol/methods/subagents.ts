import { method } from "../method.ts";
import { amount, choice, closed, count, done, effect, filled, flag, list, maybe, moment, number, text } from "../pieces.ts";

const Subagent = closed({
  runId: filled({ description: "Changes when it is steered." }),
  sessionKey: filled(),
  requesterSessionKey: filled({ description: "The session that started it: a conversation, or another sub-agent." }),
  agentId: filled(),
  label: maybe(text()),
  task: text({ description: "At most 2000 characters of it." }),
  status: choice(["queued", "running", "done", "failed", "timed out", "killed"]),
  error: maybe(text()),
  model: maybe(text({ description: "`provider/model`: the last one used, otherwise the one chosen for it." })),
  depth: amount(),
  createdAt: moment(),
  startedAt: maybe(moment()),
  endedAt: maybe(moment()),
  tokens: closed({ input: amount(), output: amount(), total: amount({ description: "Including cached tokens." }) }),
  costUsd: number({ minimum: 0 }),
  reported: flag({ description: "Its result was handed over for delivery, or nobody waits for it." }),
  hasSession: flag({ description: "Its session can be opened: it was not deleted or archived." }),
});

const ofChild = { sessionKey: filled({ description: "The session of the sub-agent." }) };

/** Work that agents hand to others. Ours. */
export const subagentsMethods = {
  "subagents.list": method({
    access: "operator.read",
    params: closed({
      sessionKey: maybe(filled({ description: "Only descendants of this session." })),
      recentMinutes: maybe(count({ default: 1440, maximum: 10_080, description: "Include those that ended within this time." })),
      limit: maybe(count({ default: 200, maximum: 500 })),
    }),
    result: closed({ ts: moment(), subagents: list(Subagent), truncated: flag({ description: "There are more." }) }),
    effect: false,
    module: "automation",
    summary: "Lists sub-agents that run or ended recently, oldest first, with their cost; `requesterSessionKey` links them into a tree.",
  }),
  "subagents.kill": method({
    access: "operator.write",
    params: effect(ofChild),
    result: done({ killed: amount({ description: "Number of stopped runs." }) }),
    effect: true,
    module: "automation",
    summary: "Stops a sub-agent and everything it started.",
  }),
  "subagents.steer": method({
    access: "operator.write",
    params: effect({ ...ofChild, message: filled({ maxLength: 4000 }) }),
    result: done({ steered: flag({ description: "False: it had already ended." }), runId: filled() }),
    effect: true,
    module: "automation",
    summary: "Interrupts a sub-agent and continues it with a message.",
  }),
};
