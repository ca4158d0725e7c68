import { realpathSync } from "node:fs";
import type { SkillStatus } from "../../agent/index.ts";
import { isInside } from "../../base/files.ts";

type Asking = Pick<SkillStatus, "eligible" | "baseDir" | "source" | "requires">;

const OF_WORKSPACES: readonly SkillStatus["source"][] = ["openclaw-workspace", "agents-skills-project"];

/**
 * Programs that eligible skills say they need. A skill in the workspace is not asked: whoever writes there would say which programs run unasked,
 * and that is the agent itself.
 */
export function trustedPrograms(skills: readonly Asking[], workspaceDir: string): readonly string[] {
  const workspace = real(workspaceDir);
  const trusted = skills.filter(({ eligible, source, baseDir }) => eligible && !OF_WORKSPACES.includes(source) && !isInside(workspace, real(baseDir)));
  return [...new Set(trusted.flatMap(({ requires }) => [...requires.bins, ...requires.anyBins]))];
}

/** Skills that a sandbox shows. */
export function eligibleFolders(
  skills: readonly Pick<SkillStatus, "eligible" | "name" | "baseDir">[],
): readonly { readonly name: string; readonly folder: string }[] {
  return skills.flatMap(({ name, baseDir, eligible }) => (eligible ? [{ name, folder: baseDir }] : []));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
