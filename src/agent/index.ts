/**
 * The turn, its prompt and its workspace. The entry point.
 */
import type * as RosterCode from "./roster/index.ts";

export { createAgents, type Agents, type AgentsDeps } from "./create-agents.ts";
export { GIVEN_UP } from "./turn/turn.ts";
export { isUnusableModel, usageRow } from "./turn/model.ts";
export { isSilentReply } from "./turn/reply.ts";
export type { ChannelFacts, ShownReplies, Spoken, Steered, TurnEnd, TurnEvent, TurnFailure, TurnInput, TurnPorts } from "./turn/input.ts";
export type { CompactionOutcome, CompactionWish } from "./turn/upkeep.ts";
export type { AttemptNote } from "./turn/ask.ts";
export type { TurnHooks } from "./turn/deps.ts";
export { runLoop, type LoopOptions } from "./loop/loop.ts";
export type { LoopEnd, LoopEvent, LoopPorts, LoopResult, ToolAnswer } from "./loop/ports.ts";
export { injectFiles } from "./prompt/injected-files.ts";
export type { SystemPromptReport } from "./prompt/report.ts";
export { sessionFacts } from "./prompt/facts.ts";
export { buildSystemPrompt } from "./prompt/system-prompt.ts";
export { createSkills, type SkillStatus } from "./skills/create-skills.ts";
export { checkSkill, type CheckedSkill } from "./skills/check/check-skill.ts";
export { skillRow, type SkillRow } from "./skills/status-row.ts";
export { skillTemplate } from "./skills/template.ts";
export { SKILL_FILE, skillFolders, type SkillProblem } from "./skills/load-skills.ts";
export { isSettingOn, skillsOfAgent, trustedPrograms } from "./skills/eligibility.ts";
export { parseFrontMatter } from "./skills/front-matter.ts";
export {
  describePlan,
  describeStep,
  INSTALLERS,
  offeredWays,
  planInstall,
  planPrograms,
  type InstallHost,
  type InstallPlan,
  type SkillPlan,
} from "./skills/install/plan.ts";
export { waysOf, type DownloadSpec, type InstallWay } from "./skills/install/way.ts";
export { parseSkill, readMetadata, textOf, textsOf, type Skill, type SkillRequirements } from "./skills/skill.ts";
export { BOOTSTRAP_NAMES, MEMORY_NAMES, type BootstrapFile } from "./workspace/bootstrap-names.ts";
export { findPrograms } from "./skills/programs.ts";
export { seedWorkspace } from "./seed-workspace.ts";
export { initRepository } from "./workspace/repository.ts";

export type { AddedAgent, AgentTemplate, BindingMatch, BindingPlan, Roster, WrittenBinding } from "./roster/index.ts";

/** Adding, changing and removing agents; loaded on demand: nothing that runs needs it. */
export const loadRoster = (): Promise<typeof RosterCode> => import("./roster/index.ts");

/** Loads what the first turn in a workspace needs besides. */
export async function loadWorkspaceCode(): Promise<void> {
  await Promise.all([import("./skills/watch-skills.ts"), import("./workspace/first-files.ts"), import("./workspace/repository.ts")]);
}
