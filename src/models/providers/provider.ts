import type { ModelCost, WireCompat } from "../entry.ts";

/** What is known about a model before anybody was asked. */
export interface KnownModel {
  readonly id: string;
  readonly name?: string;
  readonly api?: string;
  readonly reasoning?: boolean;
  readonly input?: readonly ("text" | "image")[];
  readonly cost?: ModelCost;
  readonly contextWindow?: number;
  readonly maxTokens?: number;
  readonly compat?: WireCompat;
}

/**
 * When a provider's models are offered without being configured: `catalog` always, `implied` once there is a key or profile, `local` once its server
 * was found, `config` never.
 */
export type Presence = "catalog" | "implied" | "local" | "config";

/** One provider of models, as data. */
export interface ProviderFacts {
  readonly id: string;
  /** Other names that mean it. */
  readonly aliases?: readonly string[];
  /** Environment variables that may hold its key, in the order they are tried. */
  readonly env: readonly string[];
  /** Without a slash at the end; empty when the user has to say it. */
  readonly baseUrl: string;
  /** Wire format; empty for what offers no chat. */
  readonly api: string;
  /** Further wire formats that single models speak, and where. */
  readonly alsoAt?: Readonly<Record<string, string>>;
  readonly presence: Presence;
  /** Models that come before those of the frozen tables, best first. */
  readonly models?: readonly KnownModel[];
  /** Name of its table in the frozen data, when that is another. */
  readonly table?: string;
  /** What a user without a choice gets, once there is a credential. */
  readonly defaultModel?: string;
  /** Takes part when no model was chosen and there is a credential. */
  readonly picksDefault?: boolean;
  /** Its variables say that there is a credential, which others find by themselves; none of them holds a key. */
  readonly ambient?: boolean;
  /** Any value of its variable turns it on; servers on this machine check nothing. */
  readonly anyKey?: boolean;
  /** Models can be asked for at its address. */
  readonly listing?: "openai" | "ollama";
  readonly headers?: Readonly<Record<string, string>>;
  /** What a user should know, in a sentence. */
  readonly note?: string;
}

export const OPENAI_COMPLETIONS = "openai-completions";
export const OPENAI_RESPONSES = "openai-responses";
export const ANTHROPIC_MESSAGES = "anthropic-messages";
export const GOOGLE_GENERATIVE_AI = "google-generative-ai";
