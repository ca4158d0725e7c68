/** A tool that an agent may call, and what it answers. */
import type { ImageContent, TextContent } from "../model-messages.ts";
import type { HostConfig } from "./host-config.ts";

export interface AgentToolResult<Details = unknown> {
  content: (TextContent | ImageContent)[];
  /** For machines and the log: never sent to a model. */
  details?: Details | undefined;
  /** Ends the turn after this result. */
  terminate?: boolean | undefined;
  progress?: unknown;
}

export type ToolUpdate<Details = unknown> = (partial: AgentToolResult<Details>) => void;

export interface AgentTool<Params = Record<string, unknown>, Details = unknown> {
  name: string;
  description: string;
  /** For people; the name where it is missing. */
  label?: string | undefined;
  /** JSON Schema of an object: written by hand or by TypeBox. */
  parameters: object;
  /** Refused for everybody but the owner. */
  ownerOnly?: boolean | undefined;
  outputSchema?: object | undefined;
  prepareArguments?(raw: unknown): unknown;
  /** `parallel`: only reads, so that calls in one answer may run side by side. Default: in order, one after the other. */
  executionMode?: string | undefined;
  catalogMode?: string | undefined;
  /** A throw becomes a tool error that the model reads. */
  execute(
    toolCallId: string,
    params: Params,
    signal?: AbortSignal,
    onUpdate?: ToolUpdate<Details>,
  ): Promise<AgentToolResult<Details>> | AgentToolResult<Details>;
}

export type AnyAgentTool = AgentTool;

/** What a tool factory knows about the run that it makes tools for. */
export interface ToolContext {
  config?: HostConfig | undefined;
  workspaceDir?: string | undefined;
  agentDir?: string | undefined;
  agentId?: string | undefined;
  sessionKey?: string | undefined;
  /** Changes with `/new` and `/reset`, unlike the key. */
  sessionId?: string | undefined;
  messageChannel?: string | undefined;
  agentAccountId?: string | undefined;
  sandboxed?: boolean | undefined;
  activeModel?: { provider: string; model: string } | undefined;
  deliveryContext?:
    | { channel?: string | undefined; to?: string | undefined; accountId?: string | undefined; threadId?: string | number | undefined }
    | undefined;
  requesterSenderId?: string | undefined;
  senderIsOwner?: boolean | undefined;
  getRuntimeConfig?: (() => HostConfig) | undefined;
  resolveApiKeyForProvider?: ((provider: string) => Promise<string | undefined>) | undefined;
}

/** Runs once per agent run; nothing or `null` means that there is no tool in this one. */
export type ToolFactory = (ctx: ToolContext) => AnyAgentTool | AnyAgentTool[] | null | undefined;

export interface ToolOptions {
  name?: string | undefined;
  /** Every tool a factory can make. */
  names?: string[] | undefined;
  /** Only for agents whose allow list names the tool, the plugin or `group:plugins`. */
  optional?: boolean | undefined;
}
