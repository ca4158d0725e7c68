import type { TSchema } from "typebox";
import { choice, closed, filled, moment, orNull, text } from "./pieces.ts";

export const decision = choice(["allow-once", "allow-always", "deny"]);

/** A command that somebody is asked about, and what is told of it: each fact in the form that `fact` makes. */
export const commandFields = <Fact extends TSchema>(fact: () => Fact) => ({
  command: filled(),
  cwd: fact(),
  host: fact(),
  security: fact(),
  ask: fact(),
  agentId: fact(),
  resolvedPath: fact(),
  sessionKey: fact(),
  always: fact(),
});

/** From when to when a decision is waited for. */
export const waitFields = { createdAtMs: moment(), expiresAtMs: moment() };

/** A command that waits for somebody's word. */
export const ApprovalRequestedSchema = closed({ id: filled(), request: closed(commandFields(() => orNull(text()))), ...waitFields });

export const ApprovalResolvedSchema = closed({ id: filled(), decision, resolvedBy: orNull(text()), ts: moment() });
