import type { OpenClawConfig } from "../../../config/index.ts";
import type { Health } from "../../../protocol/index.ts";
import { agentList, keySettings } from "../sessions/keys.ts";

type Heartbeat = Health["agents"][number]["heartbeat"];

const ACK_MAX_CHARS = 300;

/** Nothing wakes agents yet: what is configured is shown, and that it does not run. */
export function heartbeatOf(config: OpenClawConfig, agent: ReturnType<typeof agentList>[number]): Heartbeat {
  const { every = "30m", prompt = "", target = "last", ackMaxChars = ACK_MAX_CHARS } = { ...config.agents?.defaults?.heartbeat, ...agent.heartbeat };
  return { enabled: false, every, everyMs: null, prompt, target, ackMaxChars };
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
