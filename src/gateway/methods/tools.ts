import { isAbsolute } from "node:path";
import { AppError } from "../../base/errors.ts";
import { covers, type MethodParams, type MethodResult } from "../../protocol/index.ts";
import type { ToolFactsPort } from "../ports.ts";
import type { MethodDeps } from "./deps.ts";
import type { Caller, HandlersOf } from "./handler.ts";
import { agentOf, keySettings, knownAgent, mainSessionKey, runnableKey } from "./sessions/keys.ts";

export interface ToolsDeps extends Pick<MethodDeps, "config"> {
  readonly toolFacts: ToolFactsPort;
}

const invalid = (text: string): AppError => new AppError("INVALID_INPUT", text);

async function explain(params: MethodParams<"tools.explain">, caller: Caller, deps: ToolsDeps): Promise<MethodResult<"tools.explain">> {
  const { config, toolFacts } = deps;
  const named = params.agentId === undefined ? undefined : knownAgent(params.agentId, deps.config.current);
  const settings = keySettings(config.current);
  const sessionKey = params.sessionKey === undefined ? mainSessionKey(settings, named) : runnableKey(params.sessionKey, config.current);
  const keyed = agentOf(sessionKey, config.current);
  const agentId = sessionKey === "global" ? (named ?? keyed) : keyed;
  if (named !== undefined && named !== agentId) throw invalid(`agent "${named}" does not match session key agent "${agentId}"`);
  const tool = params.tool?.trim().toLowerCase();
  const owner = covers(caller.scopes, "operator.admin");
  const tools = await toolFacts.explain({ agentId, sessionKey, ...(tool === undefined ? {} : { tool }), owner });
  if (tool !== undefined && tools.length === 0) throw invalid(`unknown tool "${tool.slice(0, 80)}"`);
  if (params.path !== undefined && !isAbsolute(params.path)) throw invalid("path must be absolute");
  return { agentId, sessionKey, tools: [...tools], ...(params.path === undefined ? {} : { file: await toolFacts.file(agentId, params.path) }) };
}

/** Which tools there are, and who may use them. */
export function toolsHandlers(deps: ToolsDeps): HandlersOf<"tools"> {
  return {
    "tools.explain": (params, { caller }) => explain(params, caller, deps),
    "tools.catalog": async (params) => {
      const agentId = knownAgent(params.agentId, deps.config.current);
      return { agentId, tools: [...(await deps.toolFacts.catalog(agentId))] };
    },
  };
}
