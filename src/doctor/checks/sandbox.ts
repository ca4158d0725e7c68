import { existsSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { agentWorkspace } from "../../config/index.ts";
import type { Check, Finding } from "../finding.ts";

/** Where commands are to run apart, that must be possible here: else they are refused. */
export const sandbox: Check = {
  id: "sandbox.backend",
  topic: "sandbox",
  title: "Sandbox",
  async run(deps) {
    const { config, env, osHome, cwd, uid, clock, ids } = deps;
    const list = config.current.agents?.list ?? [];
    const modes = [config.current.agents?.defaults?.sandbox?.mode, ...list.map(({ sandbox: own }) => own?.mode)];
    if (modes.every((mode) => mode === undefined || mode === "off")) return [];
    const { createSandboxes } = await import("../../tools/index.ts");
    const { state: stateDir, home } = config.paths;
    const ownFiles = () => config.snapshot().files;
    const sandboxes = createSandboxes({ config: () => config.current, stateDir, ownFiles, home, env, uid, clock, ids, log: silentLogger });
    const agents = (list.length > 0 ? list.map(({ id }) => id.toLowerCase()) : ["main"]).filter((id) => sandboxes.settings(id).mode !== "off");
    const tried = await Promise.all(
      agents.map(async (agentId): Promise<readonly [string, string | undefined]> => {
        const workspaceDir = agentWorkspace(config.current, { env, exists: existsSync, osHome, cwd }, agentId);
        try {
          // A session that is never the main one: those work inside in every mode but off.
          const answer = await sandboxes.availability({ agentId, sessionKey: `agent:${agentId}:doctor`, workspaceDir });
          return [agentId, answer.ok ? undefined : answer.why];
        } catch (error) {
          return [agentId, messageOf(error)];
        }
      }),
    );
    return tried.flatMap(([agentId, why]): Finding[] =>
      why === undefined
        ? []
        : [
            {
              part: agentId,
              level: "error",
              text: `the sandbox of ${agentId} (${sandboxes.settings(agentId).backend}) does not work here: ${why}`,
              todo: `openclaw sandbox explain --agent ${agentId}`,
            },
          ],
    );
  },
};
