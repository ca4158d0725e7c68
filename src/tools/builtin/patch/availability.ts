import type { OpenClawConfig } from "../../../config/index.ts";

interface PatchSettings {
  readonly enabled?: boolean | undefined;
  readonly workspaceOnly?: boolean | undefined;
  readonly allowModels?: readonly string[] | undefined;
}

/** The agent's own settings stand for everybody's. */
function settingsOf(config: OpenClawConfig, agentId: string | undefined): PatchSettings {
  const agent = config.agents?.list?.find(({ id }) => id.toLowerCase() === agentId?.toLowerCase());
  return agent?.tools?.exec?.applyPatch ?? config.tools?.exec?.applyPatch ?? {};
}

const PROVIDERS = ["openai", "openai-codex"];

/** `apply_patch` is offered to models that were taught its format, when it is turned on. */
export function applyPatchAvailable(config: OpenClawConfig, provider: string | undefined, modelId: string | undefined, agentId?: string): boolean {
  const { enabled, allowModels = [] } = settingsOf(config, agentId);
  const family = provider?.trim().toLowerCase() ?? "";
  if (enabled !== true || !PROVIDERS.includes(family)) return false;
  const model = modelId?.trim().toLowerCase() ?? "";
  const names = [model, model.includes("/") ? model : `${family}/${model}`];
  return allowModels.length === 0 || (model !== "" && allowModels.some((entry) => names.includes(entry.trim().toLowerCase())));
}

/** Patches stay in the workspace unless the settings say otherwise. */
export function applyPatchWorkspaceOnly(config: OpenClawConfig, agentId: string): boolean {
  return settingsOf(config, agentId).workspaceOnly !== false;
}
