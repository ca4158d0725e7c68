import { method } from "../method.ts";
import { amount, anything, choice, closed, count, day, filled, flag, ignored, list, maybe, moment, none, number, open, orNull, text } from "../pieces.ts";

/** Tokens and their price. */
const totals = {
  input: number(),
  output: number(),
  cacheRead: number(),
  cacheWrite: number(),
  totalTokens: number(),
  totalCost: number(),
  inputCost: number(),
  outputCost: number(),
  cacheReadCost: number(),
  cacheWriteCost: number(),
  missingCostEntries: number(),
};

/** Sessions that used something. Together they are all that was used. */
const BySession = closed({
  rows: list(closed({ key: filled(), name: text(), count: amount(), totals: closed(totals) }), { description: "Those with the highest cost or usage." }),
  others: closed({ sessions: amount(), totals: closed(totals) }),
  removed: closed({ sessions: amount({ description: "Sessions that no longer exist." }), totals: closed(totals) }),
});

const Aggregates = open({
  messages: anything(),
  tools: anything(),
  byModel: list(anything()),
  byProvider: list(anything()),
  byAgent: list(anything()),
  byChannel: list(anything()),
  byWork: maybe(list(anything())),
  bySession: maybe(BySession),
  latency: maybe(anything()),
  dailyLatency: maybe(list(anything())),
  modelDaily: maybe(list(anything())),
  daily: list(anything()),
});

const spent = closed({ usd: number(), tokens: number() });

/** What was used and what it cost. */
export const usageMethods = {
  "usage.budgets": method({
    access: "operator.read",
    params: none(),
    result: closed({
      nowMs: moment(),
      timeZone: text({ description: "Of days and months." }),
      budgets: list(
        closed({
          path: filled({ description: "In the configuration." }),
          per: choice(["day", "month"]),
          period: closed({ name: text(), from: moment(), to: moment() }),
          agent: maybe(text()),
          sender: maybe(text()),
          provider: maybe(text()),
          limit: closed({ usd: maybe(number()), tokens: maybe(number()) }),
          used: spent,
          reserved: maybe(spent),
          share: number({ description: "Of the tighter limit; 1 is all of it." }),
          warnAt: number(),
          onLimit: choice(["stop", "warn"]),
          state: choice(["ok", "warn", "stop"]),
        }),
      ),
    }),
    effect: false,
    module: "models",
    summary: "Returns how much of each budget is used in its period. A budget per agent, sender or provider has a row for each one with usage.",
  }),
  "usage.status": method({
    access: "operator.read",
    params: ignored(),
    result: closed({
      updatedAt: moment(),
      providers: list(
        closed({
          provider: filled(),
          displayName: text(),
          windows: list(closed({ label: text(), usedPercent: number(), resetAt: maybe(moment()) })),
          plan: maybe(text()),
          error: maybe(text()),
        }),
      ),
    }),
    effect: false,
    module: "models",
    summary: "Returns how much of each provider's allowance is used.",
  }),
  "usage.cost": method({
    access: "operator.read",
    params: closed({ startDate: maybe(day()), endDate: maybe(day()), days: maybe(count({ default: 30 })) }),
    result: closed({ updatedAt: moment(), days: amount(), daily: list(closed({ ...totals, date: day() })), totals: closed(totals) }),
    effect: false,
    module: "sessions",
    summary: "Returns tokens and cost by day, in UTC.",
  }),
  "sessions.usage": method({
    access: "operator.read",
    params: closed({
      key: maybe(filled()),
      startDate: maybe(day()),
      endDate: maybe(day()),
      limit: maybe(count({ default: 50, description: "At most 500." })),
      includeContextWeight: maybe(flag()),
    }),
    result: closed({
      updatedAt: moment(),
      startDate: text(),
      endDate: text(),
      sessions: list(
        open({
          key: filled(),
          sessionId: maybe(text()),
          updatedAt: maybe(moment()),
          agentId: maybe(text()),
          usage: orNull(anything()),
        }),
      ),
      totals: closed(totals),
      aggregates: Aggregates,
    }),
    effect: false,
    module: "sessions",
    summary: "Returns tokens and cost by session, with totals by model, provider, agent and channel.",
    advertised: false,
  }),
  "sessions.usage.timeseries": method({
    access: "operator.read",
    params: closed({ key: filled() }),
    result: closed({
      sessionId: maybe(text()),
      points: list(
        closed({
          timestamp: moment(),
          input: number(),
          output: number(),
          cacheRead: number(),
          cacheWrite: number(),
          totalTokens: number(),
          cost: number(),
          cumulativeTokens: number(),
          cumulativeCost: number(),
        }),
      ),
    }),
    effect: false,
    module: "sessions",
    summary: "Returns tokens and cost of a session over time.",
    advertised: false,
  }),
  "sessions.usage.logs": method({
    access: "operator.read",
    params: closed({ key: filled(), limit: maybe(count({ default: 200 })) }),
    result: closed({
      logs: list(closed({ timestamp: moment(), role: text(), content: text(), tokens: maybe(number()), cost: maybe(number()) })),
    }),
    effect: false,
    module: "sessions",
    summary: "Returns the messages of a session, with the tokens of each line.",
    advertised: false,
  }),
};
