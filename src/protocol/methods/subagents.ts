import { method } from "../method.ts";
import { amount, choice, closed, count, done, effect, filled, flag, list, maybe, moment, number, text } from "../pieces.ts";

const Subagent = closed({
  runId: filled({ description: "Another one after it was steered." }),
  sessionKey: filled(),
  requesterSessionKey: filled({ description: "The session that started it: a conversation, or another sub-agent." }),
  agentId: filled(),
  label: maybe(text()),
  task: text({ description: "At most 2000 characters of it." }),
  status: choice(["queued", "running", "done", "failed", "timed out", "killed"]),
  error: maybe(text()),
  model: maybe(text({ description: "`provider/model`: the one it used last, else the one that was chosen for it." })),
  depth: amount(),
  createdAt: moment(),
  startedAt: maybe(moment()),
  endedAt: maybe(moment()),
  tokens: closed({ input: amount(), output: amount(), total: amount({ description: "With what was cached." }) }),
  costUsd: number({ minimum: 0 }),
  reported: flag({ description: "Its result is on its way to the one who asked for it, or nobody waits for it." }),
  hasSession: flag({ description: "Its session can be opened: it was not deleted or archived." }),
});

const ofChild = { sessionKey: filled({ description: "The session of the sub-agent." }) };

/** Work that agents hand to others. Ours. */
export const subagentsMethods = {
  "subagents.list": method({
    access: "operator.read",
    params: closed({
      sessionKey: maybe(filled({ description: "Only what is below this session." })),
      recentMinutes: maybe(count({ default: 1440, maximum: 10_080, description: "Ended ones no longer ago than this." })),
      limit: maybe(count({ default: 200, maximum: 500 })),
    }),
    result: closed({ ts: moment(), subagents: list(Subagent), truncated: flag({ description: "There are more." }) }),
    effect: false,
    module: "automation",
    summary: "Sub-agents that run or ended lately, oldest first, with what each has cost; `requesterSessionKey` makes a tree of them.",
  }),
  "subagents.kill": method({
    access: "operator.write",
    params: effect(ofChild),
    result: done({ killed: amount({ description: "How many were stopped." }) }),
    effect: true,
    module: "automation",
    summary: "Stops a sub-agent with everything that it started.",
  }),
  "subagents.steer": method({
    access: "operator.write",
    params: effect({ ...ofChild, message: filled({ maxLength: 4000 }) }),
    result: done({ steered: flag({ description: "False: it had ended already." }), runId: filled() }),
    effect: true,
    module: "automation",
    summary: "Has a sub-agent go on with a message instead of with what it does.",
  }),
};
