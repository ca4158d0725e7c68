import { AppError } from "../../base/errors.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { RosterChangesDeps } from "./agents/changes.ts";
import type { MethodDeps } from "./deps.ts";
import type { Handlers, HandlersOf } from "./handler.ts";
import { agentList, agentOf, canonicalKey, keySettings } from "./sessions/keys.ts";

type AgentRow = MethodResult<"agents.list">["agents"][number];

function agentRow({ id, name, identity }: ReturnType<typeof agentList>[number]): AgentRow {
  const remote = identity?.avatar !== undefined && /^(?:https?:|data:)/i.test(identity.avatar);
  return {
    id: id.toLowerCase(),
    ...(name === undefined ? {} : { name }),
    ...(identity === undefined ? {} : { identity: { ...identity, ...(remote ? { avatarUrl: identity.avatar } : {}) } }),
  };
}

/** The agent a caller means: by id, or by a session of it. */
function agentFor(config: OpenClawConfig, { agentId, sessionKey }: MethodParams<"agent.identity.get">): ReturnType<typeof agentList>[number] {
  const settings = keySettings(config);
  const named = agentId?.trim().toLowerCase();
  const keyed = sessionKey?.trim() ? agentOf(canonicalKey(sessionKey, config), config) : undefined;
  if (named !== undefined && keyed !== undefined && named !== keyed) {
    throw new AppError("INVALID_INPUT", `invalid agent.identity.get params: agent "${named}" does not match session key agent "${keyed}"`);
  }
  const id = named ?? keyed ?? settings.defaultAgentId;
  const found = agentList(config).find((agent) => agent.id.toLowerCase() === id);
  if (!found) throw new AppError("INVALID_INPUT", `unknown agent id "${id}"`);
  return found;
}

function identity(config: OpenClawConfig, params: MethodParams<"agent.identity.get">): MethodResult<"agent.identity.get"> {
  const { id, name, identity: own } = agentFor(config, params);
  const shown = own?.name ?? name;
  return {
    agentId: id.toLowerCase(),
    ...(shown === undefined ? {} : { name: shown }),
    ...(own?.avatar === undefined ? {} : { avatar: own.avatar }),
    ...(own?.emoji === undefined ? {} : { emoji: own.emoji }),
  };
}

/** Agents, as the configuration has them. */
export function agentsHandlers({ config }: Pick<MethodDeps, "config">) {
  return {
    "agents.list": () => {
      const { defaultAgentId, mainKey, scope } = keySettings(config.current);
      return { defaultId: defaultAgentId, mainKey, scope, agents: agentList(config.current).map(agentRow) };
    },
    "agent.identity.get": (params) => identity(config.current, params),
  } satisfies Handlers;
}

type RosterMethod = "agents.create" | "agents.update" | "agents.delete" | "agents.templates";

/** Which agents there are. Changes count at once: agents and bindings are read when they are used. What makes them is loaded with the first call. */
export function rosterHandlers(deps: RosterChangesDeps): HandlersOf<RosterMethod> {
  const changes = () => import("./agents/changes.ts");
  return {
    "agents.create": async (params, context) => (await changes()).createAgent(params, deps, context),
    "agents.update": async (params, context) => (await changes()).updateAgent(params, deps, context),
    "agents.delete": async (params, context) => (await changes()).deleteAgent(params, deps, context),
    "agents.templates": async () => ({ templates: (await deps.roster()).templates.map(({ id, label, summary }) => ({ id, label, summary })) }),
  };
}
