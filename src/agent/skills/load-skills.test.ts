import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { skillLimits, type SkillLimits } from "./limits.ts";
import { createSkillCache, loadSkills } from "./load-skills.ts";
import { createProgramFinder } from "./programs.ts";
import { skillRoots } from "./roots.ts";
import { parseSkill, type SkillLocation } from "./skill.ts";

let base: string;
beforeEach(() => void (base = mkdtempSync(join(tmpdir(), "openclaw-skills-"))));
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(path: string, text = "---\ndescription: d\n---\n"): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
}
const skill = (folder: string, description = "d"): void => put(join(folder, "SKILL.md"), `---\ndescription: ${description}\n---\n`);
const LIMITS = skillLimits({});
const load = (folders: readonly string[], limits: Partial<SkillLimits> = {}) =>
  loadSkills(
    folders.map((folder) => ({ source: "openclaw-managed" as const, folder: join(base, folder) })),
    { ...LIMITS, ...limits },
  );
const names = async (folders: readonly string[], limits: Partial<SkillLimits> = {}) => (await load(folders, limits)).skills.map((found) => found.name);

const PLACE: SkillLocation = { filePath: "/s/weather/SKILL.md", baseDir: "/s/weather", folderName: "weather", source: "openclaw-workspace" };

test("a skill is what its front matter says", () => {
  const text = `---
name: rain
description: "Tells the weather: now and later"
homepage: https://example.com
user-invocable: false
disable-model-invocation: true
command-dispatch: tool
command-tool: weather_now
metadata: {openclaw: {always: true, emoji: "☔", skillKey: "wx", primaryEnv: "WX_KEY", os: ["linux"], requires: {bins: ["curl"], anyBins: ["a", "b"], env: ["WX_KEY"], config: ["browser.enabled"]}, install: [{id: "brew", kind: "brew"}]}}
---
# Body`;
  expect(parseSkill(text, PLACE)).toEqual({
    problems: [],
    skill: {
      name: "rain",
      description: "Tells the weather: now and later",
      filePath: PLACE.filePath,
      baseDir: PLACE.baseDir,
      source: "openclaw-workspace",
      key: "wx",
      userInvocable: false,
      disableModelInvocation: true,
      dispatch: { tool: "weather_now", argMode: "raw" },
      homepage: "https://example.com",
      emoji: "☔",
      primaryEnv: "WX_KEY",
      always: true,
      os: ["linux"],
      requires: { bins: ["curl"], anyBins: ["a", "b"], env: ["WX_KEY"], config: ["browser.enabled"] },
      install: [{ id: "brew", kind: "brew" }],
    },
  });
});

test("a name comes from the folder, everything else has a default", () => {
  expect(parseSkill("---\ndescription: d\n---", PLACE).skill).toEqual({
    name: "weather",
    description: "d",
    filePath: PLACE.filePath,
    baseDir: PLACE.baseDir,
    source: "openclaw-workspace",
    key: "weather",
    userInvocable: true,
    disableModelInvocation: false,
    always: false,
    os: [],
    requires: { bins: [], anyBins: [], env: [], config: [] },
    install: [],
  });
});

test("only the key openclaw of the metadata is read", () => {
  expect(parseSkill("---\ndescription: d\nmetadata: {other: {always: true, os: [win32]}}\n---", PLACE).skill).toMatchObject({ always: false, os: [] });
});

test("without front matter or description there is no skill, and the reason is reported", () => {
  expect(parseSkill("# Title", PLACE)).toEqual({ problems: [expect.stringContaining("no front matter")] });
  expect(parseSkill("---\nname: a\n---", PLACE)).toEqual({ problems: [expect.stringContaining("no description")] });
});

test("an odd name or a very long description is remarked on and kept", () => {
  const { skill: found, problems } = parseSkill(`---\nname: My Skill\ndescription: ${"x".repeat(1025)}\n---`, PLACE);
  expect(found?.name).toBe("My Skill");
  expect(problems).toEqual([expect.stringContaining("My Skill"), expect.stringContaining("1025")]);
});

test("a root is one skill, or its folders are, or those of the skills folder in it", async () => {
  skill("one");
  skill("one/inner");
  skill("many/a");
  skill("many/b");
  skill("repo/skills/c");
  skill("repo/docs");
  expect(await names(["one"])).toEqual(["one"]);
  expect(await names(["many"])).toEqual(["a", "b"]);
  expect(await names(["repo"])).toEqual(["c"]);
  expect(await names(["nowhere"])).toEqual([]);
});

test("hidden folders, node_modules and what ignore files name are passed over; linked folders are followed", async () => {
  for (const name of [".hidden", "node_modules", "tmp-a", "tmp-keep", "old", "kept"]) skill(join("r", name));
  put("r/.gitignore", "# c\ntmp-*\n!tmp-keep\n/old/\nkept/deeper\n");
  skill("elsewhere/linked");
  symlinkSync(join(base, "elsewhere/linked"), join(base, "r/linked"));
  symlinkSync(join(base, "gone"), join(base, "r/dangling"));
  expect(await names(["r"])).toEqual(["kept", "linked", "tmp-keep"]);
});

test("of two skills with one name the later place counts", async () => {
  skill("low/a", "weak");
  skill("high/a", "strong");
  expect((await load(["low", "high"])).skills.map((found) => [found.name, found.description])).toEqual([["a", "strong"]]);
});

test("places stand from the weakest to the strongest", () => {
  const roots = skillRoots({ home: "/h", stateFolder: "/s", workspace: "/w", bundled: "/b", extra: ["~/x", " ", "y"], plugins: ["/p/skills"] });
  expect(roots.map((root) => [root.source, root.folder])).toEqual([
    ["openclaw-extra", "/h/x"],
    ["openclaw-extra", "/w/y"],
    ["openclaw-extra", "/p/skills"],
    ["openclaw-bundled", "/b"],
    ["openclaw-managed", "/s/skills"],
    ["agents-skills-personal", "/h/.agents/skills"],
    ["agents-skills-project", "/w/.agents/skills"],
    ["openclaw-workspace", "/w/skills"],
  ]);
});

test("limits on folders, skills and file sizes hold, and what they leave out is reported", async () => {
  for (const name of ["a", "b", "c"]) skill(join("r", name));
  put("r/b/SKILL.md", `---\ndescription: d\n---\n${"x".repeat(2000)}`);
  expect(await names(["r"], { maxCandidatesPerRoot: 2 })).toEqual(["a", "b"]);
  expect(await names(["r"], { maxSkillsLoadedPerSource: 1 })).toEqual(["a"]);
  expect(await names(["r"], { maxSkillFileBytes: 1000 })).toEqual(["a", "c"]);
  const { problems } = await load(["r"], { maxCandidatesPerRoot: 2, maxSkillsLoadedPerSource: 1 });
  expect(problems.map((problem) => problem.message)).toEqual([
    expect.stringContaining("maxCandidatesPerRoot"),
    expect.stringContaining("maxSkillsLoadedPerSource"),
  ]);
  expect((await load(["r"], { maxSkillFileBytes: 1000 })).problems).toEqual([
    { path: join(base, "r/b/SKILL.md"), message: expect.stringContaining("maxSkillFileBytes") },
  ]);
});

test("a skill that cannot be read keeps no other from loading", async () => {
  skill("r/good");
  put("r/bad/SKILL.md", "no front matter");
  mkdirSync(join(base, "r/folder/SKILL.md"), { recursive: true });
  const { skills, problems } = await load(["r"]);
  expect(skills.map((found) => found.name)).toEqual(["good"]);
  expect(problems.map((problem) => problem.path)).toEqual([join(base, "r/bad/SKILL.md")]);
});

test("a skill that was read before is read again when its file changed, and only then", async () => {
  skill("s/a", "old");
  const cache = createSkillCache();
  const roots = [{ source: "openclaw-managed" as const, folder: join(base, "s") }];
  const first = await loadSkills(roots, LIMITS, cache);
  expect((await loadSkills(roots, LIMITS, cache)).skills[0]).toBe(first.skills[0]);
  skill("s/a", "new");
  skill("s/b", "another");
  expect((await loadSkills(roots, LIMITS, cache)).skills.map(({ description }) => description)).toEqual(["new", "another"]);
  rmSync(join(base, "s/a"), { recursive: true });
  expect((await loadSkills(roots, LIMITS, cache)).skills.map(({ name }) => name)).toEqual(["b"]);
});

test("a program that is installed later is found", async () => {
  put("bin/one", "");
  chmodSync(join(base, "bin/one"), 0o755);
  const find = createProgramFinder({ PATH: `${join(base, "bin")}:${join(base, "absent")}` }, "linux");
  expect([...(await find(["one", "two"]))]).toEqual(["one"]);
  put("bin/two", "");
  chmodSync(join(base, "bin/two"), 0o755);
  put("absent/three", "");
  chmodSync(join(base, "absent/three"), 0o755);
  expect([...(await find(["one", "two", "three"]))]).toEqual(["one", "two", "three"]);
});
