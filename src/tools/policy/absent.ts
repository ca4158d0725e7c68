import type { OpenClawConfig } from "../../config/index.ts";
import { applyPatchAvailable } from "../builtin/patch/availability.ts";
import { fetchSettings, searchSettings } from "../builtin/web/settings.ts";
import type { ToolExplanation } from "./explain.ts";
import { toolName } from "./names.ts";

/** Names that lists may use, of tools that this version does not have. */
const NOT_IN_THIS_VERSION: ReadonlySet<string> = new Set("browser canvas nodes cron tts sessions_spawn subagents memory_search memory_get".split(" "));

export interface AbsenceFacts {
  readonly config: OpenClawConfig;
  readonly agentId: string;
  readonly provider?: string | undefined;
  readonly modelId?: string | undefined;
}

/** Why a built-in tool is not offered, whatever the lists say. */
function reasonFor(name: string, { config, agentId, provider, modelId }: AbsenceFacts): { readonly why: string; readonly path?: string } | undefined {
  if (NOT_IN_THIS_VERSION.has(name)) return { why: `${name} is not available in this version` };
  if (name === "message" && !hasChannel(config)) return { why: "no channel is configured: there is nowhere to send to", path: "channels" };
  if (name === "web_search" && !searchSettings(config).enabled) return { why: "tools.web.search.enabled is false", path: "tools.web.search.enabled" };
  if (name === "web_fetch" && !fetchSettings(config).enabled) return { why: "tools.web.fetch.enabled is false", path: "tools.web.fetch.enabled" };
  if (name === "apply_patch" && !applyPatchAvailable(config, provider, modelId, agentId)) {
    return { why: "it is offered to models of openai and openai-codex when tools.exec.applyPatch.enabled is true", path: "tools.exec.applyPatch" };
  }
  return undefined;
}

const hasChannel = ({ channels }: OpenClawConfig): boolean => Object.keys(channels ?? {}).some((id) => id !== "defaults" && id !== "modelByChannel");

/** The row of a tool that lists can name and that is not offered; undefined for one that is, and for a name that stands for nothing. */
export function explainAbsent(tool: string, facts: AbsenceFacts): ToolExplanation | undefined {
  const name = toolName(tool);
  const reason = reasonFor(name, facts);
  return reason && { name, allowed: false, layer: "not offered", source: "core", ...reason };
}

/** The row of a tool by any of its names: what the lists decide about it, or why it is not offered. Empty for a name that stands for nothing. */
export function explainNamed(tool: string, rows: readonly ToolExplanation[], facts: AbsenceFacts): readonly ToolExplanation[] {
  const named = rows.filter(({ name }) => toolName(name) === toolName(tool));
  const absent = named.length > 0 ? undefined : explainAbsent(tool, facts);
  return absent ? [absent] : named;
}
