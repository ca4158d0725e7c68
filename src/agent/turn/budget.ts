import type { ModelEntry } from "../../models/index.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput } from "./input.ts";

/** Why a call may not be made: the money for it is spent. */
export async function overspent(
  deps: TurnDeps,
  { agentId, senderId, sessionKey }: Pick<TurnInput, "agentId" | "senderId" | "sessionKey">,
  { provider }: ModelEntry,
): Promise<string | undefined> {
  const budget = await (await deps.budgets()).check({ agentId, provider, senderId });
  if (budget.state === "warn") deps.log.warn(budget.text, { sessionKey });
  return budget.state === "stop" ? budget.text : undefined;
}
