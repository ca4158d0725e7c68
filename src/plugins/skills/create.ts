import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { openSkillStage } from "./swap.ts";

export interface SkillDraft {
  readonly name: string;
  readonly description: string;
  readonly skillsDir: string;
  readonly pid: number;
  readonly token: string;
}

/** Makes a skill to start from. Gives its folder. */
export function createSkill({ name, description, skillsDir, pid, token }: SkillDraft): string {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) {
    throw new AppError("INVALID_INPUT", `${JSON.stringify(name)} cannot be the name of a skill: expected lower-case letters, digits and "-"`);
  }
  const folder = join(skillsDir, name);
  if (existsSync(folder)) throw new AppError("CONFLICT", `${folder} exists already; choose another name, or delete it first`);
  using stage = openSkillStage(skillsDir, pid, token);
  const made = join(stage.folder, name);
  mkdirSync(made);
  writeFileSync(join(made, "SKILL.md"), textOf(name, description));
  renameSync(made, folder);
  return folder;
}

const quoted = (text: string): string => JSON.stringify(text.replaceAll(/\s+/g, " ").trim());

const textOf = (name: string, description: string): string => `---
name: ${name}
description: ${quoted(description)}
metadata: { openclaw: { requires: { bins: [] } } }
---

# ${name}

Describe when this skill applies and what the result should be.

## Steps

1. First read what is there: files, settings, the user's request.
2. Do the work. Name the exact commands:

\`\`\`sh
echo "replace this"
\`\`\`

3. Check the result and report it in one or two sentences.

## Notes

- List every program that the commands need in \`requires.bins\`, so that the skill is offered only where it works.
- Scripts go into \`scripts/\`; their paths begin with \`{baseDir}\`, the folder of this file.
`;
