import type { OpenClawConfig } from "../../config/index.ts";

/** Bounds of `skills.limits`. */
export interface SkillLimits {
  readonly maxCandidatesPerRoot: number;
  readonly maxSkillsLoadedPerSource: number;
  readonly maxSkillsInPrompt: number;
  readonly maxSkillsPromptChars: number;
  readonly maxSkillFileBytes: number;
}

const DEFAULTS: SkillLimits = {
  maxCandidatesPerRoot: 300,
  maxSkillsLoadedPerSource: 200,
  maxSkillsInPrompt: 150,
  maxSkillsPromptChars: 30_000,
  maxSkillFileBytes: 256_000,
};

export function skillLimits(config: OpenClawConfig): SkillLimits {
  return { ...DEFAULTS, ...config.skills?.limits };
}
