/** `definePluginEntry`, and the types that a plugin's entry names. */
export {
  buildJsonPluginConfigSchema,
  buildPluginConfigSchema,
  definePluginEntry,
  type PluginEntryDefinition,
  type PluginEntryOptions,
} from "../entry/plugin-entry.ts";
export { emptyPluginConfigSchema } from "../entry/plugin-config.ts";
export type * from "../types/index.ts";
export type {
  AgentTool,
  AgentToolResult,
  AnyAgentTool,
  GatewayRequestHandler,
  GatewayRequestHandlerOptions,
  HostConfig as OpenClawConfig,
  OpenClawPluginCommandDefinition,
  OpenClawPluginService,
  OpenClawPluginServiceContext,
  PluginCommandContext,
  PluginCommandResult,
  PluginLogger,
  ProviderAuthContext,
  ProviderAuthMethod,
  ProviderAuthResult,
  ProviderPlugin,
  ReplyPayload,
  ToolContext as OpenClawPluginToolContext,
  ToolFactory as OpenClawPluginToolFactory,
} from "../../../protocol/index.ts";
export type { HookContext, HookEvent, HookHandler, HookName, HookOptions, HookResult } from "../../../hooks/index.ts";
