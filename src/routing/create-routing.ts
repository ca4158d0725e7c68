import type { OpenClawConfig } from "../config/index.ts";
import {
  agentKey,
  createBindingIndex,
  notLookedAt,
  readAgents,
  readBindings,
  TIERS,
  type Agents,
  type Binding,
  type BindingIndex,
  type MatchedBy,
} from "./bindings.ts";
import { parseLocation, type Chat, type RouteLocation } from "./chat.ts";
import { explain, findFault, type Explanation } from "./explain.ts";
import { readSessionRules, sessionKeys, type SessionKeys, type SessionRules } from "./session-keys.ts";

/** A chat that several agents answer, each in a session of its own, instead of the agent that bindings select. */
export interface Broadcast {
  /** The chat's id, as in `broadcast`. */
  readonly chatId: string;
  readonly strategy: "parallel" | "sequential";
  /** In the order of the list. */
  readonly agents: readonly (SessionKeys & { readonly agentId: string })[];
}

interface BroadcastRules {
  readonly strategy: Broadcast["strategy"];
  readonly agentsOf: ReadonlyMap<string, readonly string[]>;
}

/** Agents that do not exist are left out: without `agents.list` the names in `broadcast` are not validated. */
function readBroadcast({ broadcast }: OpenClawConfig, { ids }: Agents): BroadcastRules {
  const { strategy = "parallel", ...chats } = broadcast ?? {};
  const agentsOf = new Map<string, readonly string[]>();
  for (const [chatId, names] of Object.entries(chats)) {
    if (!Array.isArray(names)) continue;
    const known = [...new Set(names.map(agentKey))].filter((id) => ids.has(id));
    if (known.length > 0) agentsOf.set(chatId.trim(), known);
  }
  return { strategy, agentsOf };
}

/** The broadcast for a chat, or for its thread's parent. */
function broadcastTo(chat: Chat, { strategy, agentsOf }: BroadcastRules, rules: SessionRules): Broadcast | undefined {
  for (const { id: chatId } of [chat.peer, chat.parent].filter((one) => one !== undefined)) {
    const agents = agentsOf.get(chatId);
    if (agents) return { chatId, strategy, agents: agents.map((agentId) => ({ agentId, ...sessionKeys(agentId, chat, rules) })) };
  }
  return undefined;
}

/** A location, and the configuration that says who answers there. A configuration is immutable once passed. */
export interface RouteInput extends RouteLocation {
  readonly config: OpenClawConfig;
}

/** One tier of the decision. */
export interface TierStep {
  readonly tier: MatchedBy;
  /** `matched` is always the last one. */
  readonly state: "matched" | "none" | "skipped";
  /** Why it was skipped, or what matched. */
  readonly note?: string;
}

/** Which agent answers a message, and in which session. */
export interface Route extends SessionKeys {
  readonly agentId: string;
  readonly channel: string;
  readonly accountId: string;
  readonly matchedBy: MatchedBy;
  /** The binding that decided, with its path in the configuration. */
  readonly binding?: { readonly index: number; readonly path: string };
  /** If present, these agents answer, and no other. */
  readonly broadcast?: Broadcast;
  /** The tiers that were searched, down to the one that decided. */
  readonly explanation: readonly TierStep[];
  /** Number of index lookups; it does not depend on the number of bindings. */
  readonly lookups: number;
}

/** Decides which agent answers. Deterministic; it stores nothing and never throws. */
export interface Routing {
  resolveRoute(question: RouteInput): Route;
  /** The same decision with an explanation for every binding: linear in the number of bindings, for people. */
  explainRoute(question: RouteInput): Route & Explanation;
  /** The sessions of a chat with an agent that was chosen in another way. */
  sessionKeys(agentId: string, question: RouteInput): SessionKeys;
}

/** The parsed rules of a configuration. */
interface Rules {
  readonly agents: Agents;
  readonly bindings: readonly Binding[];
  readonly index: BindingIndex;
  readonly sessions: SessionRules;
  readonly broadcast: BroadcastRules;
}

function readRules(config: OpenClawConfig): Rules {
  const agents = readAgents(config);
  const bindings = readBindings(config);
  return {
    agents,
    bindings,
    index: createBindingIndex(bindings.filter((binding) => findFault(binding, agents) === undefined)),
    sessions: readSessionRules(config),
    broadcast: readBroadcast(config, agents),
  };
}

function resolve(chat: Chat, rules: Rules): Route {
  const explanation: TierStep[] = [];
  let lookups = 0;
  const routeTo = (agentId: string, matchedBy: MatchedBy, binding?: Route["binding"]): Route => {
    const broadcast = rules.broadcast.agentsOf.size > 0 ? broadcastTo(chat, rules.broadcast, rules.sessions) : undefined;
    return {
      agentId,
      channel: chat.channel,
      accountId: chat.accountId,
      ...sessionKeys(agentId, chat, rules.sessions),
      matchedBy,
      ...(binding ? { binding } : {}),
      ...(broadcast ? { broadcast } : {}),
      explanation,
      lookups,
    };
  };
  for (const tier of TIERS) {
    const why = notLookedAt(tier, chat);
    if (why !== undefined) {
      explanation.push({ tier, state: "skipped", note: why });
      continue;
    }
    const found = rules.index.find(tier, chat);
    lookups += found.lookups;
    if (!found.binding) {
      explanation.push({ tier, state: "none" });
      continue;
    }
    const { index, agentId } = found.binding;
    const path = `bindings[${index}]`;
    explanation.push({ tier, state: "matched", note: path });
    return routeTo(agentId, tier, { index, path });
  }
  explanation.push({ tier: "default", state: "matched", note: "the default agent" });
  return routeTo(rules.agents.defaultId, "default");
}

/** Creates a routing that caches parsed rules for as long as a configuration is in use. */
export function createRouting(): Routing {
  const known = new WeakMap<OpenClawConfig, Rules>();
  function rulesOf(config: OpenClawConfig): Rules {
    const before = known.get(config);
    if (before) return before;
    const rules = readRules(config);
    known.set(config, rules);
    return rules;
  }
  return {
    resolveRoute: (question) => resolve(parseLocation(question), rulesOf(question.config)),
    explainRoute(question) {
      const rules = rulesOf(question.config);
      const chat = parseLocation(question);
      const route = resolve(chat, rules);
      return { ...route, ...explain(chat, route, rules) };
    },
    sessionKeys: (agentId, question) => sessionKeys(agentKey(agentId), parseLocation(question), rulesOf(question.config).sessions),
  };
}
