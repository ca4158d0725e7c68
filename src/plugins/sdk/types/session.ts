/** State that a plugin keeps with a session, and text it adds to the next turn. */

export type SessionCleanupReason = "reset" | "delete" | "disable" | "restart";

export interface SessionExtension {
  /** Unique in the plugin. */
  namespace: string;
  description: string;
  /** What session rows show of the state; all of it without this. */
  project?(ctx: { sessionKey: string; sessionId?: string | undefined; state: unknown }): unknown;
  cleanup?(ctx: { reason: SessionCleanupReason; sessionKey?: string | undefined }): void | Promise<void>;
}

export interface NextTurnInjection {
  sessionKey: string;
  text: string;
  agentId?: string | undefined;
  /** The same key of the same plugin is taken once. */
  idempotencyKey?: string | undefined;
  placement?: "prepend_context" | "append_context" | undefined;
  /** Dropped when it is older. */
  ttlMs?: number | undefined;
  metadata?: Record<string, unknown> | undefined;
}
