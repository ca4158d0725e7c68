import type { OpenClawConfig } from "../../config/index.ts";
import { canonicalRef, parseRef, type ModelRef } from "./ref.ts";

type Chosen = string | { readonly primary?: string | undefined; readonly fallbacks?: readonly string[] | undefined } | undefined;

/** A model and its fallbacks, from one path of the configuration. */
export interface ModelChoice {
  readonly primary?: string | undefined;
  /** Undefined: not configured here. */
  readonly fallbacks?: readonly string[] | undefined;
}

export interface ModelSettingsEntry {
  readonly alias?: string | undefined;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly streaming?: boolean | undefined;
}

const filled = (text: string | undefined): string | undefined => (text?.trim() ? text.trim() : undefined);

export function choiceOf(chosen: Chosen): ModelChoice {
  return typeof chosen === "string" ? { primary: filled(chosen) } : { primary: filled(chosen?.primary), fallbacks: chosen?.fallbacks };
}

/**
 * An agent's choice: its own model over the defaults. A text replaces the primary only; a list of fallbacks, even an empty one, replaces the list.
 */
export function agentChoice(config: OpenClawConfig, agentId: string | undefined): ModelChoice & { readonly own: boolean } {
  const agent = agentId === undefined ? undefined : config.agents?.list?.find(({ id }) => id.trim().toLowerCase() === agentId.toLowerCase());
  const own = choiceOf(agent?.model);
  const defaults = choiceOf(config.agents?.defaults?.model);
  return { primary: own.primary ?? defaults.primary, fallbacks: own.fallbacks ?? defaults.fallbacks, own: own.primary !== undefined };
}

/** Aliases of models, in lower case, and their targets. */
export function aliasesOf(config: OpenClawConfig): ReadonlyMap<string, ModelRef> {
  const aliases = new Map<string, ModelRef>();
  for (const [text, settings] of Object.entries(config.agents?.defaults?.models ?? {})) {
    const alias = filled(settings?.alias)?.toLowerCase();
    const ref = parseRef(text);
    if (alias !== undefined && ref && !aliases.has(alias)) aliases.set(alias, ref);
  }
  return aliases;
}

/** A user's input: a reference, an alias, or the bare id of a model of the default provider. */
export interface ReadRef {
  readonly ref: ModelRef;
  readonly via: "ref" | "alias" | "default-provider";
}

/** Undefined for an empty text. An id without a provider belongs to the default provider; `via` says so. */
export function readRef(text: string, aliases: ReadonlyMap<string, ModelRef>, defaultProvider: string): ReadRef | undefined {
  const plain = text.trim();
  const alias = aliases.get(plain.toLowerCase());
  if (alias) return { ref: alias, via: "alias" };
  const ref = parseRef(plain);
  if (ref) return { ref, via: "ref" };
  return plain === "" || plain.includes("/") ? undefined : { ref: canonicalRef(defaultProvider, plain), via: "default-provider" };
}

/** Settings of one model, however its key is spelled. */
export function settingsOf(config: OpenClawConfig, ref: ModelRef): ModelSettingsEntry | undefined {
  for (const [text, settings] of Object.entries(config.agents?.defaults?.models ?? {})) {
    const key = parseRef(text);
    if (key && key.provider === ref.provider && key.id.toLowerCase() === ref.id.toLowerCase()) return settings;
  }
  return undefined;
}
