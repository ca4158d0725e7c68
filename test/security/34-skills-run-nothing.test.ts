/** 34: installing, updating, checking and listing skills runs nothing of them. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkSkill } from "../../src/agent/index.ts";
import { installedSkills, installSkill, scanSkill, SKILL, skillPlace, updateSkills } from "../skills/place.ts";

/** Files that leave a mark when anything runs, imports or sources them. */
function marking(mark: string): Record<string, string> {
  const shell = `#!/bin/sh\necho ran >> ${mark}\n`;
  return {
    "SKILL.md": SKILL("trap", 'metadata: {openclaw: {install: [{kind: "node", package: "trap"}]}}\n', `\`\`\`sh\nsh {baseDir}/scripts/run.sh\n\`\`\`\n`),
    "scripts/run.sh": shell,
    "install.sh": shell,
    "index.js": `require("node:fs").appendFileSync(${JSON.stringify(mark)}, "ran");\n`,
    "package.json": JSON.stringify({ name: "trap", scripts: { preinstall: `echo ran >> ${mark}`, postinstall: `echo ran >> ${mark}` } }),
    Makefile: `all:\n\techo ran >> ${mark}\n`,
    ".envrc": `echo ran >> ${mark}\n`,
    ".gitattributes": "* filter=trap\n",
  };
}

test("from a folder and from a repository, with hooks and scripts of every kind", async () => {
  const here = skillPlace();
  const mark = join(here.home, "mark");
  const folder = here.write("from/trap", marking(mark));
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: folder, encoding: "utf8", env: { ...process.env, HOME: here.home } });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "one");
  // A template of the user's whose hooks run in every new clone.
  const hooks = join(here.home, "template/hooks");
  mkdirSync(hooks, { recursive: true });
  for (const name of ["post-checkout", "post-merge", "reference-transaction"]) {
    writeFileSync(join(hooks, name), `#!/bin/sh\necho ran >> ${mark}\n`);
    chmodSync(join(hooks, name), 0o755);
  }
  writeFileSync(join(here.home, ".gitconfig"), `[init]\n\ttemplateDir = ${join(here.home, "template")}\n`);
  await installSkill({ spec: `git+file://${folder}#main` }, here.deps);
  await installSkill({ spec: folder, force: true }, here.deps);
  writeFileSync(join(folder, "more.txt"), "more");
  expect(await updateSkills({}, here.deps)).toMatchObject([{ status: "updated" }]);
  expect(installedSkills(here.skillsDir)).toMatchObject([{ changed: [] }]);
  checkSkill(join(here.skillsDir, "trap"));
  scanSkill(join(here.skillsDir, "trap"));
  expect(existsSync(mark)).toBe(false);
  expect(existsSync(join(here.skillsDir, "trap/.git"))).toBe(false);
});
