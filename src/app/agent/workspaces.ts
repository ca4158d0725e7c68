import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { agentWorkspace, type Config, type Env, type PathContext } from "../../config/index.ts";

/** Folders of agents' files, looked up once for each configuration. */
export function agentWorkspaces(config: Config, env: Env): (agentId: string) => string {
  const paths: PathContext = { env, exists: existsSync, osHome: homedir(), cwd: config.paths.home };
  let known = new Map<string, string>();
  let of = config.current;
  return (agentId) => {
    if (config.current !== of) [known, of] = [new Map(), config.current];
    const folder = known.get(agentId) ?? agentWorkspace(of, paths, agentId);
    known.set(agentId, folder);
    return folder;
  };
}
