import { commandFields, decision, waitFields } from "../approval.ts";
import { method } from "../method.ts";
import {
  anything,
  choice,
  closed,
  count,
  done,
  effect,
  either,
  filled,
  flag,
  list,
  literal,
  map,
  maybe,
  moment,
  none,
  number,
  orNull,
  text,
} from "../pieces.ts";

const rules = { security: maybe(text()), ask: maybe(text()), askFallback: maybe(text()), autoAllowSkills: maybe(flag()) };

const Allowed = closed({
  id: maybe(filled()),
  pattern: text(),
  lastUsedAt: maybe(number()),
  lastUsedCommand: maybe(text()),
  lastResolvedPath: maybe(text()),
});

const File = closed({
  version: literal(1),
  socket: maybe(closed({ path: maybe(text()), token: maybe(text()) })),
  defaults: maybe(closed(rules)),
  agents: maybe(map(closed({ ...rules, allowlist: maybe(list(Allowed)) }))),
});

const level = choice(["deny", "allowlist", "full"]);

const Remembered = closed({
  id: filled(),
  agentId: filled(),
  program: text({ description: "Path of the program." }),
  covers: text({ description: "Which calls of it run without approval." }),
  command: text({ description: "The command that was approved." }),
  createdAtMs: moment(),
  lastUsedAtMs: orNull(moment()),
});

const snapshot = closed({ path: text(), exists: flag(), hash: text(), file: File });
const decided = closed({ id: filled(), decision: orNull(decision), ...waitFields });

/** Which commands may run, and asking a person about one. */
export const approvalsMethods = {
  "exec.approvals.get": method({
    access: "operator.admin",
    params: none(),
    result: snapshot,
    effect: false,
    module: "tools",
    summary: "Returns the command rules of this host.",
  }),
  "exec.approvals.set": method({
    access: "operator.admin",
    params: effect({ file: File, baseHash: maybe(filled({ description: "Required if the file exists." })) }),
    result: snapshot,
    effect: true,
    module: "tools",
    summary: "Replaces the command rules of this host.",
  }),
  "exec.approvals.remembered": method({
    access: "operator.admin",
    params: closed({ agentId: maybe(filled()) }),
    result: closed({ commands: list(Remembered) }),
    effect: false,
    module: "tools",
    summary: "Lists commands allowed with `allow-always`, oldest first.",
  }),
  "exec.approvals.forget": method({
    access: "operator.admin",
    params: effect({ id: filled({ description: "A unique prefix is enough." }) }),
    result: closed({ ok: literal(true), command: Remembered }),
    effect: true,
    module: "tools",
    summary: "Requires approval for a remembered command again.",
  }),
  "exec.approvals.restore": method({
    access: "operator.admin",
    params: effect({ id: filled({ description: "Id of a command that `exec.approvals.forget` removed." }) }),
    result: closed({ ok: literal(true), command: Remembered }),
    effect: true,
    module: "tools",
    summary: "Undoes `exec.approvals.forget`, until the gateway restarts.",
  }),
  "exec.approvals.policy": method({
    access: "operator.admin",
    params: none(),
    result: closed({
      agents: list(
        closed({
          agentId: filled(),
          host: choice(["sandbox", "gateway", "node"]),
          sandboxed: flag({ description: "Its main session runs commands in a sandbox." }),
          security: level,
          ask: choice(["off", "on-miss", "always"]),
          askFallback: level,
          autoAllowSkills: flag(),
          allowlist: list(Allowed),
        }),
      ),
    }),
    effect: false,
    module: "tools",
    summary: "Returns the command rules of each agent: the stricter of the configuration and the rules file.",
  }),
  "exec.approvals.explain": method({
    access: "operator.admin",
    params: closed({ command: filled({ maxLength: 20_000 }), agentId: maybe(filled()) }),
    result: closed({
      agentId: filled(),
      decision: choice(["run", "ask", "deny"]),
      where: choice(["sandbox", "gateway", "node"]),
      why: text(),
      always: orNull(text({ description: "What `allow-always` would remember." })),
      programs: list(closed({ text: text(), path: orNull(text()), allowedBy: orNull(text()) }), { description: "The programs that the command line starts." }),
    }),
    effect: false,
    module: "tools",
    summary: "Explains what would happen to a command of an agent's main session. Nothing runs.",
  }),
  "exec.approvals.node.get": method({
    access: "operator.admin",
    params: closed({ nodeId: filled() }),
    result: anything(),
    effect: false,
    module: "nodes",
    summary: "Returns the command rules of a node.",
  }),
  "exec.approvals.node.set": method({
    access: "operator.admin",
    params: effect({ nodeId: filled(), file: File, baseHash: maybe(filled()) }),
    result: anything(),
    effect: true,
    module: "nodes",
    summary: "Replaces the command rules of a node.",
  }),
  "exec.approval.request": method({
    access: "operator.approvals",
    params: effect({
      id: maybe(filled()),
      ...commandFields(() => maybe(orNull(text()))),
      timeoutMs: maybe(count({ default: 120_000 })),
      twoPhase: maybe(flag({ description: "Answers `accepted` first, then the decision." })),
    }),
    result: either(decided, closed({ status: literal("accepted"), id: filled(), ...waitFields })),
    effect: true,
    module: "tools",
    summary: "Requests approval for a command and waits for the decision; `null` if it expires.",
  }),
  "exec.approval.waitDecision": method({
    access: "operator.approvals",
    params: closed({ id: filled() }),
    result: decided,
    effect: false,
    module: "tools",
    summary: "Waits for the decision about a request.",
  }),
  "exec.approval.resolve": method({
    access: "operator.approvals",
    params: effect({ id: filled(), decision: filled({ description: "`allow-once`, `allow-always` or `deny`." }) }),
    result: done({}),
    effect: true,
    module: "tools",
    summary: "Decides a request. The first decision counts.",
  }),
  "exec.approval.history": method({
    access: "operator.approvals",
    params: closed({
      limit: maybe(count({ default: 50, description: "At most 200, plus those that ended together with the last." })),
      before: maybe(moment()),
    }),
    result: closed({
      entries: list(
        closed({
          id: filled(),
          kind: filled(),
          request: closed(commandFields(() => orNull(text()))),
          state: choice(["decided", "expired", "cancelled"]),
          decision: orNull(text()),
          decidedBy: orNull(text()),
          createdAtMs: moment(),
          decidedAtMs: orNull(moment()),
          outcome: orNull(closed({ state: text(), exitCode: orNull(number()), why: orNull(text()) })),
        }),
        { description: "Newest first." },
      ),
      more: flag({ description: "There are older ones." }),
    }),
    effect: false,
    module: "tools",
    summary: "Lists requests that were decided, expired or withdrawn. Long commands are truncated.",
  }),
  "exec.approval.list": method({
    access: "operator.approvals",
    params: none(),
    result: closed({
      approvals: list(
        closed({
          id: filled(),
          kind: filled({ description: "`exec`, `plugin` or `tool`." }),
          request: closed(commandFields(() => orNull(text()))),
          ...waitFields,
        }),
      ),
      nowMs: maybe(moment()),
    }),
    effect: false,
    module: "tools",
    summary: "Lists pending requests, oldest first. `nowMs` is the gateway's time, to compute the time left.",
  }),
};
