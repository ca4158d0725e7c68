/** Tool calls, and what is persisted of them. */
import type { HookContextBase, HookEventBase, HookMessage, HookTrace, NoResult } from "./values.ts";

/** Facts about the call of a tool. */
export interface ToolHookContext extends HookContextBase {
  toolName: string;
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  runId?: string;
  jobId?: string;
  toolCallId?: string;
  /** Not supplied: no tool here shares its name with another one. */
  toolKind?: string;
  /** Not supplied, as `toolKind`. */
  toolInputKind?: string;
  channelId?: string;
  messageProvider?: string;
  /** Who the call is made for: `channel`, `accountId`, `senderId` and `senderIsOwner`. */
  requester?: Record<string, unknown>;
  trace?: HookTrace;
  /** Fires when the run is aborted or the handler's budget is used up. */
  abortSignal?: AbortSignal;
  /** Not supplied: the extension's `project` receives the state. */
  getSessionExtension?: (namespace: string) => unknown;
}

export interface BeforeToolCallEvent extends HookEventBase {
  toolName: string;
  params: Record<string, unknown>;
  /** Not supplied: no tool here shares its name with another one. */
  toolKind?: string;
  /** Not supplied, as `toolKind`. */
  toolInputKind?: string;
  /**
   * Absolute paths that calls of `read`, `write`, `edit`, `apply_patch`, `grep`, `find`, `ls` and `image` name; a malformed patch may have more. Where links
   * lead elsewhere, the path behind them follows. Without a path, the search tools name the workspace.
   */
  derivedPaths?: string[];
  runId?: string;
  toolCallId?: string;
}

/** How an approval request ended. */
export type ApprovalResolution = "allow-once" | "allow-always" | "deny" | "timeout" | "cancelled";

/** An approval request, made before the tool runs. */
export interface ApprovalRequest {
  title: string;
  description: string;
  severity?: "info" | "warning" | "critical";
  timeoutMs?: number;
  timeoutBehavior?: "allow" | "deny";
  allowedDecisions?: ("allow-once" | "allow-always" | "deny")[];
  /** Set by the host to the requesting plugin. */
  pluginId?: string;
  onResolution?: (decision: ApprovalResolution) => Promise<void> | void;
}
export interface BeforeToolCallResult {
  /** Override the call's parameters, key by key. */
  params?: Record<string, unknown>;
  block?: boolean;
  blockReason?: string;
  requireApproval?: ApprovalRequest;
}

export interface AfterToolCallEvent extends HookEventBase {
  toolName: string;
  params: Record<string, unknown>;
  result?: unknown;
  error?: string;
  durationMs?: number;
  runId?: string;
  toolCallId?: string;
}

export interface ResolveExecEnvEvent extends HookEventBase {
  sessionKey?: string;
  toolName: "exec";
  host: "gateway" | "sandbox" | "node";
}
export interface ExecEnvHookContext extends HookContextBase {
  agentId?: string;
  sessionKey?: string;
  messageProvider?: string;
  channelId?: string;
}

export interface TranscriptHookContext {
  agentId?: string;
  sessionKey?: string;
  toolName?: string;
  toolCallId?: string;
  trace?: HookTrace;
}
export interface ToolResultPersistEvent extends HookEventBase {
  toolName?: string;
  toolCallId?: string;
  /** Role `toolResult`. */
  message: HookMessage;
  /** Made by the host, not by the tool. */
  isSynthetic?: boolean;
}
export interface ToolResultPersistResult {
  message?: HookMessage;
}
export interface BeforeMessageWriteEvent extends HookEventBase {
  message: HookMessage;
  sessionKey?: string;
  agentId?: string;
}
export interface BeforeMessageWriteResult {
  /** Not persisted. */
  block?: boolean;
  message?: HookMessage;
}

export interface ToolHooks {
  before_tool_call: { event: BeforeToolCallEvent; ctx: ToolHookContext; result: BeforeToolCallResult };
  after_tool_call: { event: AfterToolCallEvent; ctx: ToolHookContext; result: NoResult };
  resolve_exec_env: { event: ResolveExecEnvEvent; ctx: ExecEnvHookContext; result: Record<string, string> };
  tool_result_persist: { event: ToolResultPersistEvent; ctx: TranscriptHookContext; result: ToolResultPersistResult };
  before_message_write: { event: BeforeMessageWriteEvent; ctx: TranscriptHookContext; result: BeforeMessageWriteResult };
}
