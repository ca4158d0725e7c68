import { existsSync } from "node:fs";
import { homedir } from "node:os";
import type { Config } from "./config.ts";
import type { Env } from "./env.ts";
import { workspaceFolder, type PathContext } from "./paths.ts";
import type { OpenClawConfig } from "./schema/index.ts";

/** Folder of an agent's files. An agent that no list names is the default one when it is called `main` or the list is empty. */
export function agentWorkspace(config: OpenClawConfig, context: PathContext, agentId: string): string {
  const list = config.agents?.list ?? [];
  const agent = list.find((candidate) => candidate.id.toLowerCase() === agentId.toLowerCase());
  return workspaceFolder(context, {
    id: agentId,
    isDefault: defaultAgentId(config) === agentId.toLowerCase(),
    own: agent?.workspace,
    defaults: config.agents?.defaults?.workspace,
  });
}

/** What folders of agents are computed from: relative ones are below the home folder, wherever the process was started. */
export function agentPaths({ paths }: Pick<Config, "paths">, env: Env): PathContext {
  return { env, exists: existsSync, osHome: homedir(), cwd: paths.home };
}

/** Folders of agents' files, looked up once for each configuration. */
export function agentWorkspaces(config: Config, env: Env): (agentId: string) => string {
  const paths = agentPaths(config, env);
  let known = new Map<string, string>();
  let of = config.current;
  return (agentId) => {
    if (config.current !== of) [known, of] = [new Map(), config.current];
    const folder = known.get(agentId) ?? agentWorkspace(of, paths, agentId);
    known.set(agentId, folder);
    return folder;
  };
}

/** The agent that answers where nothing names one: the one marked so, else the first, else `main`. As ids are compared: without spaces, in lower case. */
export function defaultAgentId(config: OpenClawConfig): string {
  const list = config.agents?.list ?? [];
  return (list.find((agent) => agent.default === true) ?? list[0])?.id.trim().toLowerCase() ?? "main";
}
