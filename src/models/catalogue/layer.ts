import type { ModelEntry, ModelSource, WireCompat } from "../entry.ts";
import { providerFacts, type KnownModel } from "../providers/index.ts";

/** A provider as `models.json`, `models.providers` and plugins describe it. */
export interface ProviderSettings {
  readonly baseUrl?: string | undefined;
  readonly api?: string | undefined;
  readonly apiKey?: unknown;
  readonly auth?: string | undefined;
  readonly authHeader?: boolean | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly models?: readonly ModelSettings[] | undefined;
}

/** A model as described there; missing fields have defaults. */
export interface ModelSettings {
  readonly id: string;
  readonly name?: string | undefined;
  readonly api?: string | undefined;
  readonly reasoning?: boolean | undefined;
  readonly input?: readonly ("text" | "image")[] | undefined;
  readonly cost?: Partial<ModelEntry["cost"]> | undefined;
  readonly contextWindow?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly compat?: WireCompat | Readonly<Record<string, unknown>> | undefined;
}

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } as const;
export const DEFAULT_CONTEXT_WINDOW = 200_000;
const DEFAULT_MAX_TOKENS = 8192;
/** Wire format of a provider without one of its own. */
const DEFAULT_API = "openai-responses";

/** Headers with text values. Others are unresolved secrets, and must not be sent as they are. */
function textHeaders(...sets: (Readonly<Record<string, unknown>> | undefined)[]): Readonly<Record<string, string>> | undefined {
  const texts = sets.flatMap((set) => Object.entries(set ?? {})).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return texts.length > 0 ? Object.fromEntries(texts) : undefined;
}

function addressOf(provider: string, settings: ProviderSettings | undefined, api: string): string {
  const own = settings?.baseUrl?.trim();
  const facts = providerFacts(provider);
  const address = own || (facts?.api === api ? undefined : facts?.alsoAt?.[api]) || facts?.baseUrl || "";
  const plain = address.replace(/\/+$/, "");
  // Ollama's native API is beside its OpenAI-compatible one, and most people configure the latter's URL.
  return api === "ollama" ? plain.replace(/\/v1$/, "") : plain;
}

/** A complete model from its own settings, its provider's settings and the known facts about the provider, in that order. */
export function entryOf(provider: string, model: ModelSettings | KnownModel, settings: ProviderSettings | undefined, source: ModelSource): ModelEntry {
  const facts = providerFacts(provider);
  const api = model.api ?? settings?.api ?? facts?.api ?? DEFAULT_API;
  const contextWindow = model.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
  const headers = textHeaders(facts?.headers, settings?.headers, (model as ModelSettings).headers);
  return {
    provider,
    id: model.id,
    name: model.name ?? model.id,
    api,
    baseUrl: addressOf(provider, settings, api),
    reasoning: model.reasoning ?? false,
    input: model.input ?? ["text"],
    cost: { ...NO_COST, ...model.cost },
    contextWindow,
    maxTokens: Math.min(model.maxTokens ?? DEFAULT_MAX_TOKENS, contextWindow),
    ...(headers ? { headers } : {}),
    ...(model.compat ? { compat: model.compat } : {}),
    ...(settings?.authHeader === undefined ? {} : { authHeader: settings.authHeader }),
    source,
  };
}
