import type { MethodResult } from "../../protocol/index.ts";
import type { SkillStatus } from "./create-skills.ts";
import { offeredWays, type InstallHost } from "./install/plan.ts";

export type SkillRow = MethodResult<"skills.status">["skills"][number];

/** A skill as `skills.status` lists it. */
export function skillRow(skill: SkillStatus, host: InstallHost): SkillRow {
  const { name, description, source, filePath, baseDir, key, primaryEnv, emoji, homepage, always, os, requires, install, ...verdict } = skill;
  const { missing, disabled, blockedByAllowlist, eligible } = verdict;
  return {
    name,
    description,
    source,
    bundled: source === "openclaw-bundled",
    filePath,
    baseDir,
    skillKey: key,
    ...(primaryEnv === undefined ? {} : { primaryEnv }),
    ...(emoji === undefined ? {} : { emoji }),
    ...(homepage === undefined ? {} : { homepage }),
    always,
    disabled,
    blockedByAllowlist,
    eligible,
    requirements: { ...requires, os },
    missing,
    configChecks: requires.config.map((path) => ({ path, satisfied: !missing.config.includes(path) })),
    install: offeredWays(install, host).map(({ id, kind, label, bins }) => ({ id, kind, label, bins: [...bins] })),
  };
}
