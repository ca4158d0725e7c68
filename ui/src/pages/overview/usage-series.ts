import type { MethodResult } from "openclaw/client";
import { plural } from "../../base/figures.ts";
import type { ChartSeries, Share } from "../../parts/chart-scale.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";

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

/** Shares of sessions: those that used most, then all others together, then those that were removed. They are all that was used. */
export function bySession({ aggregates, totals }: UsageAnswer, measure: Measure, most: number): readonly Share[] {
  const of = (used: { readonly totalCost: number; readonly totalTokens: number }): number => (measure === "cost" ? used.totalCost : used.totalTokens);
  const { rows, others, removed } = aggregates.bySession ?? { rows: [], others: { sessions: 0, totals }, removed: { sessions: 0, totals } };
  const sorted = rows.filter((row) => of(row.totals) > 0).toSorted((a, b) => of(b.totals) - of(a.totals));
  const gone =
    removed.sessions > 0 && of(removed.totals) > 0
      ? [{ name: plural(removed.sessions, t("removed conversation"), t("removed conversations")), value: of(removed.totals) }]
      : [];
  const left = most - gone.length;
  const all = sorted.length + others.sessions <= left;
  const shown = all ? sorted : sorted.slice(0, left - 1);
  const rest = sorted.slice(shown.length);
  const restValue = rest.reduce((sum, row) => sum + of(row.totals), of(others.totals));
  const count = rest.length + others.sessions;
  return [
    ...shown.map(({ key, name, totals: used }) => ({ name, value: of(used), href: place("chat", [key]) })),
    ...(count > 0 && restValue > 0 ? [{ name: count === 1 ? "1 other" : `${count} others`, value: restValue }] : []),
    ...gone,
  ];
}
