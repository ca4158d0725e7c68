import type { BudgetState } from "./budgets.ts";

const money = (usd: number): string => `$${usd.toFixed(usd < 0.1 && usd > 0 ? 4 : 2)}`;
const amount = (tokens: number): string => `${String(tokens).replaceAll(/\B(?=(?:\d{3})+$)/g, ",")} tokens`;

/** The scope of a budget: `agent main, sender +43660`; empty for one that counts everything. */
export function scopeText({ agent, sender, provider }: Pick<BudgetState, "agent" | "sender" | "provider">): string {
  const named = [
    ["agent", agent],
    ["sender", sender],
    ["provider", provider],
  ] as const;
  return named.flatMap(([word, value]) => (value === undefined ? [] : [`${word} ${value}`])).join(", ");
}

/** `$4.10 of $5.00`, with tokens where they are limited. */
export function usedText({ used, limit }: Pick<BudgetState, "used" | "limit">): string {
  return [
    ...(limit.usd === undefined ? [] : [`${money(used.usd)} of ${money(limit.usd)}`]),
    ...(limit.tokens === undefined ? [] : [`${amount(used.tokens)} of ${amount(limit.tokens)}`]),
  ].join(", ");
}

/** The message to users when a budget warns or stops. */
export function spentText(state: BudgetState, timeZone: string): string {
  const { per, path, share } = state;
  const whom = scopeText(state);
  const name = `the budget per ${per}${whom === "" ? "" : ` (${whom})`}`;
  const again = `It resets at midnight${per === "month" ? " on the first of the month" : ""} (${timeZone})`;
  if (state.state === "stop" && share < 1) {
    return `the rest of ${name} is reserved for running sub-agents: ${usedText(state)} is used. Wait until they have finished, or raise ${path} in the configuration.`;
  }
  if (state.state === "stop") return `${name} is used up: ${usedText(state)}. ${again}; to go on now, raise ${path} in the configuration.`;
  if (share >= 1) return `${name} is used up: ${usedText(state)}. Calls go on, as ${path} says. ${again}.`;
  return `${name} is used to ${Math.floor(share * 100)} %: ${usedText(state)}. ${again}.`;
}
