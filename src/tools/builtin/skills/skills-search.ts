import { defineTool } from "../../declaration.ts";
import { jsonOutcome, type ToolContext } from "../../tool.ts";
import { textParam } from "../files/paths.ts";

type FoundSkill = NonNullable<ToolContext["skills"]>[number];

const LIMIT = 8;
const MAX_LIMIT = 30;

/** Looks through the session's skills where there are too many for the prompt. */
export const skillsSearchTool = defineTool<object>({
  name: "skills_search",
  groups: ["openclaw"],
  reach: {},
  promptLine: "find a skill",
  icon: "🔎",
  overHttp: "never",
  absence: ({ searchesSkills }) => (searchesSkills ? undefined : { why: "there are at most 40 skills, and the prompt lists them" }),
  label: "Skills",
  description: "Find skills by words of a task. Gives the name, description and location (its SKILL.md) of those that fit best.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", description: "Words of the task; empty lists the first skills by name" },
      limit: { type: "number", description: `Maximum number of skills (${LIMIT})` },
    },
    required: ["query"],
  },
  idempotent: true,
  executionMode: "parallel",
  run:
    () =>
    ({ params, context }) => {
      const all = context.skills ?? [];
      const wanted = Number(params["limit"] ?? LIMIT);
      const limit = Math.min(MAX_LIMIT, Math.max(1, Number.isFinite(wanted) ? Math.floor(wanted) : LIMIT));
      const found = rankSkills(all, textParam(params, "query") ?? "");
      return Promise.resolve(jsonOutcome({ skills: found.slice(0, limit), found: found.length, total: all.length }));
    },
});

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Skills that share words with the query, the best first: a word of the name counts more than one of the description, a whole word more than a part. */
export function rankSkills(skills: readonly FoundSkill[], query: string): readonly FoundSkill[] {
  const wanted = [...new Set(wordsOf(query))];
  if (wanted.length === 0) return skills;
  const scored = skills.map((skill) => ({ skill, score: scoreOf(skill, wanted) })).filter(({ score }) => score > 0);
  return scored.sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1)).map(({ skill }) => skill);
}

function scoreOf({ name, description }: FoundSkill, wanted: readonly string[]): number {
  const [names, words] = [wordsOf(name), wordsOf(description)];
  const alike = (one: string, word: string): boolean => word.length > 2 && one.length > 2 && (one.startsWith(word) || word.startsWith(one));
  const score = (list: readonly string[], word: string, whole: number): number =>
    list.includes(word) ? whole : list.some((one) => alike(one, word)) ? whole / 2 : 0;
  return wanted.reduce((sum, word) => sum + score(names, word, 6) + score(words, word, 2), 0);
}
