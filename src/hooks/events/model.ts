/** Model calls. The first two never contain prompts, answers, headers, bodies or raw request ids. */
import type { AgentHookContext } from "./agent.ts";
import type { HookEventBase, NoResult } from "./values.ts";

export interface ModelCallStartedEvent extends HookEventBase {
  runId: string;
  callId: string;
  provider: string;
  model: string;
  api?: string;
  transport?: string;
  sessionKey?: string;
  sessionId?: string;
  contextTokenBudget?: number;
  contextWindowSource?: string;
  contextWindowReferenceTokens?: number;
}
export interface ModelCallEndedEvent extends ModelCallStartedEvent {
  durationMs: number;
  outcome: string;
  errorCategory?: string;
  upstreamRequestIdHash?: string;
}

export interface LlmInputEvent extends HookEventBase {
  runId: string;
  sessionId: string;
  provider: string;
  model: string;
  systemPrompt?: string;
  prompt: string;
  historyMessages: unknown[];
  imagesCount: number;
}
export interface LlmUsage {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  total?: number;
}
export interface LlmOutputEvent extends HookEventBase {
  runId: string;
  sessionId: string;
  provider: string;
  model: string;
  assistantTexts: string[];
  lastAssistant?: unknown;
  usage?: LlmUsage;
  contextTokenBudget?: number;
  contextWindowSource?: string;
  contextWindowReferenceTokens?: number;
}

export interface ModelHooks {
  model_call_started: { event: ModelCallStartedEvent; ctx: AgentHookContext; result: NoResult };
  model_call_ended: { event: ModelCallEndedEvent; ctx: AgentHookContext; result: NoResult };
  llm_input: { event: LlmInputEvent; ctx: AgentHookContext; result: NoResult };
  llm_output: { event: LlmOutputEvent; ctx: AgentHookContext; result: NoResult };
}
