import type { ModelFailure } from "../failure.ts";

/** Less than this is not an answer: the conversation has to get shorter. */
const LEAST_OUTPUT_TOKENS = 1_024;
/** Token counts of providers and of their errors differ a little. */
const MARGIN_TOKENS = 64;

/** The window does not hold conversation plus answer: `A + B > C`. */
const SUM = /exceed context limit: (\d+) \+ (\d+) > (\d+)/i;
/** The answer may not be this long, or is not affordable: the number that is. */
const CAPS: readonly RegExp[] = [
  /> (\d+), which is the maximum allowed number of output tokens/i,
  /supports at most (\d+) completion tokens/i,
  /maximum tokens you requested exceeds the model limit of (\d+)/i,
  /max tokens must be less than or equal to (\d+)/i,
  /requires more credits, or fewer max_tokens.{0,120}can only afford (\d+)/i,
];

/**
 * The answer length, in tokens, with which the provider would accept the same request; undefined when its error names none, or when less would
 * not help. `now` is the last requested length.
 */
export function fittingOutput({ text, afterContent }: Pick<ModelFailure, "text" | "afterContent">, now: number | undefined): number | undefined {
  if (afterContent) return undefined;
  const sum = SUM.exec(text);
  const remaining = sum ? Number(sum[3]) - Number(sum[1]) - MARGIN_TOKENS : Number(CAPS.map((cap) => cap.exec(text)?.[1]).find((found) => found !== undefined));
  if (!Number.isSafeInteger(remaining) || remaining < LEAST_OUTPUT_TOKENS) return undefined;
  return now === undefined || remaining < now ? remaining : undefined;
}
