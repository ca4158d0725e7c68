import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import { AppError } from "../../../base/errors.ts";
import { defaultAgentId as defaultAgentOf, formatLocated, type OpenClawConfig } from "../../../config/index.ts";
import { resolveSessionKey } from "../../../protocol/index.ts";
import { createDockerCli, createRegistry, type ContainerKind } from "../../../tools/index.ts";
import { loadFor, requireValid } from "../../config-source.ts";
import type { Io } from "../../io.ts";

export interface SandboxSource {
  readonly config: OpenClawConfig;
  readonly stateDir: string;
  readonly configFile: string;
  readonly home: string;
  readonly registry: ReturnType<typeof createRegistry>;
  readonly docker: ReturnType<typeof createDockerCli>;
}

export function openSource(io: Io): SandboxSource {
  const { snapshot, paths } = loadFor(io);
  requireValid(snapshot, formatLocated);
  return {
    config: snapshot.config,
    stateDir: paths.state,
    configFile: snapshot.path,
    home: paths.home,
    registry: createRegistry(paths.state, createIds(systemRandom)),
    docker: createDockerCli(io.env),
  };
}

/** The session that is meant: the named one, else the main one of the named or default agent. */
export function chosenSession(
  config: OpenClawConfig,
  session: string | undefined,
  agent: string | undefined,
): { readonly agentId: string; readonly key: string } {
  const list = config.agents?.list?.length ? config.agents.list : [{ id: "main" }];
  const agentIds = list.map(({ id }) => id.toLowerCase());
  const defaultAgentId = agent?.trim().toLowerCase() ?? defaultAgentOf(config);
  if (!agentIds.includes(defaultAgentId)) throw new AppError("NOT_FOUND", `there is no agent ${JSON.stringify(agent)}; there are: ${agentIds.join(", ")}`);
  const found = resolveSessionKey(session ?? "main", { defaultAgentId, scope: config.session?.scope ?? "per-sender" }, agentIds);
  if (!found.ok) throw new AppError("INVALID_INPUT", found.message);
  return { agentId: found.key === "global" ? defaultAgentId : found.agentId, key: found.key };
}

export const kindOf = (browser: boolean | undefined): ContainerKind => (browser ? "browsers" : "containers");
