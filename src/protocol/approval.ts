import { choice, closed, filled, moment, orNull, text } from "./pieces.ts";

export const decision = choice(["allow-once", "allow-always", "deny"]);

/** A command that waits for somebody's word. */
export const ApprovalRequestedSchema = closed({
  id: filled(),
  request: closed({
    command: filled(),
    cwd: orNull(text()),
    host: orNull(text()),
    security: orNull(text()),
    ask: orNull(text()),
    agentId: orNull(text()),
    resolvedPath: orNull(text()),
    sessionKey: orNull(text()),
  }),
  createdAtMs: moment(),
  expiresAtMs: moment(),
});

export const ApprovalResolvedSchema = closed({ id: filled(), decision, resolvedBy: orNull(text()), ts: moment() });
