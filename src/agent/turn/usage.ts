import type { AssistantMessage } from "../../protocol/index.ts";
import type { UsageInput } from "../../store/index.ts";
import type { TurnInput } from "./input.ts";

/** Clients of the gateway (the page, the terminal, `/v1`, commands) have no sender id; they count together. */
const CLIENTS = "webchat";

/** Whose budget a call counts for. */
export const payerOf = ({ senderId }: Pick<TurnInput, "senderId">): string => senderId ?? CLIENTS;

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
