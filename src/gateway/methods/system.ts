import { covers, type Health, type MethodParams } from "../../protocol/index.ts";
import type { ChannelsPort } from "./channels.ts";
import type { MethodDeps, PresenceBoard } from "./deps.ts";
import type { Handlers } from "./handler.ts";
import { agentList, keySettings } from "./sessions/keys.ts";
import { queueSystemEvent } from "../system-events.ts";
import { readStatus } from "./system/status.ts";
import type { SessionRow } from "../../store/index.ts";
import { channelsHealth } from "./system/channels.ts";
import { storePath } from "./sessions/find.ts";
import { heartbeatOf } from "./system/heartbeats.ts";

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
async function lookAtHealth(deps: Deps & { readonly channels?: Pick<ChannelsPort, "status"> | undefined }): Promise<Health> {
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
    heartbeatSeconds: Math.round((agents.find((agent) => agent.isDefault)?.heartbeat.everyMs ?? 0) / 1000),
    defaultAgentId,
    agents,
    sessions,
  };
}

export interface SystemDeps extends MethodDeps {
  readonly presence: PresenceBoard;
  readonly channels?: Pick<ChannelsPort, "status"> | undefined;
}

/** Texts that a device repeats to say that it is there. */
const BEACON = /^Node:/;

/** Takes in who says so, and keeps the text for the next turn of the main session. A device's beacon is kept only when something changed. */
async function systemEvent(params: MethodParams<"system-event">, deps: SystemDeps): Promise<{ ok: true }> {
  const { presence, store, config, ids } = deps;
  const { idempotencyKey: _key, ...fields } = params;
  const text = params.text.trim();
  const changed = presence.update({ ...fields, text });
  if (text !== "" && (changed || !BEACON.test(text))) {
    await queueSystemEvent({ store, config, ids }, { text });
  }
  return { ok: true };
}

/** How the gateway is and who is there. */
export function systemHandlers(deps: SystemDeps) {
  return {
    // Looks each time; the gateway remembers what was seen for a minute.
    health: () => lookAtHealth(deps),
    status: (_params, { caller }) => readStatus(deps, covers(caller.scopes, "operator.admin")),
    "system-presence": () => deps.presence.list(),
    "system-event": (params) => systemEvent(params, deps),
  } satisfies Handlers;
}
