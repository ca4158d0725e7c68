import type { ToolContext } from "../tool.ts";

export type ApprovalDecision = "allow-once" | "allow-always" | "deny" | "timeout" | "cancelled";

/** A question to the operator about one call. */
export interface ApprovalQuestion {
  readonly title: string;
  readonly description: string;
  readonly severity?: "info" | "warning" | "critical";
  readonly timeoutMs?: number;
  readonly allowedDecisions?: readonly ("allow-once" | "allow-always" | "deny")[];
  readonly pluginId?: string;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly context: ToolContext;
}

/** Asks the operator, wherever they are. Resolves with `timeout` when nobody answers and with `cancelled` when the run ends first. */
export interface AskApproval {
  (question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalDecision>;
}
