import { isObject, sameValue } from "../../config/index.ts";
import { eligibilityOf, type SkillGates } from "./eligibility.ts";
import { skillLimits, type SkillLimits } from "./limits.ts";
import type { Skill } from "./skill.ts";
import { join, sep } from "node:path";
import { isInside } from "../../base/files.ts";

interface PromptListOptions {
  readonly home: string;
  readonly limits: Pick<SkillLimits, "maxSkillsInPrompt" | "maxSkillsPromptChars">;
  /** A line about computers that skills may use. */
  readonly note?: string | undefined;
}

/** The list of skills as a model reads it; empty when there is none. It holds as many, in order, as the limits allow. */
export function promptList(skills: readonly Skill[], { home, limits, note }: PromptListOptions): string {
  const offered = skills.filter((skill) => !skill.disableModelInvocation);
  if (offered.length === 0) return "";
  const frame = listOf([]).length;
  const blocks: string[] = [];
  let chars = frame;
  for (const skill of offered.slice(0, limits.maxSkillsInPrompt)) {
    const block = blockOf(skill, home);
    chars += block.length + 1;
    if (chars > limits.maxSkillsPromptChars) break;
    blocks.push(block);
  }
  const cut = blocks.length < offered.length && `⚠️ Skills truncated: included ${blocks.length} of ${offered.length}. \`openclaw skills list\` shows them all.`;
  return [note, cut, blocks.length > 0 && listOf(blocks)].filter(Boolean).join("\n");
}

const listOf = (blocks: readonly string[]): string => ["<available_skills>", ...blocks, "</available_skills>"].join("\n");

function blockOf(skill: Skill, home: string): string {
  return [
    "  <skill>",
    `    <name>${escapeXml(skill.name)}</name>`,
    `    <description>${escapeXml(skill.description)}</description>`,
    `    <location>${escapeXml(shortPath(skill.filePath, home))}</location>`,
    "  </skill>",
  ].join("\n");
}

function shortPath(path: string, home: string): string {
  return home !== sep && isInside(home, path) && path !== home ? join("~", path.slice(home.length)) : path;
}

/** One line of text that cannot end its element. */
function escapeXml(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, " ")
    .trim()
    .replace(/[&<>"']/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char] ?? "&apos;");
}

/** The skills of a session as its first turn found them; stored in the session's entry. */
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
  const eligible = skills.filter((skill) => (names?.includes(skill.name) ?? true) && eligibilityOf(skill, gates).eligible);
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

/** More skills than this are searched: a list of them would cost every turn more than a search costs the few turns that need one. */
const MOST_LISTED = 40;

/** The skills of a session that a tool looks through; undefined when the prompt lists them. */
export function searchedSkills({ resolvedSkills }: Pick<SkillsSnapshot, "resolvedSkills">): SearchedSkills | undefined {
  if (resolvedSkills.length <= MOST_LISTED) return undefined;
  const offered = resolvedSkills.filter(({ disableModelInvocation }) => !disableModelInvocation);
  return offered.length > MOST_LISTED ? offered.map(({ name, description, filePath }) => ({ name, description, location: filePath })) : undefined;
}

type SearchedSkills = readonly { readonly name: string; readonly description: string; readonly location: string }[];

/** The snapshot in a session's entry, if it still holds: nothing changed since, and the same skills are allowed. */
export function heldSnapshot(stored: unknown, version: number, filter?: readonly string[]): SkillsSnapshot | undefined {
  if (!isSnapshot(stored) || stored.version < version) return undefined;
  const isSame = filter === undefined ? stored.skillFilter === undefined : sameValue(stored.skillFilter, filterOf(filter));
  return isSame ? stored : undefined;
}

/** What an entry stores as `skillsSnapshot` was written by `buildSnapshot`. */
function isSnapshot(stored: unknown): stored is SkillsSnapshot {
  return (
    isObject(stored) &&
    typeof stored["prompt"] === "string" &&
    Array.isArray(stored["skills"]) &&
    Array.isArray(stored["resolvedSkills"]) &&
    typeof stored["version"] === "number"
  );
}

const filterOf = (filter: readonly string[]): readonly string[] => [...new Set(filter.map((name) => name.trim()).filter(Boolean))].sort();
