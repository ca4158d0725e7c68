import { CORE_TOOLS, toolName } from "../catalog.ts";
import type { Tool } from "../tool.ts";

/**
 * One tool per name, the first one that has it: nothing stands in for a built-in tool, in any spelling. A plugin that is called like a built-in
 * tool would be meant by lists that mean the tool, so it brings none.
 */
export function distinctTools(tools: readonly Tool[], tell: (text: string) => void): readonly Tool[] {
  const core = new Set([...CORE_TOOLS, ...tools.filter(({ source }) => source.kind === "core").map(({ name }) => name)]);
  const taken = new Set<string>();
  return tools.filter(({ name, source }) => {
    const plain = toolName(name);
    if (source.kind === "plugin" && core.has(toolName(source.id))) {
      tell(`the plugin ${source.id} is called like a built-in tool; its tool ${name} is left out: rename the plugin`);
      return false;
    }
    if (taken.has(plain) || (source.kind !== "core" && core.has(plain))) {
      tell(`there is another tool called ${plain}; the one of ${source.kind === "core" ? "this program" : `${source.kind} ${source.id}`} is left out`);
      return false;
    }
    taken.add(plain);
    return true;
  });
}
