import { realpathSync } from "node:fs";
import { isInside } from "../../base/files.ts";
import type { SkillStatus } from "./create-skills.ts";

type Skill = Pick<SkillStatus, "eligible" | "baseDir" | "source" | "requires">;

const OF_WORKSPACES: readonly SkillStatus["source"][] = ["openclaw-workspace", "agents-skills-project"];

/**
 * Programs that eligible skills say they need. Skills in the workspace do not count: the agent itself writes there, and would decide which programs run
 * without a question.
 */
export function trustedPrograms(skills: readonly Skill[], workspaceDir: string): readonly string[] {
  const workspace = real(workspaceDir);
  const trusted = skills.filter(({ eligible, source, baseDir }) => eligible && !OF_WORKSPACES.includes(source) && !isInside(workspace, real(baseDir)));
  return [...new Set(trusted.flatMap(({ requires }) => [...requires.bins, ...requires.anyBins]))];
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
