import { isRecord } from "../../base/records.ts";
import type { ThinkingLevel } from "../../protocol/index.ts";
import type { WireRequest } from "./format.ts";

/** Headers of the format, then those of the model and the call; names are case-insensitive, the last one wins. */
export function requestHeaders(request: WireRequest, own: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "text/event-stream" };
  for (const set of [own, request.model.headers ?? {}, request.headers ?? {}]) {
    for (const [name, value] of Object.entries(set)) if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** What a model's `params` mean in one wire format. */
export interface ParamFields {
  /** Names of the format's own fields, by the name of the parameter. */
  readonly fields: Readonly<Record<string, string>>;
  /** The format's word for faster and dearer service. */
  readonly fastTier?: string;
}

const camelCase = (name: string): string => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Parameters may be written as here (`topP`) or as providers do (`top_p`). */
export function paramOf({ params }: Pick<WireRequest, "params">, name: string): unknown {
  if (!params) return undefined;
  const own = params[name];
  if (own !== undefined) return own;
  const other = Object.keys(params).find((key) => camelCase(key) === name);
  return other === undefined ? undefined : params[other];
}

/** The fields that the model's parameters ask for. `fastMode` is a service tier unless `serviceTier` names one. */
export function paramFields(request: WireRequest, { fields, fastTier }: ParamFields): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  if (!request.params) return found;
  for (const [name, field] of Object.entries(fields)) {
    const value = paramOf(request, name) ?? (name === "serviceTier" && paramOf(request, "fastMode") === true ? fastTier : undefined);
    if (value !== undefined) found[field] = value;
  }
  return found;
}

/** `params.extraBody`: fields of the provider's own, which go into the body as they are and win over our own. */
export function extraBody(request: WireRequest): Readonly<Record<string, unknown>> {
  const extra = request.params && paramOf(request, "extraBody");
  return isRecord(extra) ? extra : {};
}

type Retention = NonNullable<WireRequest["cacheRetention"]>;

/** The older parameter and its values. */
const OLD_RETENTION: Readonly<Record<string, Retention>> = { "5m": "short", "1h": "long" };

/** How long the model's parameters want a prompt to be cached. */
export function askedRetention(request: Pick<WireRequest, "params">): Retention | undefined {
  const asked = paramOf(request, "cacheRetention") ?? OLD_RETENTION[String(paramOf(request, "cacheControlTtl"))];
  return asked === "none" || asked === "short" || asked === "long" ? asked : undefined;
}

const DEFAULT_MAX_TOKENS = 32_000;

/** Output tokens: the requested number, the one in the model's `params`, or the model's limit up to a sane maximum. */
export function outputLimit(request: WireRequest): number {
  if (request.maxTokens !== undefined) return request.maxTokens;
  const configured = request.params && paramOf(request, "maxTokens");
  return typeof configured === "number" && Number.isFinite(configured) && configured > 0 ? configured : Math.min(request.model.maxTokens, DEFAULT_MAX_TOKENS);
}

/** From the call, else from the model's `params`. */
export function temperatureOf(request: WireRequest): number | undefined {
  if (request.temperature !== undefined || !request.params) return request.temperature;
  const configured = paramOf(request, "temperature");
  return typeof configured === "number" && Number.isFinite(configured) ? configured : undefined;
}

/** Tokens for reasoning where a provider needs a number. */
const THINKING_BUDGETS: Readonly<Record<Exclude<ThinkingLevel, "off">, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 16_384,
};
const MIN_TEXT_TOKENS = 1024;

/** A reasoning budget and the output limit that covers both it and the text. */
export function thinkingBudget(request: WireRequest, level: Exclude<ThinkingLevel, "off">): { readonly budget: number; readonly maxTokens: number } {
  const budget = THINKING_BUDGETS[level];
  const maxTokens = Math.min(outputLimit(request) + budget, request.model.maxTokens);
  return { budget: Math.max(1024, Math.min(budget, maxTokens - MIN_TEXT_TOKENS)), maxTokens };
}
