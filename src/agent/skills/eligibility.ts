import { realpathSync } from "node:fs";
import { isInside } from "../../base/files.ts";
import { isObject, parsePath, valueAt, type Env, type OpenClawConfig } from "../../config/index.ts";
import type { Skill, SkillRequirements } from "./skill.ts";

/** Paired computers that can run a skill's programs for us. */
export interface RemoteHosts {
  readonly platforms: readonly string[];
  readonly programs: ReadonlySet<string>;
  /** A line for the prompt that says how to reach them. */
  readonly note?: string;
}

/** What skills are judged by. */
export interface SkillGates {
  readonly config: OpenClawConfig;
  readonly env: Env;
  readonly platform: string;
  /** Programs on the path. */
  readonly programs: ReadonlySet<string>;
  readonly remote?: RemoteHosts | undefined;
}

export interface Eligibility {
  readonly eligible: boolean;
  readonly disabled: boolean;
  readonly blockedByAllowlist: boolean;
  readonly missing: SkillRequirements & { readonly os: readonly string[] };
}

/** Settings that count as on until they are turned off. */
const ON_UNLESS_SET: ReadonlySet<string> = new Set(["browser.enabled", "browser.evaluateEnabled"]);

/** Whether a skill can be offered, and if not, everything that stands in its way. */
export function eligibilityOf(skill: Skill, gates: SkillGates): Eligibility {
  const { skills } = gates.config;
  const disabled = skills?.entries?.[skill.key]?.enabled === false;
  const allowed = skills?.allowBundled ?? [];
  const blockedByAllowlist = skill.source === "openclaw-bundled" && allowed.length > 0 && !allowed.includes(skill.name) && !allowed.includes(skill.key);
  const missing = missingOf(skill, gates);
  const lacks = missing.os.length > 0 || (!skill.always && [missing.bins, missing.anyBins, missing.env, missing.config].some((list) => list.length > 0));
  return { eligible: !disabled && !blockedByAllowlist && !lacks, disabled, blockedByAllowlist, missing };
}

function missingOf(skill: Skill, { config, env, platform, programs, remote }: SkillGates): Eligibility["missing"] {
  const { requires, os } = skill;
  const entry = config.skills?.entries?.[skill.key];
  const hasProgram = (name: string): boolean => programs.has(name) || (remote?.programs.has(name) ?? false);
  const hasVariable = (name: string): boolean => Boolean(env[name]) || Boolean(entry?.env?.[name]) || (name === skill.primaryEnv && Boolean(entry?.apiKey));
  const runsHere = os.length === 0 || os.includes(platform) || os.some((name) => remote?.platforms.includes(name));
  return {
    os: runsHere ? [] : os,
    bins: requires.bins.filter((name) => !hasProgram(name)),
    anyBins: requires.anyBins.some(hasProgram) ? [] : requires.anyBins,
    env: requires.env.filter((name) => !hasVariable(name)),
    config: requires.config.filter((path) => !isSettingOn(config, path)),
  };
}

/** Whether a setting is on; `onUnlessSet` names those that are on by default. */
export function isSettingOn(config: unknown, path: string, onUnlessSet: ReadonlySet<string> = ON_UNLESS_SET): boolean {
  let value: unknown;
  try {
    value = valueAt(config, parsePath(path));
  } catch {
    return false;
  }
  if (value === undefined) return onUnlessSet.has(path);
  return typeof value === "string" ? value.trim() !== "" : isObject(value) || Boolean(value);
}

/** The skills that an agent may have (`agents.list[].skills`): all when absent, none when empty. */
export function skillsOfAgent({ agents }: OpenClawConfig, agentId: string | undefined): readonly string[] | undefined {
  return agents?.list?.find(({ id }) => id.toLowerCase() === agentId?.toLowerCase())?.skills;
}

/** Programs that any of these skills asks for. */
export function neededPrograms(skills: readonly Skill[]): ReadonlySet<string> {
  return new Set(skills.flatMap(({ requires }) => [...requires.bins, ...requires.anyBins]));
}

const OF_WORKSPACES: readonly Skill["source"][] = ["openclaw-workspace", "agents-skills-project"];

type OfferedSkill = Pick<Skill & Eligibility, "eligible" | "baseDir" | "source" | "requires">;

/** Programs that do whatever they are asked to: to need one is no reason to run it without a question. */
const GENERAL: ReadonlySet<string> = new Set(["curl", "wget", "ssh", "scp", "tmux", "screen", "docker", "claude", "codex", "opencode", "pi", "gemini"]);

/**
 * Programs that eligible skills say they need. Skills in the workspace do not count: the agent itself writes there, and would decide which programs run
 * without a question.
 */
export function trustedPrograms(skills: readonly OfferedSkill[], workspaceDir: string): readonly string[] {
  const workspace = real(workspaceDir);
  const trusted = skills.filter(({ eligible, source, baseDir }) => eligible && !OF_WORKSPACES.includes(source) && !isInside(workspace, real(baseDir)));
  return [...new Set(trusted.flatMap(({ requires }) => [...requires.bins, ...requires.anyBins]))].filter((name) => !GENERAL.has(name));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
