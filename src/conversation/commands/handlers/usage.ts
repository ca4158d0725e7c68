import { usageFooter } from "../../../sessions/index.ts";
import { count, notThere, type Handler } from "../handling.ts";
import { readUsage } from "../parsing/levels.ts";
import type { UsageTotal } from "../ports.ts";

const NEXT = { off: "tokens", tokens: "full", full: "off" } as const;

/** The footer below answers: set, or moved on by one; or what was spent. */
export const usage: Handler = async ({ ports, call, key, args }) => {
  const word = args.toLowerCase();
  if (word === "cost") {
    if (!ports.usage) return notThere("usage cost", "nothing adds up costs");
    const { session, today, last30Days } = await ports.usage.summary(key);
    return ["**Usage**", `Session: ${total(session)}`, `Today: ${total(today)}`, `Last 30 days: ${total(last30Days)}`].join("\n");
  }
  const mode = word === "" ? NEXT[usageFooter(await ports.session.read(key)).value] : readUsage(word);
  if (mode === undefined) return "Usage: /usage off|tokens|full|cost";
  await ports.session.patch(key, call.agentId, { responseUsage: mode === "off" ? null : mode });
  return `Usage below answers: ${mode}.`;
};

function total({ costUsd, tokens, partial }: UsageTotal): string {
  const cost = costUsd === undefined ? "cost unknown" : `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}${partial ? " (partial)" : ""}`;
  return `${cost} · ${count(tokens)} tokens`;
}
