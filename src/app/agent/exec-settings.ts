import type { OpenClawConfig } from "../../config/index.ts";
import type { Elevation, ToolContext } from "../../tools/index.ts";

/** Whether whoever speaks may have commands leave the sandbox: `tools.elevated`, everybody's and the agent's, must both let them. */
export function elevationFor(config: OpenClawConfig, context: ToolContext): Elevation {
  const agent = config.agents?.list?.find(({ id }) => id.toLowerCase() === context.agentId.toLowerCase());
  const gates = [
    { at: "tools.elevated", rules: config.tools?.elevated },
    { at: `agents.list[${context.agentId}].tools.elevated`, rules: agent?.tools?.elevated },
  ];
  for (const { at, rules } of gates) {
    if (rules?.enabled === false) return { permitted: false, reason: `${at}.enabled is false` };
  }
  const channel = context.channel ?? "";
  const [all, own] = gates.map(({ rules }) => rules?.allowFrom?.[channel]);
  if (!isNamed(all, context)) return { permitted: false, reason: `tools.elevated.allowFrom.${channel} does not name this sender` };
  if (own !== undefined && !isNamed(own, context)) return { permitted: false, reason: `${gates[1]!.at}.allowFrom.${channel} does not name this sender` };
  return { permitted: true, level: context.elevated ?? "on" };
}

function isNamed(list: readonly (string | number)[] | undefined, { senderId }: ToolContext): boolean {
  return (list ?? []).some((entry) => entry === "*" || (senderId !== undefined && String(entry).toLowerCase() === senderId.toLowerCase()));
}
