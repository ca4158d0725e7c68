import { join, resolve } from "node:path";
import { expandHome } from "../../config/index.ts";
import type { SkillSource } from "./skill.ts";

/** A folder in which skills are looked for. */
export interface SkillRoot {
  readonly source: SkillSource;
  readonly folder: string;
}

export interface SkillLocations {
  readonly home: string;
  readonly stateFolder: string;
  readonly workspace: string;
  /** Folder of the skills that come with the product; absent when there is none. */
  readonly bundled?: string | undefined;
  /** `skills.load.extraDirs`. */
  readonly extra?: readonly string[] | undefined;
  /** Skill folders of enabled plugins, in the order in which those were loaded. */
  readonly plugins?: readonly string[] | undefined;
}

/** All locations of skills for one workspace, the weakest first: of two skills with one name the later counts. */
export function skillRoots(locations: SkillLocations): readonly SkillRoot[] {
  const { home, workspace } = locations;
  const extra = [...(locations.extra ?? []).map((folder) => folder.trim()).filter(Boolean), ...(locations.plugins ?? [])];
  return [
    ...extra.map((folder): SkillRoot => ({ source: "openclaw-extra", folder: resolve(workspace, expandHome(folder, home)) })),
    ...(locations.bundled === undefined ? [] : [{ source: "openclaw-bundled", folder: locations.bundled } as const]),
    { source: "openclaw-managed", folder: join(locations.stateFolder, "skills") },
    { source: "agents-skills-personal", folder: join(home, ".agents", "skills") },
    { source: "agents-skills-project", folder: join(workspace, ".agents", "skills") },
    { source: "openclaw-workspace", folder: join(workspace, "skills") },
  ];
}
