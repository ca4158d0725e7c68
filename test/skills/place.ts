/** A folder of skills to install into, and what installing needs. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { loadSkillInstall, type SkillInstallDeps, type SkillReview } from "../../src/plugins/index.ts";

export const { installSkill, updateSkills, removeSkill, installedSkills, recoverSkills, scanSkill } = await loadSkillInstall();

export const SKILL = (name: string, more = "", body = "Do it.\n"): string => `---\nname: ${name}\ndescription: Something useful.\n${more}---\n\n${body}`;

export interface SkillPlace {
  readonly home: string;
  readonly skillsDir: string;
  readonly deps: SkillInstallDeps;
  /** What was shown before an install. */
  readonly reviews: SkillReview[];
  write(folder: string, files: Readonly<Record<string, string | Buffer>>): string;
  text(path: string): string;
  /** What is there, with what is hidden. */
  listed(): readonly string[];
}

export function skillPlace(over: Partial<SkillInstallDeps> = {}): SkillPlace {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-skill-install-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const skillsDir = join(home, "skills");
  const reviews: SkillReview[] = [];
  const clock: Clock = systemClock;
  const deps: SkillInstallDeps = {
    skillsDir,
    bundled: new Set(["weather"]),
    config: () => ({}),
    hooks: undefined,
    env: { PATH: process.env["PATH"], HOME: home },
    platform: "linux",
    cwd: home,
    home,
    pid: process.pid,
    clock,
    ids: createIds(systemRandom),
    async agree(review) {
      reviews.push(review);
      return true;
    },
    ...over,
  };
  return {
    home,
    skillsDir,
    deps,
    reviews,
    write(folder, files) {
      for (const [name, content] of Object.entries(files)) {
        const path = join(home, folder, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }
      return join(home, folder);
    },
    text: (path) => readFileSync(join(skillsDir, path), "utf8"),
    listed: () => {
      try {
        return readdirSync(skillsDir).sort();
      } catch {
        return [];
      }
    },
  };
}
