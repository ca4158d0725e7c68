import { isObject, sameValue } from "../../config/index.ts";
import { judge, type SkillGates } from "./eligibility.ts";
import { skillLimits } from "./limits.ts";
import { promptList } from "./prompt-list.ts";
import type { Skill } from "./skill.ts";

/** The skills of a session as its first turn found them; kept in the session's entry. */
export interface SkillsSnapshot {
  /** The list for the system prompt. */
  readonly prompt: string;
  /** `skillKey` is there where it is not the name. */
  readonly skills: readonly { readonly name: string; readonly primaryEnv?: string; readonly skillKey?: string }[];
  /** Names that the agent or the channel allows; absent when all are. */
  readonly skillFilter?: readonly string[];
  readonly resolvedSkills: readonly Pick<Skill, "name" | "description" | "filePath" | "baseDir" | "source" | "disableModelInvocation">[];
  readonly version: number;
}

export interface SnapshotOptions {
  readonly gates: SkillGates;
  readonly home: string;
  readonly version: number;
  /** Absent allows all, an empty list none. */
  readonly filter?: readonly string[] | undefined;
}

export function buildSnapshot(skills: readonly Skill[], { gates, home, version, filter }: SnapshotOptions): SkillsSnapshot {
  const names = filter === undefined ? undefined : filterOf(filter);
  const eligible = skills.filter((skill) => (names?.includes(skill.name) ?? true) && judge(skill, gates).eligible);
  return {
    prompt: promptList(eligible, { home, limits: skillLimits(gates.config), note: gates.remote?.note }),
    skills: eligible.map(({ name, primaryEnv, key }) => {
      return { name, ...(primaryEnv === undefined ? {} : { primaryEnv }), ...(key === name ? {} : { skillKey: key }) };
    }),
    ...(names === undefined ? {} : { skillFilter: names }),
    resolvedSkills: eligible.map(({ name, description, filePath, baseDir, source, disableModelInvocation }) => {
      return { name, description, filePath, baseDir, source, disableModelInvocation };
    }),
    version,
  };
}

/** The snapshot in a session's entry, if it still holds: nothing changed since, and the same skills are allowed. */
export function heldSnapshot(stored: unknown, version: number, filter?: readonly string[]): SkillsSnapshot | undefined {
  if (!isObject(stored) || typeof stored["prompt"] !== "string" || !Array.isArray(stored["skills"])) return undefined;
  const { version: built } = stored;
  if (typeof built !== "number" || built < version) return undefined;
  if (!sameValue(stored["skillFilter"], filter === undefined ? undefined : filterOf(filter))) return undefined;
  return stored as unknown as SkillsSnapshot;
}

const filterOf = (filter: readonly string[]): readonly string[] => [...new Set(filter.map((name) => name.trim()).filter(Boolean))].sort();
