import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { trustedPrograms } from "./eligibility.ts";

test("eligible skills from outside the workspace name the programs, whatever way leads to the workspace", () => {
  const base = mkdtempSync(join(tmpdir(), "skill-programs-"));
  const workspace = join(base, "workspace");
  mkdirSync(join(workspace, "skills/own"), { recursive: true });
  symlinkSync(workspace, join(base, "link"));
  const skill = (
    source: "openclaw-managed" | "openclaw-extra" | "openclaw-workspace" | "agents-skills-project",
    baseDir: string,
    bin: string,
    eligible = true,
  ) => ({
    source,
    baseDir,
    eligible,
    requires: { bins: [bin], anyBins: [`${bin}-any`], env: [], config: [] },
  });
  const skills = [
    skill("openclaw-managed", join(base, "state/skills/a"), "git"),
    skill("openclaw-extra", join(base, "shared/b"), "git"),
    { ...skill("openclaw-managed", join(base, "state/skills/g"), "tmux"), requires: { bins: ["curl", "tmux"], anyBins: ["claude"], env: [], config: [] } },
    skill("openclaw-managed", join(base, "state/skills/c"), "off", false),
    skill("openclaw-workspace", join(base, "elsewhere"), "rm"),
    skill("agents-skills-project", join(workspace, ".agents/skills/e"), "dd"),
    skill("openclaw-extra", join(workspace, "skills/own"), "curl"),
    skill("openclaw-extra", join(base, "link/skills/own"), "wget"),
  ];
  expect(trustedPrograms(skills, workspace)).toEqual(["git", "git-any"]);
  expect(trustedPrograms(skills, join(base, "link"))).toEqual(["git", "git-any"]);
});
