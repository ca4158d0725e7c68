import type { Absence, OfferFacts } from "../../declaration.ts";

/** Why a run has no memory tools of ours: another plugin keeps the memory, nobody does, or the agent's search is off. */
export function absentMemory({ config, agentId }: OfferFacts): Absence | undefined {
  const slot = config.plugins?.slots?.memory ?? "memory-core";
  if (config.plugins?.enabled === false) return { why: "plugins are switched off, and memory is one of them", path: "plugins.enabled" };
  if (slot !== "memory-core")
    return { why: slot === "none" ? "memory is switched off" : `the plugin ${slot} provides the memory`, path: "plugins.slots.memory" };
  const own = config.agents?.list?.find(({ id }) => id.trim().toLowerCase() === agentId.toLowerCase())?.memorySearch?.enabled;
  const enabled = own ?? config.agents?.defaults?.memorySearch?.enabled ?? true;
  return enabled ? undefined : { why: "memory search is switched off for this agent", path: "agents.defaults.memorySearch.enabled" };
}
