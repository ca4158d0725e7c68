/** Sub-agents: what is loaded with the first turn. */
export { createSubagents } from "./subagents.ts";
export { agentRefusal } from "./spawn.ts";
export { spawnTool, subagentsTool } from "./tool.ts";
