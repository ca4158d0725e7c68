import type { ModelEntry } from "../../models/index.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput } from "./input.ts";
import { payerOf } from "./usage.ts";

/** Why a call may not be made: the money for it is spent. */
export async function overspent(
  deps: TurnDeps,
  input: Pick<TurnInput, "agentId" | "channel" | "senderId" | "sessionKey">,
  { provider }: ModelEntry,
): Promise<string | undefined> {
  const budget = await (await deps.budgets()).check({ agentId: input.agentId, provider, senderId: payerOf(input) });
  if (budget.state === "warn") deps.log.warn(budget.text, { sessionKey: input.sessionKey });
  return budget.state === "stop" ? budget.text : undefined;
}
