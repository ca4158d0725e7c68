import { AppError } from "../../../base/errors.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { NO_TOTALS, type UsageTotals } from "../../../store/index.ts";

export type Totals = MethodResult<"usage.cost">["totals"];

const DAY_MS = 86_400_000;
const MAX_DAYS = 3660;

type Summed = "input" | "output" | "cacheRead" | "cacheWrite" | "cost" | "inputCost" | "outputCost" | "cacheReadCost" | "cacheWriteCost";

/** What the store adds up, in the documented form. */
export function totalsOf({ input, output, cacheRead, cacheWrite, cost, ...costs }: Pick<UsageTotals, Summed>): Totals {
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: input + output + cacheRead + cacheWrite,
    totalCost: cost,
    inputCost: costs.inputCost,
    outputCost: costs.outputCost,
    cacheReadCost: costs.cacheReadCost,
    cacheWriteCost: costs.cacheWriteCost,
    missingCostEntries: 0,
  };
}

export const NO_USAGE: Totals = totalsOf(NO_TOTALS);

/** Days in UTC, both included. */
export interface Days {
  readonly fromDay: string;
  readonly toDay: string;
  readonly count: number;
}

export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

function startOf(day: string, name: string): number {
  const time = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(time) || dayOf(time) !== day) throw new AppError("INVALID_INPUT", `${name} is not a day: ${day} (use YYYY-MM-DD)`);
  return time;
}

/** The days that are asked for: from one to another, or the last ones. */
export function daysOf(
  { startDate, endDate, days = 30 }: { readonly startDate?: string; readonly endDate?: string; readonly days?: number },
  now: number,
): Days {
  const end = endDate === undefined ? startOf(dayOf(now), "today") : startOf(endDate, "endDate");
  const start = startDate === undefined ? end - (Math.min(days, MAX_DAYS) - 1) * DAY_MS : startOf(startDate, "startDate");
  if (start > end) throw new AppError("INVALID_INPUT", `startDate ${startDate} is after endDate ${dayOf(end)}`);
  return { fromDay: dayOf(start), toDay: dayOf(end), count: Math.round((end - start) / DAY_MS) + 1 };
}
