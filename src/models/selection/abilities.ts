import type { OpenClawConfig } from "../../config/index.ts";
import type { ThinkingLevel } from "../../protocol/index.ts";
import { DEFAULT_CONTEXT_WINDOW } from "../catalogue/layer.ts";
import type { ModelEntry } from "../entry.ts";

/** Models with fewer tokens are refused: system prompt and tools alone would fill the window. */
export const MINIMUM_CONTEXT = 16_000;
/** Below this many tokens the user is warned. */
export const TIGHT_CONTEXT = 32_000;

/** The usable context window, and where the number comes from. */
export interface ContextWindow {
  readonly tokens: number;
  readonly source: "model" | "modelsConfig" | "agentContextTokens" | "default";
  /** The model's own context window. */
  readonly reference: number;
  readonly rating: "ok" | "tight" | "too-small";
}

export function contextWindowOf(entry: ModelEntry, config: OpenClawConfig): ContextWindow {
  const known = entry.contextWindow > 0;
  const reference = known ? entry.contextWindow : DEFAULT_CONTEXT_WINDOW;
  const own = !known || entry.source === "generic" ? "default" : entry.source === "config" || entry.source === "models.json" ? "modelsConfig" : "model";
  const cap = config.agents?.defaults?.contextTokens;
  const capped = cap !== undefined && cap < reference;
  const tokens = capped ? cap : reference;
  const rating = tokens < MINIMUM_CONTEXT ? "too-small" : tokens < TIGHT_CONTEXT ? "tight" : "ok";
  return { tokens, source: capped ? "agentContextTokens" : own, reference, rating };
}

/** A message about a small window; undefined when it is large enough. */
export function describeWindow({ tokens, source, rating }: ContextWindow, ref: string): string | undefined {
  if (rating === "ok") return undefined;
  const advice = source === "agentContextTokens" ? "raise agents.defaults.contextTokens" : "choose a model with a larger one, or correct its contextWindow";
  return rating === "too-small"
    ? `Model context window too small (${tokens} tokens). Minimum is ${MINIMUM_CONTEXT}. ${ref}: ${advice}`
    : `the context window of ${ref} is small: ${tokens} tokens, ${TIGHT_CONTEXT} are recommended; ${advice}`;
}

const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high"];
const XHIGH: Readonly<Record<string, RegExp>> = {
  openai: /^gpt-5\.2$/,
  "openai-codex": /^gpt-5\.(?:3-codex(?:-spark)?|2-codex|1-codex)$/,
  "github-copilot": /^gpt-5\.2(?:-codex)?$/,
};

const takesMost = ({ provider, id }: ModelEntry): boolean => Object.hasOwn(XHIGH, provider) && XHIGH[provider]?.test(id.toLowerCase()) === true;

/** Levels that a user may choose. `zai` can only switch thinking on or off. */
export function thinkingLevels(entry: ModelEntry): readonly ThinkingLevel[] {
  if (entry.provider === "zai") return ["off", "low"];
  return takesMost(entry) ? [...LEVELS, "xhigh"] : LEVELS;
}

/** The effective level of a model: off without reasoning, and the highest exists only in some. */
export function thinkingFor(entry: ModelEntry, wanted: ThinkingLevel): ThinkingLevel {
  if (!entry.reasoning) return "off";
  return wanted === "xhigh" && !takesMost(entry) ? "high" : wanted;
}

/** The default level. */
export function defaultThinking(entry: ModelEntry, config: OpenClawConfig): ThinkingLevel {
  return thinkingFor(entry, config.agents?.defaults?.thinkingDefault ?? "low");
}
