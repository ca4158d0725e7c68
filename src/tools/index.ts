/**
 * The broker, in which alone tools run; policy, approvals, the sandbox and the built-in tools.
 * The entry point.
 */

export type { ApprovalDecision, ApprovalQuestion, AskApproval } from "./broker/approval.ts";
export {
  approvalSlug,
  createApprovals,
  type ApprovalNotice,
  type ApprovalRequest,
  type Approvals,
  type OpenApproval,
  type OperatorDecision,
  type PendingApproval,
} from "./approvals/approvals.ts";
export { SHOWN_REQUEST_CHARS, shownRequest } from "./approvals/shown-request.ts";
export { asksItself, AUTHORITY, isForAnyone, missingFor, missingForCommand, type Asker, type Missing, type Need } from "./authority/table.ts";
export { CHOICE_FIELDS, sessionChoice, type ChoiceField, type ExecGrant, type Grantor, type SessionChoice } from "./authority/choice.ts";
export { changeChoice, changedByClient, type AskedChange, type ChangeVerdict } from "./authority/change.ts";
export { ELEVATED_LEVELS, heldElevated, heldExec, type ChoiceChange, type ChoiceUse, type ElevatedChoice } from "./authority/session-exec.ts";
export { boundedDetails } from "./broker/bounds.ts";
export { BUILTIN_TOOLS, PROMPT_ORDER, toolFacts, toolName, type BuiltinDeps } from "./catalog.ts";
export { createTools, defineTool, type ToolFacts, type ToolReach } from "./declaration.ts";
export { BROWSER, CANVAS, CRON, GATEWAY, MESSAGE, NODES, SESSIONS_SPAWN, SUBAGENTS } from "./builtin/elsewhere.ts";
export { webFetchTool } from "./builtin/web/fetch.ts";
export { createBroker, type Broker, type BrokerCall, type BrokerDeps, type PolicyFacts, type Toolbox } from "./broker/broker.ts";
export type { AskedCommand, CommandEnd, Elevation, ExecToolDeps, ShownOutput } from "./exec/deps.ts";
export { createWithheldHints } from "./exec/withheld.ts";
export { outcomeText } from "./exec/outcome-text.ts";
export { commandText, environmentText } from "./exec/node-command.ts";
export type { CommandPolicy, CommandRules, ExplainedCommand } from "./exec/explain-command.ts";
export { judgePlan } from "./exec/judge.ts";
export { pinPlan, planCommand, shellName, type ExecPlan } from "./exec/plan.ts";
export { pinnedFiles } from "./exec/remember/pins.ts";
export { approvedStart } from "./exec/run.ts";
export { resolveExecutable } from "./executables.ts";
export { SHOWN_CHARS as SHOWN_OUTPUT_CHARS } from "./process/shown-output.ts";
export { createExecRules, type ExecRules, type ExecRulesSnapshot } from "./exec/rules-file.ts";
export { createRemembered, type ListedRule, type RememberedCommands } from "./exec/remember/remembered.ts";
export { riskyAllowlistEntries, type RiskyEntry } from "./exec/remember/risky.ts";
export type { NodeCommand, NodeRun, NodeRunner } from "./exec/on-node.ts";
export {
  ASK_LEVELS,
  execSettings,
  SECURITY_LEVELS,
  stricterAsk,
  stricterSecurity,
  type ExecAsk,
  type ExecOverride,
  type ExecSecurity,
  type ExecSettings,
} from "./exec/settings.ts";
export type { SessionModel, SessionModels, SessionToolsDeps } from "./builtin/session/deps.ts";
export type { SessionPost, SessionReply } from "./builtin/session/sessions-send.ts";
export { findTarget, refusal as sessionRefusal } from "./builtin/session/visibility.ts";
export { createLoopGuard, type LoopAlarm, type LoopGuard } from "./loop-guard/loop-guard.ts";
export { sessionLoops, type SessionLoopsDeps } from "./loop-guard/loop-guard.ts";
export { loopSettings, type LoopSettings } from "./loop-guard/settings.ts";
export { decidePolicy, type PolicyVerdict } from "./policy/decide.ts";
export { distinctTools } from "./policy/names.ts";
export { explainAbsent, explainNamed } from "./policy/explain.ts";
export { builtinSubjects, explainPolicy, explainTools, groupsOf, type PolicyQuestion, type ToolExplanation } from "./policy/explain.ts";
export { groupOfKey, groupPolicy, type GroupFacts, type GroupSender } from "./policy/group.ts";
export { policyLayers, type Layer, type LayerFacts, type PolicyEntry, type ToolPolicy } from "./policy/layers.ts";
export { createCommandRecords } from "./process/command-records.ts";
export { createProcesses, type Processes } from "./process/processes.ts";
export { createFileAccess, type FileAccess, type FileRules, type FileVerdict } from "./file-access/file-access.ts";
export { knownSecret } from "./file-access/places.ts";
export { createFolderGrants } from "./file-access/grants.ts";
export type { OwnPlaces } from "./file-access/sealed.ts";
export type { CallFiles, FileToolsDeps } from "./builtin/files/paths.ts";
export type { SandboxFiles } from "./sandbox-files.ts";
export { createDockerCli } from "./sandbox/docker/docker-cli.ts";
export { createRegistry, type ContainerEntry, type ContainerKind } from "./sandbox/docker/registry.ts";
export { explainSandbox, type SandboxExplanation } from "./sandbox/explain.ts";
export { createSandboxes, type Sandbox, type Sandboxes, type SandboxesDeps, type SandboxState } from "./sandbox/sandboxes.ts";
export { isSessionSandboxed, sandboxSettings, type SandboxSettings } from "./sandbox/settings.ts";
export type { WebServices, WebToolsDeps } from "./builtin/web/deps.ts";
export { createMarkUntrusted, oneLine, withoutMarkers, type MarkUntrusted, type UntrustedOptions, type UntrustedSource } from "./untrusted/mark.ts";
export { memoryGetTool } from "./builtin/memory/memory-get.ts";
export { memorySearchTool } from "./builtin/memory/memory-search.ts";
export { createRecall, type Recall } from "./builtin/memory/recall.ts";
export { createTaint, type Taint, type TaintDeps, type TaintSettings } from "./untrusted/taint.ts";
export {
  failedOutcome,
  jsonOutcome,
  textOutcome,
  toolLabel,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolOutcome,
  type ToolQuestion,
  type ToolSource,
} from "./tool.ts";
export { applyPatchWorkspaceOnly } from "./builtin/patch/availability.ts";
export type { SearchToolsDeps } from "./builtin/search/effort.ts";
export type { ImageAnswer, ImageQuestion, ImageToolDeps } from "./builtin/image/image.ts";
export { createSealedCheck, openFileAccess, unasked, type OpenFileAccessDeps } from "./file-access/open-file-access.ts";
export { pendingWork } from "./approvals/approvals.ts";
export { sessionPast } from "./untrusted/taint.ts";
export { createToolSet, type ToolSet, type ToolSetDeps } from "./tool-set.ts";
export { elevationRefusal, mayStillGrant, namedForElevated } from "./authority/caller-settings.ts";
export { loadExplainFile, loadFormerCommands } from "./lazy.ts";
