/** The tools that use nodes and canvases. */
export { canvasTool } from "./canvas/tool.ts";
export { nodesTool } from "./tool/nodes-tool.ts";
