import * as fc from "fast-check";
import { expect, test } from "vitest";
import { eligibilityOf, type SkillGates } from "./eligibility.ts";
import { skillEnvironment } from "./create-skills.ts";
import { promptList } from "./snapshot.ts";
import type { Skill } from "./skill.ts";
import { buildSnapshot, heldSnapshot, searchedSkills } from "./snapshot.ts";

const NEEDS = { bins: [], anyBins: [], env: [], config: [] };

function skill(over: Partial<Omit<Skill, "requires">> & { requires?: Partial<Skill["requires"]> } = {}): Skill {
  const { requires, name = "weather", ...rest } = over;
  return {
    name,
    description: `about ${name}`,
    filePath: `/home/me/skills/${name}/SKILL.md`,
    baseDir: `/home/me/skills/${name}`,
    source: "openclaw-workspace",
    key: name,
    userInvocable: true,
    disableModelInvocation: false,
    always: false,
    os: [],
    install: [],
    ...rest,
    requires: { ...NEEDS, ...requires },
  };
}

const gates = (over: Partial<SkillGates> = {}): SkillGates => ({ config: {}, env: {}, platform: "linux", programs: new Set(), ...over });
const isEligible = (one: Skill, over: Partial<SkillGates> = {}): boolean => eligibilityOf(one, gates(over)).eligible;

test("a skill without needs is offered, unless it is turned off", () => {
  expect(isEligible(skill())).toBe(true);
  const off = { skills: { entries: { wx: { enabled: false } } } };
  expect(eligibilityOf(skill({ key: "wx", always: true }), gates({ config: off }))).toMatchObject({ eligible: false, disabled: true });
  expect(isEligible(skill(), { config: off })).toBe(true);
});

test("a list of bundled skills leaves out bundled ones only", () => {
  const config = { skills: { allowBundled: ["github"] } };
  expect(eligibilityOf(skill({ source: "openclaw-bundled" }), gates({ config }))).toMatchObject({ eligible: false, blockedByAllowlist: true });
  expect(isEligible(skill({ name: "github", source: "openclaw-bundled" }), { config })).toBe(true);
  expect(isEligible(skill(), { config })).toBe(true);
  expect(isEligible(skill({ source: "openclaw-bundled" }), { config: { skills: { allowBundled: [] } } })).toBe(true);
});

test("a skill for another platform is out even if it says always; a paired computer helps", () => {
  const mac = skill({ os: ["darwin"], always: true });
  expect(eligibilityOf(mac, gates())).toMatchObject({ eligible: false, missing: { os: ["darwin"] } });
  expect(isEligible(mac, { remote: { platforms: ["darwin"], programs: new Set() } })).toBe(true);
});

test("always passes over what is required", () => {
  expect(isEligible(skill({ always: true, requires: { bins: ["nope"], env: ["NOPE"] } }))).toBe(true);
});

test("all of bins and one of anyBins must be there, here or on a paired computer", () => {
  const one = skill({ requires: { bins: ["a", "b"], anyBins: ["c", "d"] } });
  expect(eligibilityOf(one, gates({ programs: new Set(["a"]) }))).toMatchObject({ eligible: false, missing: { bins: ["b"], anyBins: ["c", "d"] } });
  expect(isEligible(one, { programs: new Set(["a", "b", "d"]) })).toBe(true);
  expect(isEligible(one, { programs: new Set(["a"]), remote: { platforms: [], programs: new Set(["b", "c"]) } })).toBe(true);
});

test("a variable comes from the environment, the skill's settings, or its key", () => {
  const one = skill({ key: "wx", primaryEnv: "KEY", requires: { env: ["KEY", "OTHER"] } });
  expect(eligibilityOf(one, gates())).toMatchObject({ eligible: false, missing: { env: ["KEY", "OTHER"] } });
  expect(isEligible(one, { env: { KEY: "1", OTHER: "2" } })).toBe(true);
  expect(isEligible(one, { config: { skills: { entries: { wx: { apiKey: "k", env: { OTHER: "o" } } } } } })).toBe(true);
  expect(isEligible(one, { config: { skills: { entries: { weather: { apiKey: "k", env: { OTHER: "o" } } } } } })).toBe(false);
});

test("settings a skill needs must be on; the browser is until it is turned off", () => {
  expect(isEligible(skill({ requires: { config: ["browser.enabled"] } }))).toBe(true);
  expect(isEligible(skill({ requires: { config: ["browser.enabled"] } }), { config: { browser: { enabled: false } } })).toBe(false);
  const one = skill({ requires: { config: ["channels.irc"] } });
  expect(eligibilityOf(one, gates())).toMatchObject({ eligible: false, missing: { config: ["channels.irc"] } });
  expect(isEligible(one, { config: { channels: { irc: {} } } })).toBe(true);
  expect(isEligible(skill({ requires: { config: ["__proto__", "["] } }))).toBe(false);
});

const LIMITS = { maxSkillsInPrompt: 150, maxSkillsPromptChars: 30_000 };

test("the list names skill, description and place, with the home folder short", () => {
  expect(promptList([skill()], { home: "/home/me", limits: LIMITS })).toBe(`<available_skills>
  <skill>
    <name>weather</name>
    <description>about weather</description>
    <location>~/skills/weather/SKILL.md</location>
  </skill>
</available_skills>`);
  expect(promptList([skill()], { home: "/home/m", limits: LIMITS })).toContain("<location>/home/me/skills/weather/SKILL.md</location>");
});

test("skills that models may not use are not listed; without any there is no list", () => {
  expect(promptList([skill({ disableModelInvocation: true })], { home: "/", limits: LIMITS, note: "n" })).toBe("");
});

test("a list that is too long is cut and says so, whatever the limit", () => {
  const many = Array.from({ length: 20 }, (_, index) => skill({ name: `s${index}` }));
  expect(promptList(many, { home: "/", limits: { ...LIMITS, maxSkillsInPrompt: 3 } })).toMatch(
    /^⚠️ Skills truncated: included 3 of 20\..*\n<available_skills>\n(?:  <skill>[^]*?<\/skill>\n){3}<\/available_skills>$/,
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4000 }), (maxSkillsPromptChars) => {
      const list = promptList(many, { home: "/", limits: { ...LIMITS, maxSkillsPromptChars } });
      const xml = list.slice(Math.max(list.indexOf("<available_skills>"), 0));
      expect(list.includes("<skill>") ? xml.length : 0).toBeLessThanOrEqual(maxSkillsPromptChars);
    }),
  );
});

test("a description cannot leave its element", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("<", ">", "/", "&", "\n", '"', "'", "description", "skill", "\u2028", "## x") }), (text) => {
      const list = promptList([skill({ description: `a${text}` })], { home: "/", limits: LIMITS });
      expect(list.split(/[\n\u2028]/)).toHaveLength(7);
      expect(list.match(/<description>([^<>]*)<\/description>/)).not.toBeNull();
    }),
  );
});

test("a snapshot holds the eligible skills of the filter", () => {
  const skills = [skill({ primaryEnv: "KEY", key: "wx" }), skill({ name: "hidden", disableModelInvocation: true }), skill({ name: "mac", os: ["darwin"] })];
  const all = buildSnapshot(skills, { gates: gates(), home: "/home/me", version: 7 });
  expect(all).toMatchObject({ skills: [{ name: "weather", primaryEnv: "KEY", skillKey: "wx" }, { name: "hidden" }], version: 7 });
  expect(all.prompt.match(/<name>/g)).toHaveLength(1);
  expect(all.resolvedSkills[0]).toEqual({
    name: "weather",
    description: "about weather",
    filePath: "/home/me/skills/weather/SKILL.md",
    baseDir: "/home/me/skills/weather",
    source: "openclaw-workspace",
    disableModelInvocation: false,
  });
  expect(all).not.toHaveProperty("skillFilter");
  expect(buildSnapshot(skills, { gates: gates(), home: "/", version: 7, filter: ["hidden", "mac"] })).toMatchObject({
    skills: [{ name: "hidden" }],
    skillFilter: ["hidden", "mac"],
  });
  expect(buildSnapshot(skills, { gates: gates(), home: "/", version: 7, filter: [] })).toMatchObject({ skills: [], prompt: "" });
});

test("more than forty skills are searched, fewer are listed; those the model may not choose do not count", () => {
  const many = (count: number, over: object = {}) =>
    buildSnapshot(
      Array.from({ length: count }, (_, index) => skill({ name: `s${index}`, ...over })),
      { gates: gates(), home: "/", version: 1 },
    );
  expect(searchedSkills(many(40))).toBeUndefined();
  expect(searchedSkills(many(41))).toHaveLength(41);
  expect(searchedSkills(many(41))?.[0]).toMatchObject({ name: "s0", location: expect.stringContaining("SKILL.md") });
  expect(searchedSkills(many(60, { disableModelInvocation: true }))).toBeUndefined();
});

test("a stored snapshot holds until something changed or other skills are allowed", () => {
  const stored: unknown = JSON.parse(JSON.stringify(buildSnapshot([skill()], { gates: gates(), home: "/", version: 7, filter: ["b", "a"] })));
  expect(heldSnapshot(stored, 7, ["a", "b"])).toEqual(stored);
  expect(heldSnapshot(stored, 8, ["a", "b"])).toBeUndefined();
  expect(heldSnapshot(stored, 7, ["a"])).toBeUndefined();
  expect(heldSnapshot(stored, 7)).toBeUndefined();
  for (const wrong of [undefined, null, "x", {}, { prompt: "p", skills: [] }]) expect(heldSnapshot(wrong, 0)).toBeUndefined();
});

test("skills bring variables under their own key, and never replace one that commands inherit", () => {
  const config = {
    skills: {
      entries: {
        wx: { apiKey: "secret", env: { REGION: "eu", HOME: "/evil", EMPTY: "" } },
        second: { apiKey: "other", env: { REGION: "us", UNUSED: "x" } },
        absent: { env: { ABSENT: "x" } },
      },
    },
  };
  const snapshot = { skills: [{ name: "weather", skillKey: "wx", primaryEnv: "WX_KEY" }, { name: "second" }] };
  expect(skillEnvironment(snapshot, config, { HOME: "/home/me" })).toEqual({ REGION: "eu", WX_KEY: "secret", UNUSED: "x" });
  expect(skillEnvironment(snapshot, config, { HOME: "/home/me", WX_KEY: "mine", REGION: "", UNUSED: "y" })).toEqual({
    REGION: "eu",
    WX_KEY: "secret",
    UNUSED: "y",
  });
});
