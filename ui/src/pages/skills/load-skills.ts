import type { Link } from "../../link/link.ts";
import { skillLines, type Found, type SkillLine } from "./skill-facts.ts";

/** Agents that are asked at once. */
const TOGETHER = 4;

/** The skills of all agents. `lists`: those that agents have in the configuration. */
export async function loadSkills(
  link: Pick<Link, "request">,
  lists: ReadonlyMap<string, readonly string[]> = new Map(),
): Promise<{ readonly lines: readonly SkillLine[]; readonly agents: readonly Found["agent"][] }> {
  const { agents, defaultId } = await link.request("agents.list", {});
  // The default agent's skills are named without it.
  const ordered = agents.toSorted((a, b) => Number(b.id === defaultId) - Number(a.id === defaultId));
  const found: Found[] = [];
  for (let at = 0; at < ordered.length; at += TOGETHER) {
    const answers = ordered.slice(at, at + TOGETHER).map(async ({ id, name, identity }): Promise<Found> => {
      const { skills } = await link.request("skills.status", { agentId: id });
      return { agent: { id, name: identity?.name ?? name ?? id, only: lists.get(id.toLowerCase()) }, skills };
    });
    found.push(...(await Promise.all(answers)));
  }
  return { lines: skillLines(found), agents: found.map(({ agent }) => agent) };
}
