import { toolFacts, toolName } from "../catalog.ts";
import type { OfferFacts } from "../declaration.ts";
import type { ToolExplanation } from "./explain.ts";

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
