import type { ContextSize } from "../../sessions/index.ts";
import { compactionSizes, type CompactionSettings } from "./settings.ts";

/** Windows below this are not talked in at all. */
export const LEAST_WINDOW_TOKENS = 16_000;
const SMALL_WINDOW_TOKENS = 32_000;

/** Whether a model's window is large enough; undefined when there is nothing to say. */
export function windowCheck(window: number): { readonly level: "refuse" | "warn"; readonly text: string } | undefined {
  if (window < LEAST_WINDOW_TOKENS)
    return { level: "refuse", text: `the model's window has ${window} tokens, at least ${LEAST_WINDOW_TOKENS} are needed: choose a model with a larger one` };
  if (window < SMALL_WINDOW_TOKENS) return { level: "warn", text: `the model's window has only ${window} tokens; conversations will be summed up often` };
  return undefined;
}

export interface DueInput {
  /** What the provider counted at the last answer, and the guess for what follows. */
  readonly size: number | Pick<ContextSize, "tokens">;
  /** Tokens the model can see. */
  readonly window: number;
  readonly settings: CompactionSettings;
  /** Tokens of the system prompt and the tools; part of `size`. */
  readonly overhead?: number;
}

/** True when the conversation reaches into what is reserved for the answer. */
export function compactionDue({ size, window, settings, overhead = 0 }: DueInput): boolean {
  return (typeof size === "number" ? size : size.tokens) > compactionSizes(window, settings, overhead).limit;
}
