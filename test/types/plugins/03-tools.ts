import { Type } from "typebox";
import { type AnyAgentTool, emptyPluginConfigSchema, jsonResult, type OpenClawPluginApi, readStringParam, stringEnum } from "openclaw/plugin-sdk";

interface SearchParams {
  query: string;
  limit?: number;
}

function createNoteTool(workspaceDir: string): AnyAgentTool {
  return {
    name: "note",
    label: "Note",
    description: "Keeps a note.",
    parameters: Type.Object({ text: Type.String(), mode: stringEnum(["add", "replace"] as const) }),
    async execute(_toolCallId, params) {
      return jsonResult({ saved: readStringParam(params, "text", { required: true }), workspaceDir });
    },
  };
}

const plugin = {
  id: "tools",
  name: "Tools",
  description: "Two tools.",
  kind: "memory" as const,
  configSchema: emptyPluginConfigSchema(),
  register(api: OpenClawPluginApi) {
    api.registerTool({
      name: "search",
      description: "Searches.",
      parameters: Type.Object({ query: Type.String(), limit: Type.Optional(Type.Number()) }),
      async execute(_id: string, params: SearchParams, signal?: AbortSignal) {
        signal?.throwIfAborted();
        return { content: [{ type: "text", text: `${params.query} ${params.limit ?? 10}` }] };
      },
    });
    api.registerTool((ctx) => (ctx.workspaceDir && !ctx.sandboxed ? createNoteTool(ctx.workspaceDir) : null), { optional: true, names: ["note"] });
  },
};

export default plugin;
