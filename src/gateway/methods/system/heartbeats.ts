import { heartbeatAgents, heartbeatSettings, type OpenClawConfig } from "../../../config/index.ts";
import type { Health } from "../../../protocol/index.ts";
import { agentList, keySettings } from "../sessions/keys.ts";

type Heartbeat = Health["agents"][number]["heartbeat"];

/** How an agent is woken by itself. */
export function heartbeatOf(config: OpenClawConfig, agent: ReturnType<typeof agentList>[number]): Heartbeat {
  const agentId = agent.id.toLowerCase();
  const { every, everyMs, prompt, target, ackMaxChars } = heartbeatSettings(config, agentId);
  const enabled = everyMs > 0 && heartbeatAgents(config).includes(agentId);
  return { enabled, every: enabled ? every : "disabled", everyMs: enabled ? everyMs : null, prompt, target, ackMaxChars };
}

/** The heartbeats of all agents, for `status`. */
export function heartbeatSummary(config: OpenClawConfig): {
  defaultAgentId: string;
  agents: { agentId: string; enabled: boolean; every: string; everyMs: number | null }[];
} {
  const agents = agentList(config).map((agent) => {
    const { enabled, every, everyMs } = heartbeatOf(config, agent);
    return { agentId: agent.id.toLowerCase(), enabled, every, everyMs };
  });
  return { defaultAgentId: keySettings(config).defaultAgentId, agents };
}
