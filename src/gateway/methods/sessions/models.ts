import { AppError } from "../../../base/errors.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { SessionEntry } from "../../../protocol/index.ts";

export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

export interface ModelDefaults {
  readonly modelProvider: string | null;
  readonly model: string | null;
  readonly contextTokens: number | null;
}

/** `provider/model`; the model may have further slashes. */
export function parseModelRef(text: string): ModelRef | undefined {
  const at = text.indexOf("/");
  return at > 0 && at < text.length - 1 ? { provider: text.slice(0, at).toLowerCase(), model: text.slice(at + 1) } : undefined;
}

export function modelDefaults(config: OpenClawConfig): ModelDefaults {
  const { model, contextTokens } = config.agents?.defaults ?? {};
  const primary = typeof model === "string" ? model : model?.primary;
  const ref = primary === undefined ? undefined : parseModelRef(primary);
  return { modelProvider: ref?.provider ?? null, model: ref?.model ?? primary ?? null, contextTokens: contextTokens ?? null };
}

/** The model a session runs with: what was chosen for it, what it last ran with, the default. */
export function sessionModel(entry: SessionEntry, defaults: ModelDefaults): { readonly modelProvider: string | null; readonly model: string | null } {
  const { modelOverride, providerOverride } = entry;
  if (typeof modelOverride === "string") {
    return { modelProvider: typeof providerOverride === "string" ? providerOverride : defaults.modelProvider, model: modelOverride };
  }
  return { modelProvider: entry.modelProvider ?? defaults.modelProvider, model: entry.model ?? defaults.model };
}

/** A model that a client names: a reference, or an alias of one. `agents.defaults.models`, when it lists any, is what may be chosen. */
export function chosenModel(config: OpenClawConfig, wanted: string): ModelRef {
  const allowed = Object.entries(config.agents?.defaults?.models ?? {});
  const alias = allowed.find(([, settings]) => settings?.alias?.toLowerCase() === wanted.trim().toLowerCase());
  const ref = parseModelRef(alias?.[0] ?? wanted.trim());
  if (!ref) throw new AppError("INVALID_INPUT", `invalid model: ${wanted} (use provider/model or an alias)`);
  const same = (text: string): boolean => text.toLowerCase() === `${ref.provider}/${ref.model}`.toLowerCase();
  if (allowed.length > 0 && !allowed.some(([text]) => same(text))) throw new AppError("INVALID_INPUT", `model not allowed: ${ref.provider}/${ref.model}`);
  return ref;
}
