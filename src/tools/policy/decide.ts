import { nearest } from "../../base/text.ts";
import { CORE_TOOLS, GROUPS, toolFacts, toolName } from "../catalog.ts";
import { SANDBOX_DENY, type Layer, type PolicyEntry } from "./layers.ts";
import { allows, groupTools, isOwnerOnly, names, type PolicySubject } from "./names.ts";

/** Why a tool is there, or what took it away. */
export interface PolicyVerdict {
  readonly tool: string;
  readonly allowed: boolean;
  /** The layer that decided: `profile`, `global`, …, or `owner`, `optional`; `default` when none had an opinion. */
  readonly layer: string;
  /** The path in the configuration that decided: `tools.deny[1]`. */
  readonly at?: string;
  /** What is written there and means this tool. */
  readonly entry?: string;
  readonly why: string;
}

export interface PolicyOptions {
  readonly layers: readonly Layer[];
  readonly owner: boolean;
  /** Receives what in the lists means no tool. */
  readonly warn?: ((text: string) => void) | undefined;
}

/** Which of these tools may be used, and why each may or may not. Pure; every layer can only narrow. */
export function decidePolicy(tools: readonly PolicySubject[], { layers, owner, warn }: PolicyOptions): readonly PolicyVerdict[] {
  if (warn) for (const layer of layers) warnOfUnknown(layer, tools, warn);
  const effective = layers.map((layer) => meaningful(layer, tools, warn));
  return tools.map((tool) => verdict(tool, effective, layers, owner));
}

function verdict(tool: PolicySubject, layers: readonly Layer[], asked: readonly Layer[], owner: boolean): PolicyVerdict {
  const no = (layer: string, why: string, found: { readonly at?: string; readonly entry?: string } = {}): PolicyVerdict => ({
    tool: tool.name,
    allowed: false,
    layer,
    ...found,
    why,
  });
  if (isOwnerOnly(tool) && !owner) return no("owner", "only the owner may use it");
  if (tool.optional && !asked.some((layer) => layer.allow?.some(({ entry }) => isNamed(entry, tool)))) {
    return no("optional", "it is optional: an allow list must name it, its plugin or group:plugins");
  }
  let decisive: { readonly layer: string; readonly found: PolicyEntry } | undefined;
  for (const layer of layers) {
    const denied = layer.deny?.find(({ entry }) => names(entry, tool));
    if (denied) return no(layer.name, denied.why ?? `${JSON.stringify(denied.entry)} is denied by ${denied.at}`, { at: denied.at, entry: denied.entry });
    if (!layer.allow) continue;
    const found = layer.allow.find(({ entry }) => allows(entry, tool));
    if (!found) return no(layer.name, layer.missing, { at: layer.allowAt });
    // What the configuration says counts more than what holds by itself; of what was written the narrowest counts.
    const isImplied = found.entry === "*" && found.why !== undefined;
    if (!isImplied && (found.why === undefined || !decisive)) decisive = { layer: layer.name, found };
  }
  if (!decisive) return { tool: tool.name, allowed: true, layer: "default", why: "no policy list applies" };
  const { at, entry, why = `${JSON.stringify(entry)} is allowed by ${at}` } = decisive.found;
  return { tool: tool.name, allowed: true, layer: decisive.layer, at, entry, why };
}

/** Named on purpose: by no pattern. */
function isNamed(entry: string, tool: PolicySubject): boolean {
  return !entry.includes("*") && names(entry, tool);
}

/** A built-in tool of any run, whether this one has it or not: a list that names it means something. */
const isCore = (entry: string): boolean => CORE_TOOLS.some((name) => allows(entry, { name, source: { kind: "core" } }));

/** An allow list that names no tool of ours would take away everything; it is left aside, and that is said. */
function meaningful(layer: Layer, tools: readonly PolicySubject[], warn: PolicyOptions["warn"]): Layer {
  if (!layer.lenient || !layer.allow) return layer;
  const core = tools.filter((tool) => tool.source.kind === "core");
  if (layer.allow.some(({ entry }) => isCore(entry) || core.some((tool) => allows(entry, tool)))) return layer;
  warn?.(`${layer.allowAt} names no built-in tool and is ignored; to add tools of plugins to the built-in ones use alsoAllow`);
  const { allow: _, ...rest } = layer;
  return rest;
}

/** What was written and means no tool that there is or could be. */
function warnOfUnknown(layer: Layer, tools: readonly PolicySubject[], warn: (text: string) => void): void {
  const written = [...(layer.allow ?? []), ...(layer.deny ?? [])].filter(({ why }) => why === undefined);
  for (const { entry, at } of written) {
    if (isKnown(entry, tools)) continue;
    const known = [...CORE_TOOLS, ...tools.map((tool) => tool.name), ...Object.keys(GROUPS), "group:plugins"];
    const meant = nearest(toolName(entry), known);
    warn(`${at}: ${JSON.stringify(entry)} is not a known tool, group or plugin${meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`}`);
  }
}

function isKnown(entry: string, tools: readonly PolicySubject[]): boolean {
  const name = toolName(entry);
  if (name === "group:plugins" || groupTools(name) || SANDBOX_DENY.includes(name)) return true;
  return isCore(entry) || toolFacts(name) !== undefined || tools.some((tool) => names(entry, tool));
}
