import type { MethodResult } from "openclaw/client";
import type { Tone } from "../../parts/state.ts";
import { t } from "../../words/words.ts";

export type Skill = MethodResult<"skills.status">["skills"][number];
export type Review = MethodResult<"skills.review">;
export type SkillFile = MethodResult<"skills.file.get">;

/** An agent that finds a skill, and whether its own list lets it have it. */
export interface SkillAgent {
  readonly id: string;
  readonly name: string;
  readonly isAllowed: boolean;
}

/** A skill of this gateway: one folder, and the agents that find it. */
export interface SkillLine {
  readonly skill: Skill;
  readonly agents: readonly SkillAgent[];
  /** Whose status it is: the first agent that finds it. */
  readonly agentId: string;
}

/** What an agent finds. `only`: its list in the configuration. */
export interface Found {
  readonly agent: { readonly id: string; readonly name: string; readonly only: readonly string[] | undefined };
  readonly skills: readonly Skill[];
}

/** The skills of all agents. Those of the same folder are one. */
export function skillLines(found: readonly Found[]): readonly SkillLine[] {
  const lines = new Map<string, SkillLine & { agents: SkillAgent[] }>();
  for (const { agent, skills } of found) {
    for (const skill of skills) {
      const line = lines.get(skill.baseDir) ?? { skill, agents: [], agentId: agent.id };
      line.agents.push({ id: agent.id, name: agent.name, isAllowed: agent.only?.includes(skill.name) ?? true });
      lines.set(skill.baseDir, line);
    }
  }
  return [...lines.values()].toSorted((a, b) => a.skill.name.localeCompare(b.skill.name) || a.agentId.localeCompare(b.agentId));
}

/** Where a skill's details are. Only of several with one name does the address say whose. */
export const partsOf = ({ skill, agentId }: SkillLine, lines: readonly SkillLine[]): readonly string[] => {
  const isFirst = lines.find((line) => line.skill.name === skill.name)?.agentId === agentId;
  return isFirst ? [skill.name] : [skill.name, agentId];
};

export const lineAt = (lines: readonly SkillLine[], [name, agentId]: readonly (string | undefined)[]): SkillLine | undefined =>
  lines.find((line) => line.skill.name === name && (agentId === undefined || line.agentId === agentId));

/** Filters of the list, with what each has. */
export type StateFilter = "all" | "ready" | "missing" | "off";

export function stateOf({ disabled, eligible, blockedByAllowlist }: Skill): {
  readonly is: Exclude<StateFilter, "all">;
  readonly tone: Tone;
  readonly word: string;
} {
  if (disabled) return { is: "off", tone: "", word: t("Off") };
  if (blockedByAllowlist) return { is: "off", tone: "", word: t("Not allowed") };
  return eligible ? { is: "ready", tone: "good", word: t("Ready") } : { is: "missing", tone: "warn", word: t("Missing requirements") };
}

export function linesIn(lines: readonly SkillLine[], words: string, state: StateFilter): readonly SkillLine[] {
  const wanted = words.trim().toLowerCase();
  return lines.filter(({ skill }) => (state === "all" || stateOf(skill).is === state) && `${skill.name} ${skill.description}`.toLowerCase().includes(wanted));
}

const SOURCES: Readonly<Record<string, string>> = {
  "openclaw-bundled": t("Bundled"),
  "openclaw-managed": t("All agents"),
  "openclaw-workspace": t("Workspace"),
  "openclaw-extra": t("Plugin or extra folder"),
  "agents-skills-personal": t("Personal"),
  "agents-skills-project": t("Project"),
};

/** Where a skill comes from. */
export const sourceName = (source: string): string => SOURCES[source] ?? source;

/** What a skill lacks, by kind. Kinds of which nothing is missing are left out. */
export function missingOf({ missing }: Skill): readonly { readonly kind: string; readonly names: readonly string[] }[] {
  const { bins, anyBins, env, config, os } = missing;
  return [
    { kind: t("Programs"), names: bins },
    { kind: t("One of these programs"), names: anyBins },
    { kind: t("Variables"), names: env },
    { kind: t("Settings"), names: config },
    { kind: t("Operating system"), names: os },
  ].filter(({ names }) => names.length > 0);
}

/** Variables that can be set here: those that are missing, without the one that the key sets. */
export const settableEnv = ({ missing, primaryEnv }: Skill): readonly string[] => missing.env.filter((name) => name !== primaryEnv);

/** What the configuration says of a skill. Secrets are masked in it: that they are there is all that is known. */
export function storedFor(config: unknown, skillKey: string): { readonly hasKey: boolean; readonly env: readonly string[] } {
  const entries = (config as { skills?: { entries?: Record<string, { apiKey?: unknown; env?: unknown }> } } | undefined)?.skills?.entries ?? {};
  const entry = Object.hasOwn(entries, skillKey) ? entries[skillKey] : undefined;
  const { env } = entry ?? {};
  return {
    hasKey: entry?.apiKey !== undefined && entry.apiKey !== null && entry.apiKey !== "",
    env: typeof env === "object" && env !== null ? Object.keys(env) : [],
  };
}

/** The lists of skills that agents have in the configuration. */
export function agentLists(config: unknown): ReadonlyMap<string, readonly string[]> {
  const list = (config as { agents?: { list?: unknown } } | undefined)?.agents?.list;
  const agents = Array.isArray(list) ? (list as readonly { id?: unknown; skills?: unknown }[]) : [];
  return new Map(
    agents.flatMap(({ id, skills }) =>
      typeof id === "string" && Array.isArray(skills) ? [[id.toLowerCase(), skills.filter((name) => typeof name === "string")] as const] : [],
    ),
  );
}
