import { expect, test } from "vitest";
import type { ToolCall } from "../../tool.ts";
import { rankSkills, skillsSearchTool } from "./skills-search.ts";

const skill = (name: string, description: string) => ({ name, description, location: `/skills/${name}/SKILL.md` });
const SKILLS = [
  skill("calendar-files", "Read and write calendar files."),
  skill("github", "Work with GitHub: pull requests and checks."),
  skill("video-frames", "Take still frames out of video files."),
  skill("weather", "Current weather and forecasts."),
];
const names = (query: string): string[] => rankSkills(SKILLS, query).map(({ name }) => name);

test.each([
  ["weather in Lisbon", ["weather"]],
  ["forecast for tomorrow", ["weather"]],
  ["video file", ["video-frames", "calendar-files"]],
  ["PULL request", ["github"]],
  ["tax return", []],
  ["", ["calendar-files", "github", "video-frames", "weather"]],
])("%j finds %j", (query, expected) => expect(names(query)).toEqual(expected));

test("the answer is limited and says how many there are", async () => {
  const run = skillsSearchTool.create({}).run;
  const call = (params: object, skills: typeof SKILLS | undefined = SKILLS) => run({ params, context: { skills } } as unknown as ToolCall);
  expect((await call({ query: "files", limit: 1 })).details).toEqual({ skills: [SKILLS[0]], found: 2, total: 4 });
  expect((await call({ query: "", limit: 1e9 })).details).toMatchObject({ found: 4 });
  expect((await call({ query: "x", limit: "many" })).details).toMatchObject({ skills: [], total: 4 });
});

test("it is offered only to a session that has skills to search", () => {
  expect(skillsSearchTool.absence?.({ config: {}, agentId: "main", searchesSkills: true })).toBeUndefined();
  expect(skillsSearchTool.absence?.({ config: {}, agentId: "main" })).toMatchObject({ why: expect.stringContaining("40") });
});
