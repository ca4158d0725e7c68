import { AppError } from "../../base/errors.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { canonicalProvider } from "../providers/index.ts";

/** A model by name: the canonical provider, and the id as the provider writes it. */
export interface ModelRef {
  readonly provider: string;
  readonly id: string;
}

export const DEFAULT_REF: ModelRef = { provider: "anthropic", id: "claude-opus-4-6" };
export const OFFLINE_REF: ModelRef = { provider: "builtin", id: "offline" };

const ANTHROPIC_SHORT: ReadonlyMap<string, string> = new Map([
  ["opus-4.6", "claude-opus-4-6"],
  ["opus-4.5", "claude-opus-4-5"],
  ["sonnet-4.6", "claude-sonnet-4-6"],
  ["sonnet-4.5", "claude-sonnet-4-5"],
]);
const GOOGLE_PREVIEWS = new Set(["gemini-3-pro", "gemini-3-flash"]);

export const formatRef = ({ provider, id }: ModelRef): string => `${provider}/${id}`;

export const sameRef = (a: ModelRef, b: ModelRef): boolean => a.provider === b.provider && a.id.toLowerCase() === b.id.toLowerCase();

/** Canonicalizes the provider, and ids that people write differently. */
export function canonicalRef(provider: string, id: string): ModelRef {
  const name = canonicalProvider(provider);
  const wanted = id.trim();
  const lower = wanted.toLowerCase();
  if (name === "anthropic") return { provider: name, id: ANTHROPIC_SHORT.get(lower) ?? wanted };
  if (name === "google" && GOOGLE_PREVIEWS.has(lower)) return { provider: name, id: `${lower}-preview` };
  if (name === "openai" && /^gpt-5\.3-codex(?:-|$)/.test(lower)) return { provider: "openai-codex", id: wanted };
  return { provider: name, id: wanted };
}

/** Parses `provider/model`, split at the first slash. Undefined without a slash, or when a side is empty. */
export function parseRef(text: string): ModelRef | undefined {
  const plain = text.trim();
  const at = plain.indexOf("/");
  if (at <= 0 || plain.slice(0, at).trim() === "" || plain.slice(at + 1).trim() === "") return undefined;
  return canonicalRef(plain.slice(0, at), plain.slice(at + 1));
}

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

/** Settings of models by `provider/id` in lower case, however the configuration spells their names; the first of several counts. */
export function modelSettings(config: OpenClawConfig): ReadonlyMap<string, ModelSettingsEntry> {
  const found = new Map<string, ModelSettingsEntry>();
  for (const [text, settings] of Object.entries(config.agents?.defaults?.models ?? {})) {
    const ref = parseRef(text);
    const key = ref && formatRef({ ...ref, id: ref.id.toLowerCase() });
    if (key !== undefined && settings && !found.has(key)) found.set(key, settings);
  }
  return found;
}

/** Which models may be chosen. */
export interface Allowlist {
  /** The configuration names none: all may be chosen. */
  readonly any: boolean;
  readonly refs: readonly ModelRef[];
  allows(ref: ModelRef): boolean;
}

/** Keys of `agents.defaults.models`, and always the default. */
export function allowlistOf(config: OpenClawConfig, standard: ModelRef): Allowlist {
  const named = Object.keys(config.agents?.defaults?.models ?? {}).flatMap((text) => parseRef(text) ?? []);
  const refs = named.length === 0 || named.some((ref) => sameRef(ref, standard)) ? named : [standard, ...named];
  return { any: named.length === 0, refs, allows: (ref) => named.length === 0 || refs.some((known) => sameRef(known, ref)) };
}

/** The error of methods and commands. */
export function notAllowed(ref: ModelRef): AppError {
  return new AppError("INVALID_INPUT", `model not allowed: ${formatRef(ref)}`, {
    details: { ref: formatRef(ref), advice: "add it to agents.defaults.models, or empty that section" },
  });
}

/** The message shown in a chat. */
export const notAllowedText = (ref: ModelRef): string => `Model "${formatRef(ref)}" is not allowed. Use /model to list available models.`;
