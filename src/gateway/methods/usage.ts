import type { BudgetReport } from "../../models/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { MethodDeps } from "./deps.ts";
import type { HandlersOf } from "./handler.ts";
import { readSessionsUsage, readTimeseries, readUsageLogs } from "./usage/sessions.ts";
import { daysOf, NO_USAGE, totalsOf } from "./usage/totals.ts";

/** How much of each provider's allowance is used. */
export type QuotaPort = () => Promise<MethodResult<"usage.status">>;

/** How much of each budget is used. */
export type BudgetsPort = () => Promise<BudgetReport>;

export interface UsageDeps extends Pick<MethodDeps, "config" | "store" | "clock"> {
  /** How much of each provider's allowance is used; absent where no models are. */
  readonly quota?: QuotaPort | undefined;
  /** Without it `usage.budgets` is not answered. */
  readonly budgets?: BudgetsPort | undefined;
}

async function budgetReport(budgets: BudgetsPort, now: number): Promise<MethodResult<"usage.budgets">> {
  const { timeZone, budgets: states } = await budgets();
  return { nowMs: now, timeZone, budgets: states.map((state) => ({ ...state })) };
}

async function cost(params: MethodParams<"usage.cost">, { store, clock }: UsageDeps): Promise<MethodResult<"usage.cost">> {
  const now = clock.now();
  const { fromDay, toDay, count } = daysOf(params, now);
  const [[whole], daily] = await Promise.all([
    store.read("usage.totals", { fromDay, toDay, by: [] }),
    store.read("usage.totals", { fromDay, toDay, by: ["day"] }),
  ]);
  return { updatedAt: now, days: count, daily: daily.map((row) => ({ ...totalsOf(row), date: row.day ?? "" })), totals: whole ? totalsOf(whole) : NO_USAGE };
}

/** What was used and what it cost. */
export function usageHandlers(deps: UsageDeps): HandlersOf<"usage" | "sessions.usage"> {
  const { budgets } = deps;
  return {
    "usage.budgets": budgets && (() => budgetReport(budgets, deps.clock.now())),
    "usage.status": () => deps.quota?.() ?? { updatedAt: deps.clock.now(), providers: [] },
    "usage.cost": (params) => cost(params, deps),
    "sessions.usage": (params) => readSessionsUsage(params, deps),
    "sessions.usage.timeseries": (params) => readTimeseries(params, deps),
    "sessions.usage.logs": (params) => readUsageLogs(params, deps),
  };
}
