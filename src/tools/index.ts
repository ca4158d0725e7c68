/**
 * The broker, which is the only place where a tool runs; policy, approvals, the sandbox and the built-in tools.
 * The door of the room.
 */
export type { ApprovalDecision, ApprovalQuestion, AskApproval } from "./broker/approval.ts";
export {
  createApprovals,
  type ApprovalNotice,
  type ApprovalRequest,
  type Approvals,
  type OperatorDecision,
  type PendingApproval,
} from "./approvals/approvals.ts";
export { createBroker, type Broker, type BrokerCall, type BrokerDeps, type PolicyFacts, type Toolbox } from "./broker/broker.ts";
export type { Elevation, ExecToolDeps } from "./exec/deps.ts";
export { execTool } from "./exec/exec.ts";
export { createExecRules, type ExecRules } from "./exec/rules-file.ts";
export { execSettings, type ExecOverride, type ExecSettings } from "./exec/settings.ts";
export { decidePolicy, type PolicyVerdict } from "./policy/decide.ts";
export { policyLayers, type Layer, type LayerFacts, type ToolPolicy } from "./policy/layers.ts";
export { processTool } from "./process/process.ts";
export { createProcesses, type Processes } from "./process/processes.ts";
export { failedOutcome, jsonOutcome, textOutcome, type Tool, type ToolCall, type ToolContext, type ToolOutcome, type ToolSource } from "./tool.ts";
