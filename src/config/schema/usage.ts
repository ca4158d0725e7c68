import { choice, count, group, list, number, ratio, text } from "./pieces.ts";

const budget = group(
  "One budget. Without agent, sender and provider it counts everything.",
  {
    per: choice("How long it lasts; it resets at midnight in the user's time zone.", ["day", "month"]),
    agent: text("Counts this agent only; * gives each agent one of its own.", { minLength: 1 }),
    sender: text("Counts what this sender causes; * gives each sender one of their own.", { minLength: 1 }),
    provider: text("Counts this provider only; * gives each provider one of its own.", { minLength: 1 }),
    usd: number("Most US dollars.", { exclusiveMinimum: 0 }),
    tokens: count("Most tokens, whether read, written or from a cache."),
    warnAt: ratio("Share at which it warns; 0.8 when absent."),
    onLimit: choice("What happens at the limit; stop when absent.", ["stop", "warn"]),
  },
  ["per"],
);

export const usage = group("What models may cost.", { budgets: list("Limits that are checked before every call to a model.", budget) });
