/** `runtime.agent`, as far as it is about places and names; what runs an agent is pending. */
import { join } from "node:path";
import type { HostConfig } from "../../protocol/index.ts";
import type { PendingMember } from "./pending.ts";
import type { RuntimePorts } from "./ports.ts";

const idOf = (agentId: string | undefined): string => agentId?.trim().toLowerCase() || "main";

export function createAgent({ config, store, canonicalKey }: RuntimePorts, pending: PendingMember): Record<string, unknown> {
  const agentOf = (cfg: HostConfig, agentId: string | undefined) => cfg.agents?.list?.find((entry) => entry.id.toLowerCase() === idOf(agentId));
  return {
    resolveAgentDir: (_cfg: HostConfig, agentId?: string) => join(config.paths.state, "agents", idOf(agentId), "agent"),
    resolveAgentIdentity: (cfg: HostConfig, agentId?: string) => agentOf(cfg, agentId)?.identity,
    session: {
      getSessionEntry: async ({ sessionKey }: { sessionKey: string }) =>
        (await store.read("sessions.get", { key: canonicalKey(sessionKey) ?? sessionKey }))?.entry,
    },
    runCommandFromIngress: pending("agent.runCommandFromIngress"),
    runEmbeddedAgent: pending("agent.runEmbeddedAgent"),
    ensureAgentWorkspace: pending("agent.ensureAgentWorkspace"),
  };
}
