/** What plugins register besides tools, providers and channels: commands, gateway methods, HTTP handlers and services. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestFrame } from "../frames.ts";
import type { HostConfig } from "./host-config.ts";
import type { PluginLogger } from "./environment.ts";
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

/** Codes in use: NOT_LINKED, NOT_PAIRED, AGENT_TIMEOUT, INVALID_REQUEST, UNAVAILABLE. */
export interface GatewayMethodError {
  code: string;
  message: string;
  details?: unknown;
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
}

export type RespondFn = (ok: boolean, payload?: unknown, error?: GatewayMethodError, meta?: Record<string, unknown>) => void;

export interface GatewayMethodClient {
  connect: Record<string, unknown>;
  connId?: string | undefined;
  clientIp?: string | undefined;
}

export interface GatewayRequestHandlerOptions {
  req: RequestFrame;
  params: Record<string, unknown>;
  /** Nobody for calls that the gateway makes itself. */
  client: GatewayMethodClient | null;
  isWebchatConnect(client: unknown): boolean;
  respond: RespondFn;
  /** Ports of the running gateway; a part that is not built answers `UNAVAILABLE`. */
  context: Record<string, unknown>;
}

export type GatewayRequestHandler = (options: GatewayRequestHandlerOptions) => Promise<void> | void;

/** Asked in order for requests that nothing else took; `true` means answered. */
export type OpenClawPluginHttpHandler = (req: IncomingMessage, res: ServerResponse) => Promise<boolean> | boolean;
export type OpenClawPluginHttpRouteHandler = (req: IncomingMessage, res: ServerResponse) => unknown;

export interface OpenClawPluginHttpRoute {
  path: string;
  handler: OpenClawPluginHttpRouteHandler;
  /** `gateway`: the gateway's own authentication first. `plugin` (the default): the handler checks whom it answers. */
  auth?: "gateway" | "plugin" | undefined;
  match?: "exact" | "prefix" | undefined;
  replaceExisting?: boolean | undefined;
  handleUpgrade?: ((req: IncomingMessage, socket: unknown, head: Buffer) => unknown) | undefined;
}

export interface OpenClawPluginServiceContext {
  config: HostConfig;
  workspaceDir?: string | undefined;
  stateDir: string;
  logger: PluginLogger;
}

export interface OpenClawPluginService {
  id: string;
  start(ctx: OpenClawPluginServiceContext): void | Promise<void>;
  stop?(ctx: OpenClawPluginServiceContext): void | Promise<void>;
}
