/** The skills that come with the program: each loads, is short, asks for what it runs, and costs a line of the prompt. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkSkill, createSkills, waysOf } from "../../src/agent/index.ts";
import { manualClock } from "../../src/base/clock.ts";
import { bundledSkillsFolder } from "../../src/base/program-folders.ts";
import { ROOT } from "../harness/gateway-process.ts";
import { scanSkill } from "./place.ts";

const FOLDER = join(ROOT, "skills");
const NAMES = readdirSync(FOLDER).sort();
/** Tools that skills may name. */
const TOOLS = /`(read|write|edit|exec|process|web_fetch|web_search|message|cron|sessions_list|sessions_history|session_status|image|memory_search)`/g;

test("there are about twenty, and they are found from the program", () => {
  expect(NAMES.length).toBeGreaterThanOrEqual(20);
  expect(bundledSkillsFolder({})).toBe(FOLDER);
  expect(bundledSkillsFolder({ OPENCLAW_BUNDLED_SKILLS_DIR: "/elsewhere" })).toBe("/elsewhere");
});

test("the page about them names each with its description and what it needs", () => {
  const page = readFileSync(join(ROOT, "docs/skills/starter-set.md"), "utf8");
  for (const name of NAMES) {
    const { skill } = checkSkill(join(FOLDER, name));
    const row = page.split("\n").find((line) => line.startsWith(`| \`${name}\` |`));
    expect(row).toContain(skill?.description);
    for (const bin of [...(skill?.requires.bins ?? []), ...(skill?.requires.anyBins ?? [])]) expect(row).toContain(`\`${bin}\``);
  }
});

test("all of them load without a remark; allowBundled chooses among them by their names", async () => {
  const status = async (allowBundled: string[]) => {
    using skills = createSkills({
      config: () => ({ skills: { allowBundled } }),
      places: () => ({ home: "/none", stateFolder: "/none/state", bundled: FOLDER }),
      env: {},
      platform: "linux",
      clock: manualClock(),
    });
    return skills.status("/none/workspace");
  };
  const all = await status([]);
  expect(all.problems).toEqual([]);
  expect(all.skills.map(({ name }) => name)).toEqual(NAMES);
  const some = await status(["summarize", "github"]);
  expect(some.skills.filter(({ blockedByAllowlist }) => !blockedByAllowlist).map(({ name }) => name)).toEqual(["github", "summarize"]);
});

test("without any program only those are offered that need none", async () => {
  using skills = createSkills({
    config: () => ({}),
    places: () => ({ home: "/none", stateFolder: "/none/state", bundled: FOLDER }),
    env: { PATH: "/none" },
    platform: "linux",
    clock: manualClock(),
    watchFolder: () => ({ [Symbol.dispose]: () => undefined }),
  });
  const { skills: offered, prompt } = await skills.snapshot({ workspace: "/none/workspace" });
  expect(offered.map(({ name }) => name)).toEqual(["healthcheck", "model-usage", "obsidian", "session-logs", "skill-creator", "summarize"]);
  expect(prompt.length).toBeLessThan(6 * 300);
});

describe.each(NAMES)("%s", (name) => {
  const folder = join(FOLDER, name);
  const text = readFileSync(join(folder, "SKILL.md"), "utf8");
  const { skill, remarks, promptChars } = checkSkill(folder);

  test("runs only what it asks for, names only files that are there", () => expect(remarks).toEqual([]));

  test("is short, and its description is one line", () => {
    const lines = text.split("\n").length;
    expect([lines >= 30, lines <= 120]).toEqual([true, true]);
    expect(skill?.description.length).toBeLessThanOrEqual(150);
    expect(skill?.description).toMatch(/^[A-Z][^\n]+\.$/);
    expect(promptChars).toBeLessThanOrEqual(400);
    expect(skill?.name).toBe(name);
  });

  test("has nothing in it that a review would warn of", () => {
    expect(scanSkill(folder).findings.filter(({ severity }) => severity !== "info")).toEqual([]);
  });

  test("says how to get the programs that packages exist for", () => {
    const ways = waysOf(skill?.install ?? [], "linux");
    expect(ways.length).toBe(skill?.install.length);
    const known = new Set([...(skill?.requires.bins ?? []), ...(skill?.requires.anyBins ?? [])]);
    if (known.size > 0 && name !== "home-assistant") expect(ways.flatMap(({ bins }) => bins).some((bin) => known.has(bin))).toBe(true);
  });

  test("has scripts that can be run", () => {
    const scripts = readdirSync(folder).includes("scripts") ? readdirSync(join(folder, "scripts")) : [];
    for (const script of scripts) {
      const path = join(folder, "scripts", script);
      expect([readFileSync(path, "utf8").startsWith("#!"), statSync(path).mode & 0o111, text.includes(`{baseDir}/scripts/${script}`)]).toEqual([
        true,
        0o111,
        true,
      ]);
    }
  });

  test("names tools as they are called here", () => {
    const named = [...text.matchAll(/`([a-z]+_[a-z_]+)`/g)].map(([all]) => all);
    expect(named.filter((one) => !new RegExp(TOOLS.source).test(one))).toEqual([]);
  });
});
