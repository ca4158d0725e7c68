import { expect, test } from "vitest";
import { agentLists, lineAt, linesIn, missingOf, partsOf, settableEnv, skillLines, stateOf, storedFor, type Skill } from "./skill-facts.ts";

const NOTHING = { bins: [], anyBins: [], env: [], config: [], os: [] };
const skill = (over: Partial<Skill>): Skill => ({
  name: "weather",
  description: "Current weather",
  source: "openclaw-bundled",
  bundled: true,
  filePath: "/app/skills/weather/SKILL.md",
  baseDir: "/app/skills/weather",
  skillKey: "weather",
  always: false,
  disabled: false,
  blockedByAllowlist: false,
  eligible: true,
  requirements: NOTHING,
  missing: NOTHING,
  configChecks: [],
  install: [],
  ...over,
});

test("skills of one folder are one line, with every agent that finds them and whether its list names them", () => {
  const own = skill({ baseDir: "/space/skills/weather", source: "openclaw-workspace" });
  const lines = skillLines([
    { agent: { id: "main", name: "Claw", only: undefined }, skills: [skill({}), skill({ name: "tmux", baseDir: "/app/skills/tmux" })] },
    { agent: { id: "work", name: "Work", only: ["weather"] }, skills: [own, skill({ name: "tmux", baseDir: "/app/skills/tmux" })] },
  ]);
  expect(lines.map(({ skill: { name, baseDir }, agents }) => [name, baseDir, agents.map(({ id, isAllowed }) => `${id} ${isAllowed}`)])).toEqual([
    ["tmux", "/app/skills/tmux", ["main true", "work false"]],
    ["weather", "/app/skills/weather", ["main true"]],
    ["weather", "/space/skills/weather", ["work true"]],
  ]);
  const addresses = lines.map((line) => partsOf(line, lines));
  expect(addresses).toEqual([["tmux"], ["weather"], ["weather", "work"]]);
  expect(addresses.map((parts) => lineAt(lines, parts)?.skill.baseDir)).toEqual(lines.map((line) => line.skill.baseDir));
});

test("a skill is off, not allowed, missing something or ready, and the list is filtered by that and by words", () => {
  const all = [
    skill({}),
    skill({ name: "off", baseDir: "/1", disabled: true, eligible: false }),
    skill({ name: "barred", baseDir: "/2", blockedByAllowlist: true, eligible: false }),
    skill({ name: "gh", baseDir: "/3", description: "Issues", eligible: false, missing: { ...NOTHING, bins: ["gh"], env: ["TOKEN"] } }),
  ];
  expect(all.map((one) => stateOf(one).is)).toEqual(["ready", "off", "off", "missing"]);
  const lines = skillLines([{ agent: { id: "main", name: "", only: undefined }, skills: all }]);
  expect(linesIn(lines, "ISSUES", "all").map((line) => line.skill.name)).toEqual(["gh"]);
  expect(linesIn(lines, "", "off").map((line) => line.skill.name)).toEqual(["barred", "off"]);
  expect(missingOf(all[3]!).map(({ names }) => names)).toEqual([["gh"], ["TOKEN"]]);
});

test("the key's own variable is not asked for twice, and stored secrets are known to be there", () => {
  expect(settableEnv(skill({ primaryEnv: "KEY", missing: { ...NOTHING, env: ["KEY", "URL"] } }))).toEqual(["URL"]);
  const config = {
    skills: { entries: { weather: { apiKey: "__OPENCLAW_REDACTED__", env: { URL: "x" } }, bare: {} } },
    agents: { list: [{ id: "Work", skills: ["a"] }, { id: "x" }] },
  };
  expect(storedFor(config, "weather")).toEqual({ hasKey: true, env: ["URL"] });
  expect([storedFor(config, "bare"), storedFor(config, "constructor"), storedFor(undefined, "weather")].map(({ hasKey }) => hasKey)).toEqual([
    false,
    false,
    false,
  ]);
  expect([...agentLists(config)]).toEqual([["work", ["a"]]]);
});
