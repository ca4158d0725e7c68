/**
 * The broker, which is the only place where a tool runs; policy, approvals, the sandbox and the built-in tools.
 * The door of the room.
 */
export type { ApprovalDecision, ApprovalQuestion, AskApproval } from "./broker/approval.ts";
export { createBroker, type Broker, type BrokerCall, type BrokerDeps, type PolicyFacts, type Toolbox } from "./broker/broker.ts";
export { decidePolicy, type PolicyVerdict } from "./policy/decide.ts";
export { policyLayers, type Layer, type LayerFacts, type ToolPolicy } from "./policy/layers.ts";
export { failedOutcome, jsonOutcome, textOutcome, type Tool, type ToolCall, type ToolContext, type ToolOutcome, type ToolSource } from "./tool.ts";
