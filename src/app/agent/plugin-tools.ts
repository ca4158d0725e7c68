import type { Tool, ToolContext } from "../../tools/index.ts";
import type { Plugins } from "../plugins/index.ts";

type PluginAgent = NonNullable<ReturnType<Plugins["agent"]>>;
type PluginTool = ReturnType<PluginAgent["tools"]>[number];

/** The tools of plugins as the broker runs them. */
export function pluginTools(plugins: PluginAgent | undefined, context: ToolContext, facts: Readonly<Record<string, unknown>>): readonly Tool[] {
  if (!plugins) return [];
  const { agentId, sessionKey, sessionId, workspaceDir, channel, accountId, senderId, owner, provider, modelId } = context;
  const made = plugins.tools({
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
  return made.map(asTool);
}

const NO_PARAMETERS = { type: "object", properties: {} };

function asTool(tool: PluginTool): Tool {
  const { name, label, description = "", parameters, ownerOnly, optional, pluginId } = tool;
  return {
    name: name.toLowerCase(),
    description,
    parameters: typeof parameters === "object" && parameters !== null ? (parameters as Tool["parameters"]) : NO_PARAMETERS,
    source: { kind: "plugin", id: pluginId },
    optional,
    ...(label === undefined ? {} : { label }),
    ...(ownerOnly === undefined ? {} : { ownerOnly }),
    // What it returns is checked and bounded by the broker.
    run: async ({ id, params, signal, update }) =>
      (await tool.execute(id, params, signal, (partial) => update(partial as never))) as Awaited<ReturnType<Tool["run"]>>,
  };
}
