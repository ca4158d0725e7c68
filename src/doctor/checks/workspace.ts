import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { agentWorkspace, defaultAgentId } from "../../config/index.ts";
import { namesIn } from "../files.ts";
import type { Check, Finding } from "../finding.ts";

/** A folder, or one above it, is kept under versions. */
function isVersioned(folder: string): boolean {
  for (let place = folder; ; place = dirname(place)) {
    if (existsSync(join(place, ".git"))) return true;
    if (dirname(place) === place) return false;
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
      return [{ part: "missing", level: "info", text: `the workspace ${folder} is not there yet; the first turn makes it`, todo: "openclaw setup" }];
    const findings: Finding[] = [];
    if (!isVersioned(folder)) {
      findings.push({
        part: "backup",
        level: "info",
        text: `${folder} holds what the agent knows, and no earlier version of it is kept`,
        todo: `git init ${folder}, or openclaw backup create now and then`,
      });
    }
    if (!existsSync(join(folder, "MEMORY.md")) && namesIn(join(folder, "memory")).length === 0) {
      findings.push({
        part: "memory",
        level: "info",
        text: "the agent has no notes yet",
        todo: `it writes to MEMORY.md and memory/ in ${folder}; you may, too`,
      });
    }
    return findings;
  },
};
