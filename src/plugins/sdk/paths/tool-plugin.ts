export { type DeclaredTool, defineToolPlugin, type ToolPluginContext, type ToolPluginOptions, type ToolPluginTool } from "../entry/tool-plugin.ts";
