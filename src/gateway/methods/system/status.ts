import { SYSTEM_EVENTS } from "../../../sessions/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import type { SessionRow } from "../../../store/index.ts";
import type { ChannelsPort } from "../channels.ts";
import type { MethodDeps } from "../deps.ts";
import { storePath } from "../sessions/find.ts";
import { agentList, keySettings, mainSessionKey } from "../sessions/keys.ts";
import { modelDefaults, type ModelDefaults } from "../sessions/models.ts";
import { sessionRow } from "../sessions/rows.ts";
import { channelLines } from "./channels.ts";
import { heartbeatSummary } from "./heartbeats.ts";

type Deps = Pick<MethodDeps, "config" | "store" | "clock">;
type Status = MethodResult<"status">;
type Recent = Status["sessions"]["recent"][number];

const RECENT = 10;
const FLAGS = ["thinkingLevel", "verboseLevel", "reasoningLevel", "elevatedLevel"] as const;

/** Words that tell what is unusual about a session. */
function flagsOf({ entry }: SessionRow): readonly string[] {
  const levels = FLAGS.flatMap((name) => (typeof entry[name] === "string" && entry[name] !== "off" ? [`${name.replace("Level", "")}:${entry[name]}`] : []));
  return [...levels, ...(entry.systemSent ? ["system"] : []), ...(entry.abortedLastRun ? ["aborted"] : []), `id:${entry.sessionId}`];
}

function recentRow(session: SessionRow, defaults: ModelDefaults, now: number): Recent {
  const row = sessionRow(session, defaults);
  const { totalTokens, contextTokens } = row;
  const known = typeof totalTokens === "number" && typeof contextTokens === "number" && contextTokens > 0;
  return {
    ...row,
    agentId: session.agentId,
    age: Math.max(0, now - session.entry.updatedAt),
    remainingTokens: known ? Math.max(0, contextTokens - totalTokens) : null,
    percentUsed: known ? Math.min(999, Math.round((totalTokens / contextTokens) * 100)) : null,
    flags: flagsOf(session),
  };
}

/** An overview. Callers without `operator.admin` see numbers, not sessions or places. */
export async function readStatus(deps: Deps & { readonly channels?: Pick<ChannelsPort, "status"> | undefined }, admin: boolean): Promise<Status> {
  const { config, store, clock } = deps;
  const now = clock.now();
  const defaults = modelDefaults(config.current);
  const path = storePath(deps);
  const rowsOf = async (agentId?: string): Promise<{ count: number; recent: readonly Recent[] }> => {
    const { rows, total } = await store.read("sessions.list", { agentId, limit: RECENT });
    return { count: total, recent: admin ? rows.map((row) => recentRow(row, defaults, now)) : [] };
  };
  const all = await rowsOf();
  const ids = agentList(config.current).map((agent) => agent.id.toLowerCase());
  const byAgent = await Promise.all(ids.map(async (agentId) => ({ agentId, path: admin ? path : "", ...(await rowsOf(agentId)) })));
  const queued = await store.read("injections.waiting", { sessionKey: mainSessionKey(keySettings(config.current)), now });
  return {
    heartbeat: heartbeatSummary(config.current),
    channelSummary: await channelLines(deps.channels),
    queuedSystemEvents: admin ? queued.filter((row) => row.pluginId === SYSTEM_EVENTS).map((row) => row.text) : [],
    sessions: {
      paths: admin ? [path] : [],
      count: all.count,
      defaults: admin ? { model: defaults.model, contextTokens: defaults.contextTokens } : { model: null, contextTokens: null },
      recent: all.recent,
      byAgent,
    },
  };
}
