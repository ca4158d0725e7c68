import type { ThinkingLevel } from "../../protocol/index.ts";
import type { WireRequest } from "./format.ts";
import { paramOf } from "./params.ts";

const DEFAULT_MAX_TOKENS = 32_000;

/** Output tokens: the requested number, the one in the model's `params`, or the model's limit up to a sane maximum. */
export function outputLimit(request: WireRequest): number {
  const configured = numberParam(request, "maxTokens");
  return request.maxTokens ?? (configured !== undefined && configured > 0 ? configured : Math.min(request.model.maxTokens, DEFAULT_MAX_TOKENS));
}

/** Tokens for reasoning where a provider needs a number. */
export const THINKING_BUDGETS: Readonly<Record<Exclude<ThinkingLevel, "off">, number>> = {
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

/** A number in a model's `params`. */
function numberParam(request: WireRequest, name: string): number | undefined {
  const value = paramOf(request, name);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** From the call, else from the model's `params`. */
export function temperatureOf(request: WireRequest): number | undefined {
  return request.temperature ?? numberParam(request, "temperature");
}
