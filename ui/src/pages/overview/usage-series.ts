import type { MethodResult } from "openclaw/client";
import type { ChartSeries } from "../../parts/chart-scale.ts";

export type UsageAnswer = MethodResult<"sessions.usage">;
export type Measure = "cost" | "tokens";

const DAY_MS = 86_400_000;
const MOST_SERIES = 6;

const object = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
const words = (value: unknown): string => (typeof value === "string" ? value : "");
const figure = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

/** Days in UTC, oldest first, the last one today: `2026-01-31`. */
export function daysUntil(now: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => new Date(now - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10));
}

/** What is used on each day by each model, the largest models first and the rest together. */
export function byDay({ aggregates }: UsageAnswer, days: readonly string[], measure: Measure): readonly ChartSeries[] {
  const at = new Map(days.map((day, index) => [day, index]));
  const models = new Map<string, number[]>();
  for (const row of (aggregates.modelDaily ?? []).map(object)) {
    const day = at.get(words(row["date"]));
    if (day === undefined) continue;
    const name = [row["provider"], row["model"]].map(words).filter(Boolean).join("/");
    const values = models.get(name) ?? days.map(() => 0);
    values[day] = (values[day] ?? 0) + figure(row[measure]);
    models.set(name, values);
  }
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  const sorted = [...models]
    .map(([name, values]) => ({ name, values }))
    .filter(({ values }) => sum(values) > 0)
    .sort((a, b) => sum(b.values) - sum(a.values));
  if (sorted.length <= MOST_SERIES) return sorted;
  const rest = sorted.slice(MOST_SERIES - 1);
  const together = days.map((_, index) => sum(rest.map(({ values }) => values[index] ?? 0)));
  return [...sorted.slice(0, MOST_SERIES - 1), { name: `${rest.length} others`, values: together }];
}

export interface Used {
  readonly name: string;
  readonly cost: number;
  readonly tokens: number;
  readonly calls?: number;
}

function used(row: unknown, name: string): Used {
  const totals = object(object(row)["totals"]);
  return { name, cost: figure(totals["totalCost"]), tokens: figure(totals["totalTokens"]), calls: figure(object(row)["count"]) };
}

export const byModel = ({ aggregates }: UsageAnswer): readonly Used[] =>
  aggregates.byModel.map((row) => used(row, [object(row)["provider"], object(row)["model"]].map(words).filter(Boolean).join("/")));

export const byAgent = ({ aggregates }: UsageAnswer): readonly Used[] => aggregates.byAgent.map((row) => used(row, words(object(row)["agentId"]) || "?"));

/** Sessions that used something, those that used most first. */
export function bySession({ sessions }: UsageAnswer, measure: Measure): readonly (Used & { readonly key: string })[] {
  return sessions
    .map((session) => {
      const { key, usage } = session;
      const totals = object(usage);
      return {
        key,
        name: words((session as Readonly<Record<string, unknown>>)["label"]) || key,
        cost: figure(totals["totalCost"]),
        tokens: figure(totals["totalTokens"]),
      };
    })
    .filter(({ cost, tokens }) => cost > 0 || tokens > 0)
    .toSorted((a, b) => b[measure] - a[measure] || b.tokens - a.tokens);
}
