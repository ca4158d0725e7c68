import { commandFields, decision, waitFields } from "../approval.ts";
import { method } from "../method.ts";
import { anything, closed, count, done, effect, either, filled, flag, list, literal, map, maybe, moment, none, number, orNull, text } from "../pieces.ts";

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

const Remembered = closed({
  id: filled(),
  agentId: filled(),
  program: text({ description: "Path of the program." }),
  covers: text({ description: "Which calls of it run unasked." }),
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
    summary: "The rules for commands on this host.",
  }),
  "exec.approvals.set": method({
    access: "operator.admin",
    params: effect({ file: File, baseHash: maybe(filled({ description: "Needed when the file exists." })) }),
    result: snapshot,
    effect: true,
    module: "tools",
    summary: "Replaces the rules for commands on this host.",
  }),
  "exec.approvals.remembered": method({
    access: "operator.admin",
    params: closed({ agentId: maybe(filled()) }),
    result: closed({ commands: list(Remembered) }),
    effect: false,
    module: "tools",
    summary: "Commands that were allowed for good with `allow-always`, the oldest first.",
  }),
  "exec.approvals.forget": method({
    access: "operator.admin",
    params: effect({ id: filled({ description: "Its beginning will do." }) }),
    result: closed({ ok: literal(true), command: Remembered }),
    effect: true,
    module: "tools",
    summary: "Asks about a remembered command again.",
  }),
  "exec.approvals.node.get": method({
    access: "operator.admin",
    params: closed({ nodeId: filled() }),
    result: anything(),
    effect: false,
    module: "nodes",
    summary: "The rules for commands on a node.",
  }),
  "exec.approvals.node.set": method({
    access: "operator.admin",
    params: effect({ nodeId: filled(), file: File, baseHash: maybe(filled()) }),
    result: anything(),
    effect: true,
    module: "nodes",
    summary: "Replaces the rules for commands on a node.",
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
    summary: "Asks whether a command may run and waits for the decision; `null` when nobody answered in time.",
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
    summary: "Decides about a request. The first decision holds.",
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
    summary: "Requests that nobody has decided about yet, the oldest first. `nowMs` is the gateway's time: what is left of a request is counted by it.",
  }),
};
