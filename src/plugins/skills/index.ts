/** Brings skills and the programs they need onto this machine. Nothing here runs a file of a skill. */
export { createSkillAdministration, type SkillAdminDeps } from "./administration.ts";
export { createSkill } from "./create.ts";
export { installSkill, type SkillInstallDeps, type SkillInstallResult } from "./install.ts";
export { installForSkill, installHost, installProgram, type InstallProgress, type ProgramDeps, type ProgramOutcome } from "./programs.ts";
export type { SkillReview } from "./review.ts";
export { scanSkill } from "./scan.ts";
export { isSkillSource } from "./source.ts";
export { recoverSkills } from "./swap.ts";
export { installedSkills, removeSkill, updateSkills, type InstalledSkill, type SkillUpdateOutcome } from "./update.ts";
