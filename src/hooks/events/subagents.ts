/** Agents that an agent starts. */
import type { HookContextBase, HookEventBase, HookOrigin, NoResult } from "./values.ts";

export interface SubagentHookContext extends HookContextBase {
  runId?: string;
  childSessionKey?: string;
  requesterSessionKey?: string;
}

export interface SubagentSpawningEvent extends HookEventBase {
  childSessionKey: string;
  agentId: string;
  label?: string;
  mode: "run" | "session";
  requester?: HookOrigin;
  threadRequested: boolean;
}
export type SubagentSpawningResult = { status: "ok"; threadBindingReady?: boolean } | { status: "error"; error: string };

export interface SubagentDeliveryTargetEvent extends HookEventBase {
  childSessionKey: string;
  requesterSessionKey: string;
  requesterOrigin?: HookOrigin;
  childRunId?: string;
  spawnMode?: "run" | "session";
  expectsCompletionMessage: boolean;
}
export interface SubagentDeliveryTargetResult {
  origin?: HookOrigin;
}

export interface SubagentSpawnedEvent extends SubagentSpawningEvent {
  runId: string;
  resolvedModel?: string;
  resolvedProvider?: string;
}

export interface SubagentProgressEvent extends HookEventBase {
  phase: "started" | "ended";
  runId: string;
  childSessionKey: string;
  outcome?: string;
  requester?: HookOrigin;
}

export interface SubagentEndedEvent extends HookEventBase {
  /** Called `childSessionKey` in `subagent_spawned`. */
  targetSessionKey: string;
  targetKind: "subagent" | "acp";
  reason: string;
  outcome?: "ok" | "error" | "timeout" | "killed" | "reset" | "deleted";
  error?: string;
  runId?: string;
  endedAt?: number;
  accountId?: string;
  sendFarewell?: boolean;
}

export interface SubagentHooks {
  subagent_spawning: { event: SubagentSpawningEvent; ctx: SubagentHookContext; result: SubagentSpawningResult };
  subagent_delivery_target: { event: SubagentDeliveryTargetEvent; ctx: SubagentHookContext; result: SubagentDeliveryTargetResult };
  subagent_spawned: { event: SubagentSpawnedEvent; ctx: SubagentHookContext; result: NoResult };
  subagent_progress: { event: SubagentProgressEvent; ctx: SubagentHookContext; result: NoResult };
  subagent_ended: { event: SubagentEndedEvent; ctx: SubagentHookContext; result: NoResult };
}
