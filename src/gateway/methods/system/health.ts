import type { Health } from "../../../protocol/index.ts";
import type { SessionRow } from "../../../store/index.ts";
import type { ChannelsPort } from "../channels.ts";
import type { MethodDeps } from "../deps.ts";
import { channelsHealth } from "./channels.ts";
import { storePath } from "../sessions/find.ts";
import { agentList, keySettings } from "../sessions/keys.ts";
import { heartbeatOf } from "./heartbeats.ts";

type Deps = Pick<MethodDeps, "config" | "store" | "clock">;
type Counted = Health["sessions"];

const RECENT = 5;

/** Number and newest of the sessions of one agent, or of all. */
async function counted(deps: Deps, agentId?: string): Promise<Counted> {
  const { store, clock } = deps;
  const { rows, total } = await store.read("sessions.list", { agentId, limit: RECENT });
  const now = clock.now();
  const recent = rows.map(({ key, entry }: SessionRow) => ({ key, updatedAt: entry.updatedAt, age: Math.max(0, now - entry.updatedAt) }));
  return { path: storePath(deps), count: total, recent };
}

/** How the gateway is now. */
export async function lookAtHealth(deps: Deps & { readonly channels?: Pick<ChannelsPort, "status"> | undefined }): Promise<Health> {
  const { config, clock } = deps;
  const startedAt = clock.monotonic();
  const { defaultAgentId } = keySettings(config.current);
  const agents = await Promise.all(
    agentList(config.current).map(async (agent) => {
      const agentId = agent.id.toLowerCase();
      return {
        agentId,
        ...(agent.name === undefined ? {} : { name: agent.name }),
        isDefault: agentId === defaultAgentId,
        heartbeat: heartbeatOf(config.current, agent),
        sessions: await counted(deps, agentId),
      };
    }),
  );
  const channels = await channelsHealth(deps.channels);
  const sessions = agents.find((agent) => agent.isDefault)?.sessions ?? (await counted(deps, defaultAgentId));
  return {
    ok: true,
    ts: clock.now(),
    durationMs: Math.round(clock.monotonic() - startedAt),
    ...channels,
    heartbeatSeconds: 0,
    defaultAgentId,
    agents,
    sessions,
  };
}
