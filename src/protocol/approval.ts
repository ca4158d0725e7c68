import type { TSchema } from "typebox";
import { choice, closed, filled, list, literal, moment, orNull, text } from "./pieces.ts";

export const decision = choice(["allow-once", "allow-always", "deny"]);

/** A command that awaits approval, and the facts shown about it: each in the form that `fact` makes. */
export const commandFields = <Fact extends TSchema>(fact: () => Fact) => ({
  command: filled(),
  cwd: fact(),
  environment: fact(),
  host: fact(),
  nodeId: fact(),
  security: fact(),
  ask: fact(),
  agentId: fact(),
  resolvedPath: fact(),
  sessionKey: fact(),
  always: fact(),
});

/** From when to when a decision is waited for. */
export const waitFields = { createdAtMs: moment(), expiresAtMs: moment() };

/** A command that waits for approval. */
export const ApprovalRequestedSchema = closed({ id: filled(), request: closed(commandFields(() => orNull(text()))), ...waitFields });

export const ApprovalResolvedSchema = closed({ id: filled(), decision, resolvedBy: orNull(text()), ts: moment() });

/** A call that a plugin, or the tool itself, wants approved. */
const pluginQuestion = closed({
  title: filled(),
  description: text(),
  severity: choice(["info", "warning", "critical"]),
  pluginId: orNull(filled()),
  toolName: orNull(text()),
  toolCallId: orNull(text()),
  allowedDecisions: list(decision),
  agentId: orNull(text()),
  sessionKey: orNull(text()),
});

export const PluginApprovalRequestedSchema = closed({ approvalKind: literal("plugin"), id: filled(), request: pluginQuestion, ...waitFields });

/** `decision` is null when nobody decided in time, or the question was withdrawn: `reason` says which. */
export const PluginApprovalResolvedSchema = closed({
  id: filled(),
  decision: orNull(decision),
  reason: choice(["user", "timeout", "cancelled", "gateway-restart"]),
  resolvedBy: orNull(text()),
  ts: moment(),
  request: pluginQuestion,
});
