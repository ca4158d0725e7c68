import type { OpenClawConfig } from "../config/index.ts";
import { agentKey, readAgents, type Agents } from "./agents.ts";
import { createBindingIndex, type BindingIndex } from "./binding-index.ts";
import { notLookedAt, readBindings, TIERS, type Binding, type MatchedBy } from "./bindings.ts";
import { broadcastTo, readBroadcast, type Broadcast, type BroadcastRules } from "./broadcast.ts";
import { readPlace, type Chat, type RoutePlace } from "./chat.ts";
import { explain, refusal, type Explanation } from "./explain.ts";
import { readSessionRules, sessionKeys, type SessionKeys, type SessionRules } from "./session-keys.ts";

/** A place, and the configuration that says who answers there. The configuration is not changed after it was given once. */
export interface RouteQuestion extends RoutePlace {
  readonly config: OpenClawConfig;
}

/** One tier on the way to the decision. */
export interface TierStep {
  readonly tier: MatchedBy;
  /** `matched` is the last one. */
  readonly state: "matched" | "none" | "skipped";
  /** Why it was skipped, or what matched. */
  readonly note?: string;
}

/** Who answers a message, and in which session. */
export interface Route extends SessionKeys {
  readonly agentId: string;
  readonly channel: string;
  readonly accountId: string;
  readonly matchedBy: MatchedBy;
  /** The binding that decided: its place in the configuration. */
  readonly binding?: { readonly index: number; readonly path: string };
  /** When it is there these agents answer, and nobody else. */
  readonly broadcast?: Broadcast;
  /** The tiers that were gone through, down to the one that decided. */
  readonly explanation: readonly TierStep[];
  /** How many places of the index were looked into; the number of bindings has no influence on it. */
  readonly lookups: number;
}

/** Decides who answers. Same question, same answer; nothing is written down and nothing throws. */
export interface Routing {
  resolveRoute(question: RouteQuestion): Route;
  /** The same decision with a verdict on every binding: as slow as there are bindings, for people. */
  explainRoute(question: RouteQuestion): Route & Explanation;
  /** The sessions that a chat has with an agent that was chosen in another way. */
  sessionKeys(agentId: string, question: RouteQuestion): SessionKeys;
}

/** What is read of a configuration once. */
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
    index: createBindingIndex(bindings.filter((binding) => refusal(binding, agents) === undefined)),
    sessions: readSessionRules(config),
    broadcast: readBroadcast(config, agents),
  };
}

function resolve(chat: Chat, rules: Rules): Route {
  const explanation: TierStep[] = [];
  let lookups = 0;
  const routeTo = (agentId: string, matchedBy: MatchedBy, binding?: Route["binding"]): Route => {
    const broadcast = broadcastTo(chat, rules.broadcast, rules.sessions);
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

/** Makes a routing that remembers, for as long as a configuration is in use, what it read of it. */
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
    resolveRoute: (question) => resolve(readPlace(question), rulesOf(question.config)),
    explainRoute(question) {
      const rules = rulesOf(question.config);
      const chat = readPlace(question);
      const route = resolve(chat, rules);
      return { ...route, ...explain(chat, route, rules) };
    },
    sessionKeys: (agentId, question) => sessionKeys(agentKey(agentId), readPlace(question), rulesOf(question.config).sessions),
  };
}
