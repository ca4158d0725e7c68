import type { ModelCost, WireCompat } from "../entry.ts";

/** Built-in facts about a model. */
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
 * When a provider's models are offered without configuration: `catalog` always, `implied` once there is a key or profile, `local` once its server
 * was found, `config` never.
 */
export type Presence = "catalog" | "implied" | "local" | "config";

/** One provider of models, as data. */
export interface ProviderFacts {
  readonly id: string;
  /** Alternative names. */
  readonly aliases?: readonly string[];
  /** Environment variables that may hold its key, in the order they are tried. */
  readonly env: readonly string[];
  /** Without a trailing slash; empty when the user has to configure it. */
  readonly baseUrl: string;
  /** Wire format; empty for providers without chat. */
  readonly api: string;
  /** Other wire formats that single models use, with their URLs. */
  readonly alsoAt?: Readonly<Record<string, string>>;
  readonly presence: Presence;
  /** Models that come before those of the frozen tables, best first. */
  readonly models?: readonly KnownModel[];
  /** Name of its table in the frozen data, when it differs. */
  readonly table?: string;
  /** The default for a user without a choice, once there is a credential. */
  readonly defaultModel?: string;
  /** May be picked when no model was chosen and there is a credential. */
  readonly picksDefault?: boolean;
  /** Its variables show that there is a credential, which an SDK finds by itself; none of them holds a key. */
  readonly ambient?: boolean;
  /** Any value of its variable enables it; servers on this machine check nothing. */
  readonly anyKey?: boolean;
  /** Its API can list models. */
  readonly listing?: "openai" | "ollama";
  readonly headers?: Readonly<Record<string, string>>;
  /** A note for users, in a sentence. */
  readonly note?: string;
}

export const OPENAI_COMPLETIONS = "openai-completions";
export const OPENAI_RESPONSES = "openai-responses";
export const ANTHROPIC_MESSAGES = "anthropic-messages";
export const GOOGLE_GENERATIVE_AI = "google-generative-ai";
