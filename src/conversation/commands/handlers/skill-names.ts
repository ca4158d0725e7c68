import { clip } from "../../../base/text.ts";
import { commandNamed } from "../../../channels/index.ts";
import type { CommandPorts, UserSkill } from "../ports.ts";

/** A skill and the command that it can be called with. */
export interface SkillCommand extends UserSkill {
  readonly command: string;
}

const MOST_CHARS = 32;
const DESCRIPTION_CHARS = 100;

/** Names of commands for skills: in signs that every platform takes, none twice, none of the gateway's own. */
export function nameSkills(skills: readonly UserSkill[]): readonly SkillCommand[] {
  const taken = new Set<string>();
  return skills.map((skill) => {
    const plain =
      skill.name
        .toLowerCase()
        .replaceAll(/[^a-z0-9_]+/g, "_")
        .replaceAll(/_{2,}/g, "_")
        .slice(0, MOST_CHARS)
        .replaceAll(/^_|_$/g, "") || "skill";
    let command = plain;
    for (let number = 2; taken.has(command) || commandNamed(command); number += 1) {
      const suffix = `_${number}`;
      command = plain.slice(0, MOST_CHARS - suffix.length) + suffix;
    }
    taken.add(command);
    return { ...skill, command, description: clip(skill.description, DESCRIPTION_CHARS - 1) };
  });
}

export async function skillCommands({ skills }: CommandPorts, agentId: string): Promise<readonly SkillCommand[]> {
  return skills ? nameSkills(await skills.list(agentId)) : [];
}
