import type { OpenClawConfig } from "../config/index.ts";
import { agentKey, type Agents } from "./agents.ts";
import type { Chat } from "./chat.ts";
import { sessionKeys, type SessionKeys, type SessionRules } from "./session-keys.ts";

/** A chat that several agents answer, each in a session of its own, instead of the agent that bindings select. */
export interface Broadcast {
  /** The chat's id, as in `broadcast`. */
  readonly chatId: string;
  readonly strategy: "parallel" | "sequential";
  /** In the order of the list. */
  readonly agents: readonly (SessionKeys & { readonly agentId: string })[];
}

export interface BroadcastRules {
  readonly strategy: Broadcast["strategy"];
  readonly agentsOf: ReadonlyMap<string, readonly string[]>;
}

/** Agents that do not exist are left out: without `agents.list` the names in `broadcast` are not validated. */
export function readBroadcast({ broadcast }: OpenClawConfig, { ids }: Agents): BroadcastRules {
  const { strategy = "parallel", ...chats } = broadcast ?? {};
  const agentsOf = new Map<string, readonly string[]>();
  for (const [chatId, names] of Object.entries(chats)) {
    if (!Array.isArray(names)) continue;
    const known = [...new Set((names as readonly string[]).map(agentKey))].filter((id) => ids.has(id));
    if (known.length > 0) agentsOf.set(chatId.trim(), known);
  }
  return { strategy, agentsOf };
}

/** The broadcast for a chat, or for its thread's parent. */
export function broadcastTo(chat: Chat, { strategy, agentsOf }: BroadcastRules, rules: SessionRules): Broadcast | undefined {
  const chatId = [chat.peer?.id, chat.parent?.id].find((id) => id !== undefined && agentsOf.has(id));
  if (chatId === undefined) return undefined;
  return { chatId, strategy, agents: agentsOf.get(chatId)!.map((agentId) => ({ agentId, ...sessionKeys(agentId, chat, rules) })) };
}
