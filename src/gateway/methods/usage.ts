import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { MethodDeps } from "./deps.ts";
import type { HandlersOf } from "./handler.ts";
import { readSessionsUsage, readTimeseries, readUsageLogs } from "./usage/sessions.ts";
import { daysOf, NO_USAGE, totalsOf } from "./usage/totals.ts";

/** How much of each provider's allowance is used. */
export type QuotaPort = () => Promise<MethodResult<"usage.status">>;

export interface UsageDeps extends Pick<MethodDeps, "config" | "store" | "clock"> {
  /** How much of each provider's allowance is used; absent where no models are. */
  readonly quota?: QuotaPort | undefined;
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
  return {
    "usage.status": () => deps.quota?.() ?? { updatedAt: deps.clock.now(), providers: [] },
    "usage.cost": (params) => cost(params, deps),
    "sessions.usage": (params) => readSessionsUsage(params, deps),
    "sessions.usage.timeseries": (params) => readTimeseries(params, deps),
    "sessions.usage.logs": (params) => readUsageLogs(params, deps),
  };
}
