export { type DeclaredTool, defineToolPlugin, type ToolPluginContext, type ToolPluginOptions, type ToolPluginTool } from "../tool-plugin.ts";
