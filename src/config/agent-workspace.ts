import { defaultAgentId } from "./default-agent.ts";
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
