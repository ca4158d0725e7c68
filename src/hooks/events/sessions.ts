/** The lifecycle of a session. */
import type { AgentHookContext } from "./agent.ts";
import type { HookContextBase, HookEventBase, HookTrace, NoResult } from "./values.ts";

export interface SessionHookContext extends HookContextBase {
  agentId?: string;
  sessionId: string;
  sessionKey?: string;
  /** Of the message that the session began or ended with; absent where none did that. */
  trace?: HookTrace;
}

/** Why a session ended. */
export const SESSION_END_REASONS = ["new", "reset", "idle", "daily", "compaction", "deleted", "shutdown", "restart", "unknown"] as const;
export type SessionEndReason = (typeof SESSION_END_REASONS)[number];

export interface SessionStartEvent extends HookEventBase {
  sessionId: string;
  sessionKey?: string;
  resumedFrom?: string;
  reason?: string;
}
export interface SessionEndEvent extends HookEventBase {
  sessionId: string;
  sessionKey?: string;
  messageCount: number;
  durationMs?: number;
  reason?: SessionEndReason;
  sessionFile?: string;
  transcriptArchived?: boolean;
  nextSessionId?: string;
  nextSessionKey?: string;
}

export interface BeforeCompactionEvent extends HookEventBase {
  messageCount: number;
  /** The part of them that is summarized. */
  compactingCount?: number;
  tokenCount?: number;
  messages?: unknown[];
  /** The transcript, which already contains all of it. */
  sessionFile?: string;
}
export interface AfterCompactionEvent extends HookEventBase {
  messageCount: number;
  tokenCount?: number;
  compactedCount: number;
  sessionFile?: string;
}
export interface BeforeResetEvent extends HookEventBase {
  sessionFile?: string;
  messages?: unknown[];
  reason?: string;
}

export interface SessionHooks {
  session_start: { event: SessionStartEvent; ctx: SessionHookContext; result: NoResult };
  session_end: { event: SessionEndEvent; ctx: SessionHookContext; result: NoResult };
  before_compaction: { event: BeforeCompactionEvent; ctx: AgentHookContext; result: NoResult };
  after_compaction: { event: AfterCompactionEvent; ctx: AgentHookContext; result: NoResult };
  before_reset: { event: BeforeResetEvent; ctx: AgentHookContext; result: NoResult };
}
