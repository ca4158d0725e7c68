import { AppError } from "../../base/errors.ts";
import type { Tool, ToolContext } from "../../tools/index.ts";
import type { Plugins } from "./create-plugins.ts";

type PluginAgent = NonNullable<ReturnType<Plugins["agent"]>>;
type PluginTool = ReturnType<PluginAgent["tools"]>[number];

/** The tools of plugins as the broker runs them. */
export function pluginTools(plugins: PluginAgent, context: ToolContext, facts: Readonly<Record<string, unknown>>): readonly Tool[] {
  const { agentId, sessionKey, sessionId, workspaceDir, channel, accountId, senderId, owner, provider, modelId } = context;
  const make = (): readonly PluginTool[] =>
    plugins.tools({
      ...facts,
      workspaceDir,
      agentId,
      sessionKey,
      sessionId,
      messageChannel: channel,
      agentAccountId: accountId,
      requesterSenderId: senderId,
      senderIsOwner: owner,
      ...(provider === undefined || modelId === undefined ? {} : { activeModel: { provider, model: modelId } }),
    });
  const made = make();
  return made.map((tool) => asTool(tool, make));
}

function prepareWith({ prepareArguments }: PluginTool, raw: Readonly<Record<string, unknown>>): unknown {
  return typeof prepareArguments === "function" ? (prepareArguments as (given: unknown) => unknown)({ ...raw }) : raw;
}

const NO_PARAMETERS = { type: "object", properties: {} };

/** The tool as its plugin has it now: a turn chooses its tools once, and the plugin may have been reloaded since. */
function current(tool: PluginTool, make: () => readonly PluginTool[]): PluginTool {
  if (tool.isLive()) return tool;
  const { name, pluginId } = tool;
  const found = make().find((one) => one.name === name && one.pluginId === pluginId);
  if (found) return found;
  throw new AppError("UNAVAILABLE", `the tool ${name} no longer exists: the plugin ${pluginId} was turned off, or reloaded without it`);
}

function asTool(tool: PluginTool, make: () => readonly PluginTool[]): Tool {
  const { name, label, description = "", parameters, ownerOnly, optional, executionMode, pluginId } = tool;
  return {
    name: name.toLowerCase(),
    description,
    parameters: typeof parameters === "object" && parameters !== null ? (parameters as Tool["parameters"]) : NO_PARAMETERS,
    source: { kind: "plugin", id: pluginId },
    optional,
    ...(label === undefined ? {} : { label }),
    ...(ownerOnly === undefined ? {} : { ownerOnly }),
    ...(executionMode === "parallel" ? { executionMode } : {}),
    ...(typeof tool.prepareArguments === "function"
      ? { prepareArguments: (raw: Readonly<Record<string, unknown>>): unknown => prepareWith(current(tool, make), raw) }
      : {}),
    // What it returns is checked and bounded by the broker.
    run: async ({ id, params, signal, update }) =>
      (await current(tool, make).execute(id, params, signal, (partial) => update(partial as never))) as Awaited<ReturnType<Tool["run"]>>,
  };
}
