/** The agent's turn, from choosing a model to its end. */
import type { HookContextBase, HookEventBase, HookReplyPayload, HookTrace, NoResult } from "./values.ts";

/** Facts about the turn that a hook is called in. */
export interface AgentHookContext extends HookContextBase {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  runId?: string;
  /** The cron job that started the run. */
  jobId?: string;
  /** What started the run, as filters name it. */
  trigger?: "cron" | "heartbeat" | "user";
  workspaceDir?: string;
  messageProvider?: string;
  channel?: string;
  /** The conversation at its channel. */
  channelId?: string;
  senderId?: string;
  chatId?: string;
  /** Not supplied; old plugins read it. */
  senderExternalId?: string;
  channelContext?: { sender?: { id?: string; [key: string]: unknown }; chat?: { id?: string; [key: string]: unknown } };
  trace?: HookTrace;
  /** Tokens that fit after all caps. */
  contextTokenBudget?: number;
  contextWindowSource?: string;
  contextWindowReferenceTokens?: number;
}

/** Facts about an attachment before it is loaded. */
export interface AttachmentFacts {
  kind?: string;
  mimeType?: string;
  name?: string;
  size?: number;
  [key: string]: unknown;
}

export interface BeforeModelResolveEvent extends HookEventBase {
  prompt: string;
  attachments?: AttachmentFacts[];
}
export interface BeforeModelResolveResult {
  providerOverride?: string;
  modelOverride?: string;
}

/** Text that was queued for this turn. */
export interface TurnInjection {
  pluginId: string;
  text: string;
  idempotencyKey?: string;
  placement?: string;
  metadata?: Record<string, unknown>;
}
export interface AgentTurnPrepareEvent extends HookEventBase {
  prompt: string;
  messages: unknown[];
  injections: TurnInjection[];
}
export interface PromptContext {
  prependContext?: string;
  appendContext?: string;
}

export interface BeforePromptBuildEvent extends HookEventBase {
  prompt: string;
  messages: unknown[];
  currentUserMessage?: string;
  /** Not supplied: the message has no entry in the transcript yet. */
  currentUserMessageId?: string;
}
export interface BeforePromptBuildResult extends PromptContext {
  /** Replaces the host's own. */
  systemPrompt?: string;
  prependSystemContext?: string;
  appendSystemContext?: string;
  /** Only these tools in this turn. */
  toolsAllow?: string[];
}

export interface BeforeAgentStartEvent extends HookEventBase {
  prompt: string;
  messages?: unknown[];
  runId?: string;
}
export interface BeforeAgentStartResult extends BeforePromptBuildResult, BeforeModelResolveResult {}

export interface HeartbeatPromptEvent extends HookEventBase {
  prompt?: string;
  messages?: unknown[];
  runId?: string;
}

export interface BeforeAgentRunEvent extends HookEventBase {
  prompt: string;
  messages: unknown[];
  systemPrompt?: string;
}
export type BeforeAgentRunResult =
  | { outcome: "pass" }
  | {
      outcome: "block";
      /** Sensitive: never stored. */
      reason: string;
      /** Stored in the transcript and shown instead. */
      message?: string;
    };

export interface BeforeAgentReplyEvent extends HookEventBase {
  cleanedBody: string;
  prompt?: string;
  messages?: unknown[];
}
export interface BeforeAgentReplyResult {
  handled: boolean;
  /** Absent with `handled`: no reply. */
  reply?: HookReplyPayload;
  reason?: string;
}

export interface BeforeAgentFinalizeEvent extends HookEventBase {
  /** The answer that the model ended with. */
  answer?: string;
  lastAssistantMessage?: string;
  messages?: unknown[];
  runId?: string;
  /** Passes requested so far in this run. */
  attempt?: number;
}
export interface FinalizeRetry {
  instruction: string;
  idempotencyKey?: string;
  /** For this request; the host's own cap applies, too. */
  maxAttempts?: number;
}
export type BeforeAgentFinalizeResult = { action: "revise"; reason: string; retry?: FinalizeRetry } | { action: "finalize"; reason?: string };

export interface AgentEndEvent extends HookEventBase {
  messages: unknown[];
  success: boolean;
  error?: string;
  durationMs?: number;
  runId?: string;
}

export interface AgentHooks {
  before_model_resolve: { event: BeforeModelResolveEvent; ctx: AgentHookContext; result: BeforeModelResolveResult };
  agent_turn_prepare: { event: AgentTurnPrepareEvent; ctx: AgentHookContext; result: PromptContext };
  before_prompt_build: { event: BeforePromptBuildEvent; ctx: AgentHookContext; result: BeforePromptBuildResult };
  before_agent_start: { event: BeforeAgentStartEvent; ctx: AgentHookContext; result: BeforeAgentStartResult };
  heartbeat_prompt_contribution: { event: HeartbeatPromptEvent; ctx: AgentHookContext; result: PromptContext };
  before_agent_run: { event: BeforeAgentRunEvent; ctx: AgentHookContext; result: BeforeAgentRunResult };
  before_agent_reply: { event: BeforeAgentReplyEvent; ctx: AgentHookContext; result: BeforeAgentReplyResult };
  before_agent_finalize: { event: BeforeAgentFinalizeEvent; ctx: AgentHookContext; result: BeforeAgentFinalizeResult };
  agent_end: { event: AgentEndEvent; ctx: AgentHookContext; result: NoResult };
}
