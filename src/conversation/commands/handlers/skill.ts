import { clip } from "../../../base/text.ts";
import { commandNamed } from "../../../channels/index.ts";
import type { CommandVerdict } from "../commands.ts";
import { answered, type Handling } from "../handling.ts";
import type { CommandPorts, UserSkill } from "../ports.ts";

/** A skill and the command that it can be called with. */
interface SkillCommand extends UserSkill {
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

const NAMED = /^\/([\w-]{1,64})(?=$|[\s:])[ \t]*:?\s*/;

/** A message that calls a skill: `/name input`, or `/skill name input`. Undefined when it names none. */
export async function calledSkill(handling: Handling, text: string): Promise<{ readonly skill: SkillCommand; readonly input: string } | undefined> {
  const [head, name = ""] = NAMED.exec(text) ?? [];
  if (head === undefined || !handling.ports.skills) return undefined;
  const general = name.toLowerCase() === "skill";
  const rest = text.slice(head.length);
  const [first = ""] = general ? (/^\S{1,64}/.exec(rest) ?? []) : [name];
  const wanted = first.toLowerCase();
  const skills = wanted === "" ? [] : await skillCommands(handling.ports, handling.call.agentId);
  const skill = skills.find((one) => one.command === wanted || (general && one.name.toLowerCase() === wanted));
  return skill && { skill, input: (general ? rest.slice(first.length) : rest).trim() };
}

const MOST_NAMED = 30;

/** What is said to a `/skill` that names no skill there is; undefined for any other text. */
export async function unknownSkill({ ports, call }: Handling, text: string): Promise<CommandVerdict | undefined> {
  const [head = "", called] = NAMED.exec(text) ?? [];
  if (called?.toLowerCase() !== "skill" || !ports.skills) return undefined;
  const [wanted = ""] = /^\S{1,64}/.exec(text.slice(head.length)) ?? [];
  const names = (await skillCommands(ports, call.agentId)).map(({ name }) => name);
  const there =
    names.length === 0 ? "No skills are available here." : `Skills: ${names.slice(0, MOST_NAMED).join(", ")}${names.length > MOST_NAMED ? ", …" : ""}`;
  return answered(wanted === "" ? `Usage: /skill <name> [input]\n${there}` : `There is no skill "${wanted}". ${there}`, "/skill: no such skill");
}

/** A turn with an instruction; or the tool that the skill names, without a model. */
export async function runSkill({ call, ports }: Handling, skill: SkillCommand, input: string): Promise<CommandVerdict> {
  const { name, tool, command, location } = skill;
  if (tool === undefined) {
    const where = location === undefined ? "" : ` Its instructions are in ${location}: read them first.`;
    const text = `Use the skill "${name}" for this request.${where}${input === "" ? "" : `\n\nUser input:\n${input}`}`;
    return { kind: "turn", text, asides: [], notes: [`/${command}: the skill ${name} was requested`] };
  }
  const result = await ports.skills?.callTool?.(call, tool, { command: input, commandName: command, skillName: name });
  if (!result) return answered(`The skill ${name} needs the tool ${tool}, which is not available here.`, `/${command}: no tool ${tool}`);
  return answered(result.text.trim() === "" ? "Done." : result.text, `/${command}: answered by the tool ${tool}`);
}
