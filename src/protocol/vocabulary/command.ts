/** A chat command that answers without a model. */
import type { HostConfig } from "./host-config.ts";
import type { ReplyPayload } from "./reply.ts";

export interface PluginCommandContext {
  senderId?: string | undefined;
  channel: string;
  channelId?: string | undefined;
  isAuthorizedSender: boolean;
  senderIsOwner?: boolean | undefined;
  /** What follows the name, at most 4096 characters, without control characters. */
  args?: string | undefined;
  commandBody: string;
  config: HostConfig;
  from?: string | undefined;
  to?: string | undefined;
  accountId?: string | undefined;
  messageThreadId?: string | number | undefined;
  agentId?: string | undefined;
  sessionKey?: string | undefined;
  sessionId?: string | undefined;
  /** Fires when the command is stopped (`/stop`, `chat.abort`) or exceeds its time. What the handler returns after that is dropped. */
  signal?: AbortSignal | undefined;
}

export interface PluginCommandResult extends ReplyPayload {
  /** The agent gets its turn as well. */
  continueAgent?: boolean | undefined;
  suppressReply?: boolean | undefined;
}

export type PluginCommandHandler = (ctx: PluginCommandContext) => PluginCommandResult | Promise<PluginCommandResult>;

export interface OpenClawPluginCommandDefinition {
  /** `[a-z][a-z0-9_-]*`, without the slash. */
  name: string;
  description: string;
  /** Without it `/name anything` does not match. Default false. */
  acceptsArgs?: boolean | undefined;
  /** Default true. */
  requireAuth?: boolean | undefined;
  channels?: string[] | undefined;
  nativeNames?: Record<string, string> | undefined;
  agentPromptGuidance?: string | string[] | undefined;
  requiredScopes?: string[] | undefined;
  handler: PluginCommandHandler;
}
