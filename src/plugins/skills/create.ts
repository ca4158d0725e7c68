import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skillTemplate } from "../../agent/index.ts";
import { AppError } from "../../base/errors.ts";
import { openSkillStage } from "./swap.ts";

export interface SkillDraft {
  readonly name: string;
  readonly description?: string | undefined;
  readonly skillsDir: string;
  /** Names of skills that come with the program and that one in `skillsDir` would stand in for. */
  readonly bundled: ReadonlySet<string>;
  /** Stand in for a bundled one. */
  readonly force?: boolean | undefined;
  readonly pid: number;
  readonly token: string;
}

/** Makes a skill to start from. Gives its folder. */
export function createSkill({ name, description, skillsDir, bundled, force, pid, token }: SkillDraft): string {
  const tooLong = name.length > 64 ? `; it has ${name.length} characters` : "";
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) {
    throw new AppError(
      "INVALID_INPUT",
      `${JSON.stringify(name)} cannot be the name of a skill: expected at most 64 lower-case letters, digits and "-"${tooLong}`,
    );
  }
  const folder = join(skillsDir, name);
  if (existsSync(folder)) throw new AppError("CONFLICT", `${folder} already exists; choose another name, or delete it first`);
  if (bundled.has(name) && force !== true) {
    throw new AppError(
      "CONFLICT",
      `${name} is the name of a skill that comes with OpenClaw; yours would be used instead of it. Choose another name, or run: openclaw skills create ${name} --force`,
    );
  }
  using stage = openSkillStage(skillsDir, pid, token);
  const made = join(stage.folder, name);
  mkdirSync(made);
  writeFileSync(join(made, "SKILL.md"), skillTemplate(name, description));
  renameSync(made, folder);
  return folder;
}
