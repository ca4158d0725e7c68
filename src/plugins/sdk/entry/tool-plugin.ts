/** The short way to a plugin that only has tools: they return plain values. */
import type { Static, TSchema } from "typebox";
import type { AgentToolResult, AnyAgentTool, ToolContext } from "../../../protocol/index.ts";
import { jsonResult } from "../params.ts";
import { definePluginEntry, type PluginEntryDefinition } from "./plugin-entry.ts";
import type { OpenClawPluginApi } from "../types/api.ts";
import type { OpenClawPluginConfigSchema } from "../types/definition.ts";

export interface ToolPluginContext {
  api: OpenClawPluginApi;
  toolCallId: string;
  signal?: AbortSignal | undefined;
  toolContext: ToolContext;
}

type ParamsOf<Schema> = Schema extends TSchema ? Static<Schema> : Record<string, unknown>;

export interface ToolPluginTool<Schema extends object = object, Config = Record<string, unknown>> {
  name: string;
  label?: string | undefined;
  description: string;
  /** JSON Schema of an object. */
  parameters: Schema;
  optional?: boolean | undefined;
  /** Anything but a tool result becomes JSON; a text stays as it is. */
  execute(params: ParamsOf<Schema>, config: Config, context: ToolPluginContext): unknown;
}

/** A tool whose parameters are known no more. */
export interface DeclaredTool<Config> {
  name: string;
  label?: string | undefined;
  description: string;
  parameters: object;
  optional?: boolean | undefined;
  execute(params: never, config: Config, context: ToolPluginContext): unknown;
}

export interface ToolPluginOptions<Config> {
  id: string;
  name: string;
  description: string;
  configSchema?: OpenClawPluginConfigSchema | undefined;
  /** `tool(…)` gives each declaration its types. */
  tools(tool: <Schema extends object>(declaration: ToolPluginTool<Schema, Config>) => DeclaredTool<Config>): DeclaredTool<Config>[];
}

function asResult(value: unknown): AgentToolResult {
  if (typeof value === "object" && value !== null && Array.isArray((value as AgentToolResult).content)) return value as AgentToolResult;
  return typeof value === "string" ? { content: [{ type: "text", text: value }], details: value } : jsonResult(value ?? null);
}

/** A plugin whose tools get their parameters and the plugin's settings. */
export function defineToolPlugin<Config = Record<string, unknown>>(options: ToolPluginOptions<Config>): PluginEntryDefinition {
  const { id, name, description, configSchema } = options;
  const tools = options.tools((declaration) => declaration);
  return definePluginEntry({
    id,
    name,
    description,
    configSchema,
    register(api) {
      for (const tool of tools) {
        const factory = (toolContext: ToolContext): AnyAgentTool => ({
          name: tool.name,
          label: tool.label ?? tool.name,
          description: tool.description,
          parameters: tool.parameters,
          async execute(toolCallId, params, signal) {
            return asResult(await tool.execute(params as never, (api.pluginConfig ?? {}) as Config, { api, toolCallId, signal, toolContext }));
          },
        });
        api.registerTool(factory, { name: tool.name, optional: tool.optional });
      }
    },
  });
}
