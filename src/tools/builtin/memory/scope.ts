import type { OpenClawConfig } from "../../../config/index.ts";
import type { Memory, Scope } from "../../../memory/index.ts";
import type { Store } from "../../../store/index.ts";
import { groupOfKey } from "../../policy/group.ts";
import type { ToolContext } from "../../tool.ts";
import { visibilityOf } from "../session/visibility.ts";

export interface MemoryToolsDeps {
  readonly memory: Memory;
  readonly config: () => OpenClawConfig;
  readonly store: Pick<Store, "read">;
  readonly isSandboxed: (session: { readonly agentId: string; readonly sessionKey: string }) => boolean;
}

/** Sessions below a session that are looked for: a tree is shallow and small. */
const MOST_BELOW = 500;

/** The sessions that a session began, and those that they began. */
async function sessionsBelow(store: Pick<Store, "read">, sessionKey: string): Promise<readonly string[]> {
  const found: string[] = [];
  let level = [sessionKey];
  while (level.length > 0 && found.length < MOST_BELOW) {
    const pages = await Promise.all(level.map((spawnedBy) => store.read("sessions.list", { spawnedBy, limit: 50 })));
    level = pages.flatMap(({ rows }) => rows).flatMap(({ key }) => (key === sessionKey || found.includes(key) ? [] : [key]));
    found.push(...level);
  }
  return found.slice(0, MOST_BELOW);
}

/**
 * What a session may recall. In a group only its own conversation, unless the configuration opens it: notes and other conversations are about people
 * who are not there. Elsewhere the agent's notes, and the conversations that `sessions_history` would show.
 */
export async function memoryScope(deps: MemoryToolsDeps, context: Pick<ToolContext, "agentId" | "sessionKey">): Promise<Scope> {
  const { agentId, sessionKey } = context;
  if (groupOfKey(sessionKey) && deps.memory.settings(agentId).inGroups === "own") return { notes: false, sessions: [sessionKey] };
  const visibility = visibilityOf(deps, context);
  if (visibility === "agent" || visibility === "all") return { notes: true, sessions: "all" };
  return { notes: true, sessions: visibility === "self" ? [sessionKey] : [sessionKey, ...(await sessionsBelow(deps.store, sessionKey))] };
}
