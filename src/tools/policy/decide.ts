import type { Tool } from "../tool.ts";
import type { Layer } from "./layers.ts";
import { allows, names } from "./names.ts";

/** Why a tool is there, or which layer took it away. */
export interface PolicyVerdict {
  readonly tool: string;
  readonly allowed: boolean;
  /** The layer that decided, with the entry that did. */
  readonly layer?: string;
  readonly at?: string;
  readonly entry?: string;
  readonly why: string;
}

export interface PolicyOptions {
  readonly layers: readonly Layer[];
  readonly owner: boolean;
  /** Told what in the lists means no tool, once per layer. */
  readonly warn?: (text: string) => void;
}

/** Which of these tools may be used, and why each may or may not. Pure; every layer can only narrow. */
export function decidePolicy(tools: readonly Tool[], { layers, owner, warn }: PolicyOptions): readonly PolicyVerdict[] {
  const effective = layers.map((layer) => meaningful(layer, tools, warn));
  return tools.map((tool) => verdict(tool, effective, layers, owner));
}

function verdict(tool: Tool, layers: readonly Layer[], asked: readonly Layer[], owner: boolean): PolicyVerdict {
  const no = (why: string, layer?: Layer, entry?: string): PolicyVerdict => ({
    tool: tool.name,
    allowed: false,
    ...(layer ? { layer: layer.name, at: layer.at } : {}),
    ...(entry === undefined ? {} : { entry }),
    why,
  });
  if (tool.ownerOnly && !owner) return no("only the owner may use it");
  if (tool.optional && !asked.some((layer) => layer.allow?.some((entry) => isNamed(entry, tool)))) {
    return no("it is optional and no allow list names it, its plugin or group:plugins");
  }
  for (const layer of layers) {
    const denied = layer.deny?.find((entry) => names(entry, tool));
    if (denied !== undefined) return no(`denied by ${layer.at}`, layer, denied);
    if (layer.allow && !layer.allow.some((entry) => allows(entry, tool))) return no(`not in the allow list of ${layer.at}`, layer);
  }
  return { tool: tool.name, allowed: true, why: layers.length === 0 ? "no policy says otherwise" : `passes ${layers.map((layer) => layer.name).join(", ")}` };
}

/** Named on purpose: not by a star. */
function isNamed(entry: string, tool: Tool): boolean {
  return entry.trim() !== "*" && names(entry, tool);
}

/** An allow list that names no tool of ours would take away everything; it is left aside, and that is said. */
function meaningful(layer: Layer, tools: readonly Tool[], warn: PolicyOptions["warn"]): Layer {
  if (!layer.lenient || !layer.allow) return layer;
  const core = tools.filter((tool) => tool.source.kind === "core");
  if (core.length === 0 || layer.allow.some((entry) => core.some((tool) => allows(entry, tool)))) return layer;
  const unknown = layer.allow.filter((entry) => !tools.some((tool) => allows(entry, tool)));
  warn?.(
    `${layer.at}: the allow list names no built-in tool${unknown.length > 0 ? ` (unknown: ${unknown.join(", ")})` : ""}; it is ignored for built-in tools`,
  );
  const { allow: _, ...rest } = layer;
  return rest;
}
