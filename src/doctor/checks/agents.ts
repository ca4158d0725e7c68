import { existsSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { agentWorkspace, defaultAgentId } from "../../config/index.ts";
import type { Check, Finding } from "../finding.ts";
import { dirname, join } from "node:path";
import { namesIn } from "../files.ts";

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
              text: `the sandbox of ${agentId} (${sandboxes.settings(agentId).backend}) is not available here: ${why}`,
              todo: `openclaw sandbox explain --agent ${agentId}`,
            },
          ],
    );
  },
};

/** A folder, or one above it, is under version control. */
function isVersioned(folder: string): boolean {
  for (let path = folder; ; path = dirname(path)) {
    if (existsSync(join(path, ".git"))) return true;
    if (dirname(path) === path) return false;
  }
}

/** What could be better, but is not wrong. */
export const workspaceTips: Check = {
  id: "workspace.tips",
  topic: "workspace",
  title: "Workspace",
  run({ config, env, cwd, osHome, suggestions }) {
    const { exists, valid } = config.snapshot();
    if (!suggestions || !exists || !valid) return [];
    const folder = agentWorkspace(config.current, { env, exists: existsSync, osHome, cwd }, defaultAgentId(config.current));
    if (!existsSync(folder))
      return [{ part: "missing", level: "info", text: `the workspace ${folder} does not exist yet; the first turn creates it`, todo: "openclaw setup" }];
    const findings: Finding[] = [];
    if (!isVersioned(folder)) {
      findings.push({
        part: "backup",
        level: "info",
        text: `${folder} holds the agent's knowledge and has no version history`,
        todo: `run git init ${folder}, or make regular backups with: openclaw backup create`,
      });
    }
    if (!existsSync(join(folder, "MEMORY.md")) && namesIn(join(folder, "memory")).length === 0) {
      findings.push({
        part: "memory",
        level: "info",
        text: "the agent has no notes yet",
        todo: `the agent writes to MEMORY.md and memory/ in ${folder}; you can edit them too`,
      });
    }
    return findings;
  },
};
