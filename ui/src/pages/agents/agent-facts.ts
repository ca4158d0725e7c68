import type { MethodResult } from "openclaw/client";
import { t } from "../../words/words.ts";

export type Skill = MethodResult<"skills.status">["skills"][number];
export type Verdict = MethodResult<"tools.explain">["tools"][number];

/** An agent with what the configuration says of it. */
export interface AgentLine {
  readonly id: string;
  readonly name: string;
  readonly emoji: string;
  /** As the configuration names it. */
  readonly avatar: string;
  readonly isDefault: boolean;
  /** Empty when the default one is used. */
  readonly model: string;
  readonly workspace: string;
}

interface Configured {
  readonly id?: string;
  readonly model?: unknown;
  readonly workspace?: string;
}

const modelName = (model: unknown): string => (typeof model === "string" ? model : ((model as { primary?: string } | undefined)?.primary ?? ""));

/** Agents as a list shows them, the default first. */
export function linesOf({ agents, defaultId }: Pick<MethodResult<"agents.list">, "agents" | "defaultId">, config: unknown): readonly AgentLine[] {
  const section = (config as { agents?: { list?: readonly Configured[]; defaults?: Configured } } | undefined)?.agents;
  return agents
    .map(({ id, name, identity }) => {
      const own = section?.list?.find((each) => each.id?.toLowerCase() === id);
      return {
        id,
        name: identity?.name ?? name ?? id,
        emoji: identity?.emoji ?? "",
        avatar: identity?.avatar ?? "",
        isDefault: id === defaultId,
        model: modelName(own?.model) || modelName(section?.defaults?.model),
        workspace: own?.workspace ?? section?.defaults?.workspace ?? "",
      };
    })
    .toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault) || a.name.localeCompare(b.name));
}

/** What a skill lacks, in words. */
export function lacks({ missing, blockedByAllowlist }: Pick<Skill, "missing" | "blockedByAllowlist">): readonly string[] {
  const { bins, anyBins, env, config, os } = missing;
  return [
    ...bins.map((name) => t`program ${name}`),
    ...(anyBins.length > 0 ? [t`one of the programs ${anyBins.join(", ")}`] : []),
    ...env.map((name) => t`variable ${name}`),
    ...config.map((path) => t`setting ${path}`),
    ...(os.length > 0 ? [t`operating system (${os.join(", ")})`] : []),
    ...(blockedByAllowlist ? [t("an entry in the skill allowlist")] : []),
  ];
}

/** How a skill stands. */
export function skillState(skill: Pick<Skill, "disabled" | "eligible" | "missing" | "blockedByAllowlist">): "on" | "off" | "incomplete" {
  if (skill.disabled) return "off";
  return skill.eligible && !skill.blockedByAllowlist ? "on" : "incomplete";
}

/** Tools that pass a search, denied ones last. */
export function verdictsIn(tools: readonly Verdict[], filter: string): readonly Verdict[] {
  const wanted = filter.trim().toLowerCase();
  return tools
    .filter(({ name, source, why }) => `${name} ${source} ${why}`.toLowerCase().includes(wanted))
    .toSorted((a, b) => Number(b.allowed) - Number(a.allowed) || a.name.localeCompare(b.name));
}
