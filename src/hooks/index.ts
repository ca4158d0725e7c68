/**
 * Typed hooks and internal hooks: the catalog, payload and result types, the runner with its budgets, isolation and breakers, trusted tool policies.
 * Entry point of the module.
 */
export { checkHookAccess } from "./access.ts";
export { HOOK_ALIASES, HOOKS, resolveHookName, type HookAlias } from "./catalog.ts";
export { createHooks, type HooksDeps } from "./create-hooks.ts";
export type * from "./events/index.ts";
export { SESSION_END_REASONS } from "./events/sessions.ts";
export { createFinalizeRetries, filterExecEnvironment, isExecVariable, type ExecEnvironment, type FinalizeRetries, type RetryDecision } from "./limits.ts";
export { createHookLog, currentHooks, hookLogEntries, hookTrace, MESSAGE_SPAN, messageTrace, traceIdOf, type HookLog, type HookLogEntry } from "./hook-log.ts";
export type { HookCall, HookOutcome, HookRegistration, HookRunOptions, Hooks } from "./hooks.ts";
export {
  createInternalHooks,
  type InternalHookEvent,
  type InternalHookHandler,
  type InternalHookRegistration,
  type InternalHooks,
  type InternalHooksDeps,
} from "./internal-hooks.ts";
export type { HookFilter, HookOptions } from "./registration.ts";
export type { Breaker, HookCallOutcome, HookStat, HookTraceRecord } from "./runner/stats.ts";
export { BUDGET_LIMITS, resolveHookSettings, type HookSettings } from "./settings.ts";
export type { FieldMerge, FieldSpec, FieldType, FieldValue, HookArea, HookMode, HookSpec } from "./spec.ts";
export { createToolPolicies, type ToolPolicies, type ToolPolicy, type ToolPolicyDecision, type ToolPolicyRegistration } from "./tool-policies.ts";
