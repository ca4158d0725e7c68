import { CORE_TOOLS, GROUPS, PROFILES, toolFacts, toolName } from "../catalog.ts";
import type { Tool } from "../tool.ts";

/** The facts about a tool that policies use. */
export type PolicySubject = Pick<Tool, "name" | "source" | "ownerOnly" | "optional">;

/** Only the owner of this gateway may use it, whatever the lists say. */
export function isOwnerOnly({ name, ownerOnly }: Pick<PolicySubject, "name" | "ownerOnly">): boolean {
  return ownerOnly === true || toolFacts(name)?.ownerOnly === true;
}

/** The tools of a group; undefined when there is no such group. */
export function groupTools(name: string): readonly string[] | undefined {
  return Object.hasOwn(GROUPS, name) ? GROUPS[name] : undefined;
}

/** The list of a profile; undefined when it has no opinion or is none. */
export function profileTools(name: string): readonly string[] | undefined {
  return Object.entries(PROFILES).find(([profile]) => profile === name)?.[1];
}

/** Does an entry of an allow or deny list mean this tool? `*` stands for any text, anywhere. */
export function names(entry: string, tool: Pick<PolicySubject, "name" | "source">): boolean {
  const wanted = toolName(entry);
  const name = tool.name.toLowerCase();
  if (wanted === "*" || wanted === name) return true;
  if (tool.source.kind === "plugin" && (wanted === "group:plugins" || wanted === tool.source.id.toLowerCase())) return true;
  const group = groupTools(wanted);
  if (group) return group.includes(name);
  return wanted.includes("*") && matches(wanted, name);
}

/** As `names`, for lists that allow: who may run commands may patch files. */
export function allows(entry: string, tool: Pick<PolicySubject, "name" | "source">): boolean {
  return names(entry, tool) || (tool.name === "apply_patch" && names(entry, { name: "exec", source: tool.source }));
}

/** Matches without a regular expression, so that no pattern can be slow. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...parts] = pattern.split("*");
  const last = parts.pop() ?? first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/**
 * One tool per name, the first one that has it: nothing stands in for a built-in tool, in any spelling. A plugin that is called like a built-in
 * tool would be meant by lists that mean the tool, so it brings none.
 */
export function distinctTools(tools: readonly Tool[], warn: (text: string) => void): readonly Tool[] {
  const core = new Set([...CORE_TOOLS, ...tools.filter(({ source }) => source.kind === "core").map(({ name }) => name)]);
  const taken = new Set<string>();
  return tools.filter(({ name, source }) => {
    const plain = toolName(name);
    if (source.kind === "plugin" && core.has(toolName(source.id))) {
      warn(`the plugin ${source.id} has the name of a built-in tool; its tool ${name} is skipped: rename the plugin`);
      return false;
    }
    if (taken.has(plain) || (source.kind !== "core" && core.has(plain))) {
      warn(`another tool is called ${plain}; the one of ${source.kind === "core" ? "this program" : `${source.kind} ${source.id}`} is skipped`);
      return false;
    }
    taken.add(plain);
    return true;
  });
}
