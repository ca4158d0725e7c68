import type { OpenClawConfig } from "../../config/index.ts";
import { DEFAULT_CONTEXT_WINDOW } from "../catalogue/layer.ts";
import type { ModelEntry } from "../entry.ts";

/** Tokens below which a model is refused: system prompt and tools alone would fill it. */
export const MINIMUM_CONTEXT = 16_000;
/** Tokens below which a user should know that it will be tight. */
export const TIGHT_CONTEXT = 32_000;

/** How much a model may see, and who says so. */
export interface ContextWindow {
  readonly tokens: number;
  readonly source: "model" | "modelsConfig" | "agentContextTokens" | "default";
  /** What the model itself could see. */
  readonly reference: number;
  readonly verdict: "ok" | "tight" | "too-small";
}

export function contextWindowOf(entry: ModelEntry, config: OpenClawConfig): ContextWindow {
  const known = entry.contextWindow > 0;
  const reference = known ? entry.contextWindow : DEFAULT_CONTEXT_WINDOW;
  const own = !known || entry.source === "generic" ? "default" : entry.source === "config" || entry.source === "models.json" ? "modelsConfig" : "model";
  const cap = config.agents?.defaults?.contextTokens;
  const capped = cap !== undefined && cap < reference;
  const tokens = capped ? cap : reference;
  const verdict = tokens < MINIMUM_CONTEXT ? "too-small" : tokens < TIGHT_CONTEXT ? "tight" : "ok";
  return { tokens, source: capped ? "agentContextTokens" : own, reference, verdict };
}

/** What is said about a small window; undefined when there is nothing to say. */
export function describeWindow({ tokens, source, verdict }: ContextWindow, ref: string): string | undefined {
  if (verdict === "ok") return undefined;
  const advice = source === "agentContextTokens" ? "raise agents.defaults.contextTokens" : "choose a model with a larger one, or correct its contextWindow";
  return verdict === "too-small"
    ? `Model context window too small (${tokens} tokens). Minimum is ${MINIMUM_CONTEXT}. ${ref}: ${advice}`
    : `the context window of ${ref} is small: ${tokens} tokens, ${TIGHT_CONTEXT} are recommended; ${advice}`;
}
