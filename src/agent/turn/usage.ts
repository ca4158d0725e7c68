import type { AssistantMessage } from "../../protocol/index.ts";
import type { UsageInput } from "../../store/index.ts";
import type { TurnInput } from "./input.ts";

/** Whose budget a call counts for: the sender's, or, for clients of the gateway, which have no sender id, the one of where they came in. */
export const payerOf = ({ senderId, channel }: Pick<TurnInput, "channel" | "senderId">): string => senderId ?? channel;

/** A row for what one call of a model took. */
export function usageRow(
  input: Pick<TurnInput, "agentId" | "sessionKey" | "runId" | "channel" | "senderId">,
  message: AssistantMessage,
  durationMs: number,
  /** When the call was over; when it is written without it. */
  at?: number,
): UsageInput {
  const { usage, provider, model } = message;
  return {
    sessionKey: input.sessionKey,
    agentId: input.agentId,
    provider,
    model,
    input: usage.input,
    output: usage.output,
    cacheRead: usage.cacheRead,
    cacheWrite: usage.cacheWrite,
    cost: usage.cost.total,
    costs: usage.cost,
    durationMs: Math.round(durationMs),
    failed: message.stopReason === "error",
    channel: input.channel,
    turnId: input.runId,
    ...(at === undefined ? {} : { at }),
    sender: payerOf(input),
  };
}
