import type { ToolCallContent } from "../../../protocol/index.ts";
import type { RunUsage } from "../../ports.ts";
import type { Answer } from "./run.ts";

const promptOf = ({ input, cacheRead, cacheWrite }: RunUsage): number => input + cacheRead + cacheWrite;

/** Tokens as chat completions count them. Absent when nobody counted: zeros would be a lie. */
export function chatUsage({ usage }: Answer): object | undefined {
  if (!usage) return undefined;
  return {
    prompt_tokens: promptOf(usage),
    completion_tokens: usage.output,
    total_tokens: usage.total,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
  };
}

/** Tokens as responses count them. */
export function responseUsage({ usage }: Answer): object | null {
  if (!usage) return null;
  return {
    input_tokens: promptOf(usage),
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    total_tokens: usage.total,
  };
}

/** Calls of the caller's tools; it carries them out. */
export const callsOf = ({ calls = [] }: Answer): readonly ToolCallContent[] => calls;

export const argumentsText = (call: ToolCallContent): string => JSON.stringify(call.arguments);

/** Why a chat completion ends. */
export function finishOf(answer: Answer): "stop" | "length" | "tool_calls" {
  if (callsOf(answer).length > 0) return "tool_calls";
  return answer.stopReason === "length" ? "length" : "stop";
}
