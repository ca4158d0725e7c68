import { BUILTIN_TOOLS, CORE_TOOLS, GROUPS, toolFacts, toolName } from "../catalog.ts";
import type { OfferFacts } from "../declaration.ts";
import type { ToolSource } from "../tool.ts";
import { decidePolicy, type PolicyVerdict } from "./decide.ts";
import { policyLayers, type LayerFacts } from "./layers.ts";
import { isOwnerOnly, type PolicySubject } from "./names.ts";

/** Why a session has a tool or not, as `tools.explain` and the command line tell it. */
export interface ToolExplanation {
  readonly name: string;
  readonly allowed: boolean;
  readonly layer: string;
  /** In the configuration. */
  readonly path?: string;
  readonly entry?: string;
  readonly why: string;
  /** `core`, `plugin:<id>` or `channel:<id>`. */
  readonly source: string;
}

/** Verdicts in the words of the protocol. */
export function explainTools(tools: readonly PolicySubject[], verdicts: readonly PolicyVerdict[]): readonly ToolExplanation[] {
  const sources = new Map(tools.map(({ name, source }) => [name, source]));
  return verdicts.map(({ tool, allowed, layer, at, entry, why }) => ({
    name: tool,
    allowed,
    layer,
    ...(at === undefined ? {} : { path: at }),
    ...(entry === undefined ? {} : { entry }),
    why,
    source: sourceName(sources.get(tool)),
  }));
}

function sourceName(source: ToolSource | undefined): string {
  return source === undefined || source.kind === "core" ? "core" : `${source.kind}:${source.id}`;
}

/** The built-in tools by name, for who has the configuration and nothing else. */
export function builtinSubjects(named?: string): readonly PolicySubject[] {
  // Names that other plugins may take are listed when they are asked for.
  const asked = BUILTIN_TOOLS.flatMap(({ name }) => (named !== undefined && name === toolName(named) && !CORE_TOOLS.includes(name) ? [name] : []));
  return [...CORE_TOOLS, ...asked].map((name) => ({ name, source: { kind: "core" }, ...(isOwnerOnly({ name }) ? { ownerOnly: true } : {}) }));
}

export interface PolicyQuestion extends LayerFacts {
  /** The built-in ones when absent. */
  readonly tools?: readonly PolicySubject[] | undefined;
  readonly owner: boolean;
  /** Only this one, by any of its names. */
  readonly tool?: string | undefined;
}

/** Why a session has each tool or not; nothing when `tool` names none of them. */
export function explainPolicy({ tool, tools = builtinSubjects(tool), owner, ...facts }: PolicyQuestion): readonly ToolExplanation[] {
  const rows = explainTools(tools, decidePolicy(tools, { layers: policyLayers(facts), owner }));
  return tool === undefined ? rows : rows.filter(({ name }) => toolName(name) === toolName(tool));
}

/** The groups that mean a tool, as lists write them. */
export function groupsOf(tool: Pick<PolicySubject, "name" | "source">): readonly string[] {
  const own = Object.entries(GROUPS).flatMap(([group, members]) => (members.includes(tool.name) ? [group] : []));
  return tool.source.kind === "plugin" ? [...own, "group:plugins"] : own;
}

/** The row of a tool that lists can name and that is not offered; undefined for one that is, and for a name that stands for nothing. */
export function explainAbsent(tool: string, facts: OfferFacts): ToolExplanation | undefined {
  const name = toolName(tool);
  const reason = toolFacts(name)?.absence?.(facts);
  return reason && { name, allowed: false, layer: "not offered", source: "core", ...reason };
}

/** The row of a tool by any of its names: what the lists decide about it, or why it is not offered. Empty for a name that stands for nothing. */
export function explainNamed(tool: string, rows: readonly ToolExplanation[], facts: OfferFacts): readonly ToolExplanation[] {
  const named = rows.filter(({ name }) => toolName(name) === toolName(tool));
  const absent = named.length > 0 ? undefined : explainAbsent(tool, facts);
  return absent ? [absent] : named;
}
