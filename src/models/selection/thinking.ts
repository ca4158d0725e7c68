import type { OpenClawConfig } from "../../config/index.ts";
import type { ThinkingLevel } from "../../protocol/index.ts";
import type { ModelEntry } from "../entry.ts";

const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high"];
const XHIGH: Readonly<Record<string, RegExp>> = {
  openai: /^gpt-5\.2$/,
  "openai-codex": /^gpt-5\.(?:3-codex(?:-spark)?|2-codex|1-codex)$/,
  "github-copilot": /^gpt-5\.2(?:-codex)?$/,
};

const takesMost = ({ provider, id }: ModelEntry): boolean => XHIGH[provider]?.test(id.toLowerCase()) ?? false;

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
